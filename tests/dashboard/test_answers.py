"""What the page is told about: labels, originals, and the inequality in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.dashboard import replies
from statecomp.dashboard.answers import chapters, labels, original, scores, states
from statecomp.dashboard.reasons import NO_GATE, gate_words, money
from statecomp.ledger.audit import Cell
from statecomp.strategy import Ruling
from tests.dashboard.board import recorded_messages
from tests.ledger.samples import commit, entry
from tests.turns import MANY, turns_during

RULING = Ruling(
    commit=True,
    spans=1,
    requests=20.0,
    saved_tokens=8_000,
    saving_dollars=0.0188,
    rewritten_tokens=2_000,
    rebilling_dollars=0.00225,
    summary_dollars=0.0005,
    risk_dollars=0.003,
    cache="warm",
    prices="gpt-5",
)


def ruling(**changed: Any) -> Ruling:
    """A rewrite that saves 8,000 tokens and has 2,000 written to the cache again."""
    return replace(RULING, **changed)


def test_the_inequality_is_told_with_its_numbers() -> None:
    told = gate_words(ruling().as_json())
    sides = "$0.0188 for carrying it, $0.002750 for replacing it"
    assert told["verdict"] == f"It pays: {sides}."
    text = " ".join(told["lines"])
    assert "8,000 tokens in each of 20.0 requests" in text
    assert "2,000 tokens behind the first change" in text
    assert "Risk: $0.003000" in text
    assert "the provider's cache was warm; prices are those of gpt-5" in text
    assert (told["saving"], told["cost"]) == (0.0188, pytest.approx(0.00275))
    assert told["rest"] == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"commit": False}, "Did not pay yet"),
        ({"commit": False, "pays_at": 34}, "it would from about request 34 on"),
        ({"forced": True}, "window was nearly full"),
        ({"summary_dollars": 5.0}, "paid for already"),
        ({"saving_dollars": 0.5}, "It pays: $0.5000 for carrying"),
    ],
)
def test_each_way_to_decide_has_its_sentence(changed: dict[str, Any], said: str) -> None:
    assert said in gate_words(ruling(**changed).as_json())["verdict"]


def test_without_a_gate_it_is_said_that_there_was_none() -> None:
    assert gate_words({})["verdict"] == NO_GATE
    assert gate_words({"writer": "gpt-5-mini", "router": "shipped"})["verdict"] == NO_GATE
    assert gate_words({"text": "pays"})["verdict"] == "pays"
    assert gate_words({"saves": 12.5, "pays": True})["rest"] == [
        ["saves", "12.5"],
        ["pays", "True"],
    ]


def test_a_ruling_of_a_ledger_from_before_is_told_with_what_is_no_longer_known_beside_it() -> None:
    kept = {**ruling().as_json(), "margin": 2.0}
    del kept["risk_dollars"], kept["pays_at"]
    told = gate_words(kept)
    assert told["verdict"].startswith("It pays: ")
    assert not any("Risk" in line for line in told["lines"])
    assert told["rest"] == [["margin", "2"]]


@given(
    st.dictionaries(
        st.sampled_from([*ruling().as_json(), "else"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.none()),
    )
)
def test_whatever_a_ledger_kept_can_be_told(kept: dict[str, Any]) -> None:
    told = gate_words(kept)
    assert all(isinstance(line, str) and line for line in [told["verdict"], *told["lines"]])


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.0000"), (-0.5, "−$0.5000"), (0.00012, "$0.000120"), (1234, "$1,234.00")],
)
def test_money_is_exact_enough_and_negative_where_it_is(amount: float, text: str) -> None:
    assert money(amount) == text


def test_a_chapter_takes_the_place_of_what_it_is_over_while_it_is_live() -> None:
    part, whole = commit("s1"), replace(commit("s2"), over=("s1-0",))
    assert chapters([entry(part), entry(whole)]) == {part.id: whole}
    assert chapters([entry(part), entry(whole, state="undone")]) == {}


def test_states_and_scores_stand_at_the_place_of_their_number() -> None:
    grid = [Cell(1, "summarised", 0.9), Cell(2, "locked"), Cell(4, "kept", 0.12345)]
    assert states(grid) == "sl.k"
    assert scores(grid) == [0.9, None, None, 0.1235]
    assert (states([]), scores([]), scores([Cell(1, "kept")])) == ("", None, None)


def test_each_interaction_of_a_recorded_run_has_a_line_to_know_it_by() -> None:
    messages = recorded_messages("web")
    found = labels(messages, "openai-chat")
    calls = [m for m in messages if m["role"] == "assistant" and m.get("tool_calls")]
    assert len(found) >= len(calls) > 20
    assert found[0].startswith("shell find . -type f | sort")
    assert all(0 < len(label) <= 120 and "\n" not in label for label in found)


def test_the_original_is_told_interaction_by_interaction_in_each_protocol() -> None:
    chat: Any = [
        {
            "role": "assistant",
            "content": "look",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "a.txt"},
    ]
    claude: Any = [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "tool_use", "id": "c", "name": "ls", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "a.txt"}],
        },
    ]
    for protocol, messages in (("openai-chat", chat), ("anthropic", claude)):
        (told,) = original(entry(commit("s", 2), originals=tuple(messages)), protocol)
        assert told["number"] == 5
        kinds = [(part["kind"], part["text"]) for part in told["parts"]]
        assert kinds == [("said", "look"), ("call: ls", "{}"), ("result", "a.txt")]


def test_an_original_that_cannot_be_read_is_told_as_it_is_stored() -> None:
    odd: Any = ({"type": "mystery", "x": 1},)
    (told,) = original(entry(commit("s"), originals=odd), "no such protocol")
    assert told["parts"] == [{"kind": "mystery", "text": '{"type": "mystery", "x": 1}'}]
    assert original(entry(commit("s"), originals=()), "openai-chat") == []


def test_a_page_of_a_very_long_session_is_written_while_others_get_their_turn() -> None:
    """A fifth of a second for fifteen hundred requests, in which no agent was served."""
    row = {"number": 1, "scores": [0.123, None] * 500}
    assert turns_during(lambda: replies._encoded({"requests": [row] * 1000})) > MANY
