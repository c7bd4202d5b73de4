"""Sculptor: six tools, every edit a view that can be undone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.baselines.sculptor import CARD, Sculptor
from statecomp.baselines.sculptor_tools import POLICY
from statecomp.history.history import History
from statecomp.history.interaction import JsonObject
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.testing.chat import ScriptedChat
from tests.baselines.steps import (
    TASK,
    WIRE,
    built,
    bulky,
    call,
    growing,
    history,
    run_of,
    sent,
    step,
)

TALE = "\n".join(
    ["=== BEGIN ===", *(f"line {n} of the tale" for n in range(60)), "=== END ===", "after it all"]
)


def opened(messages: list[dict[str, Any]], chat: ScriptedChat | None = None) -> Sculptor:
    strategy = built("sculptor", chat)
    assert isinstance(strategy, Sculptor)
    strategy.before_request(history(messages))
    return strategy


def ids(answer: str) -> list[str]:
    return re.findall(r"^([0-9a-f]{6}): step", answer, re.MULTILINE)


def outputs(view: History) -> list[JsonObject]:
    return [message for message in view.messages if message["role"] == "tool"]


def test_until_the_agent_acts_nothing_changes() -> None:
    strategy = built("sculptor")
    for prefix in growing(30):
        assert strategy.before_request(prefix).history is prefix


def test_six_tools_are_offered_and_named_on_the_card() -> None:
    offered = built("sculptor").extra_tools()
    names = tuple(tool["function"]["name"] for tool in offered)
    assert names == CARD.tools
    assert len(names) == 6
    guidance = built("sculptor").extra_system_text()
    assert all(name in guidance for name in names[:5])
    assert {use.tool for use in POLICY} < set(names)


def test_folding_and_restoring_give_back_every_byte() -> None:
    messages = run_of(6)
    strategy = opened(messages)
    (name,) = ids(strategy.handle_tool(call("fragment_context", num_fragments=1)))
    assert "[folded" in strategy.handle_tool(call("fold_fragment", fragment_id=name))
    folded = strategy.before_request(history(messages)).history
    assert folded.tokens < history(messages).tokens
    assert f"[folded {name}: 40 lines" in sent(strategy, messages)
    strategy.handle_tool(call("restore_fragment", fragment_id=name))
    assert strategy.before_request(history(messages)).history == history(messages)


def test_count_order_and_roles_of_messages_never_change() -> None:
    messages = run_of(6)
    strategy = opened(messages)
    for name in ids(strategy.handle_tool(call("fragment_context", num_fragments=20))):
        strategy.handle_tool(call("fold_fragment", fragment_id=name))
    view = strategy.before_request(history(messages)).history
    assert [m["role"] for m in view.messages] == [m["role"] for m in messages]
    assert WIRE.check(view.messages) == []
    untouched = [m for m in view.messages if m["role"] != "tool"]
    assert untouched == [m for m in messages if m["role"] != "tool"]
    assert all(m["content"].startswith("[folded ") for m in outputs(view))


def test_markers_cut_a_stretch_into_fragments_that_fold_one_by_one() -> None:
    messages = [TASK, *step(1, TALE), *step(2, "short")]
    strategy = opened(messages)
    arguments = {"start_marker": "=== BEGIN", "end_marker": "END ===", "num_fragments": 3}
    first, second, third = ids(strategy.handle_tool(call("fragment_context", **arguments)))
    strategy.handle_tool(call("fold_fragment", fragment_id=second))
    (shown, _) = (m["content"] for m in outputs(strategy.before_request(history(messages)).history))
    assert "=== BEGIN ===\nline 0 of the tale" in shown
    assert f"[folded {second}:" in shown
    assert "line 30 of the tale" not in shown
    assert shown.endswith("=== END ===\nafter it all")
    for name in (first, third):
        strategy.handle_tool(call("fold_fragment", fragment_id=name))
    text = outputs(strategy.before_request(history(messages)).history)[0]["content"]
    assert text.count("[folded ") == 3
    assert "line 50 of the tale" not in text
    assert text.endswith("after it all")


@given(st.integers(1, 20), st.text("ab \n", min_size=1, max_size=400))
def test_fragments_tile_the_stretch_they_were_cut_from(many: int, middle: str) -> None:
    text = f"<<{middle}>>"
    strategy = opened([TASK, *step(1, f"before {text} after")])
    answer = strategy.handle_tool(
        call("fragment_context", start_marker="<<", end_marker=">>", num_fragments=many)
    )
    pieces = [strategy._pieces[name] for name in dict.fromkeys(ids(answer))]
    assert "".join(piece.text for piece in pieces) == text
    assert len(pieces) <= many


def test_of_two_overlapping_fragments_the_longer_is_hidden_and_both_can_be_restored() -> None:
    messages = [TASK, *step(1, TALE)]
    strategy = opened(messages)
    (whole,) = ids(strategy.handle_tool(call("fragment_context")))
    marked = call("fragment_context", start_marker="line 1 ", end_marker="line 50", num_fragments=1)
    (part,) = ids(strategy.handle_tool(marked))
    for name in (part, whole):
        strategy.handle_tool(call("fold_fragment", fragment_id=name))
    shown = outputs(strategy.before_request(history(messages)).history)[0]["content"]
    assert shown.startswith(f"[folded {whole}:")
    strategy.handle_tool(call("restore_fragment", fragment_id=whole))
    assert f"[folded {part}:" in sent(strategy, messages)


def test_a_summary_by_the_model_stands_in_place_and_is_paid() -> None:
    chat = ScriptedChat(["line 7 is the one that matters"])
    messages = [TASK, *step(1, TALE)]
    strategy = opened(messages, chat)
    (name,) = ids(strategy.handle_tool(call("fragment_context")))
    strategy.handle_tool(call("summarize_fragment", fragment_id=name, focus="which line matters"))
    view = strategy.before_request(history(messages))
    assert "line 7 is the one that matters" in outputs(view.history)[0]["content"]
    assert [charged.kind for charged in view.side_calls] == ["fragment"]
    assert "which line matters" in chat.asked[0].prompt
    strategy.handle_tool(call("restore_fragment", fragment_id=name))
    assert strategy.before_request(history(messages)).history == history(messages)


@pytest.mark.parametrize("fails", [False, True])
def test_without_a_model_or_where_it_fails_the_focus_chooses_lines(fails: bool) -> None:
    chat = ScriptedChat(lambda asked: ChatFailed("away", usage=ChatUsage(5, 0))) if fails else None
    messages = [TASK, *step(1, f"{bulky(1)}\nthe port is 8123\n{bulky(2)}")]
    strategy = opened(messages, chat)
    (name,) = ids(strategy.handle_tool(call("fragment_context")))
    strategy.handle_tool(call("summarize_fragment", fragment_id=name, focus="which port"))
    view = strategy.before_request(history(messages))
    shown = outputs(view.history)[0]["content"]
    assert "the port is 8123" in shown
    assert "row 30 of output-1" not in shown
    assert len(view.side_calls) == int(fails)


def test_searching_reads_the_original_also_where_it_is_folded() -> None:
    messages = [TASK, *step(1, f"{bulky(1)}\nsecret-77 lies here\n{bulky(2)}")]
    strategy = opened(messages)
    (name,) = ids(strategy.handle_tool(call("fragment_context")))
    strategy.handle_tool(call("fold_fragment", fragment_id=name))
    strategy.before_request(history(messages))
    answer = strategy.handle_tool(call("search_context", query="secret-77", context_size=50))
    assert "(tool, step 1):" in answer
    assert "secret-77 lies here" in answer
    (found,) = re.findall(r"^([0-9a-f]{6}) \(", answer)
    detail = strategy.handle_tool(call("get_search_detail", search_id=found))
    assert len(detail) > len(answer)
    assert "secret-77 lies here" in detail


def test_searching_is_exact_bounded_and_by_role() -> None:
    strategy = opened(run_of(8))
    assert strategy.handle_tool(call("search_context", query="ROW 3")) == "'ROW 3' occurs nowhere."
    found = strategy.handle_tool(call("search_context", query="row 3 of"))
    assert found.count("(tool, step") == 8
    few = strategy.handle_tool(call("search_context", query="row 3 of", max_results=2))
    assert few.count("(tool, step") == 2
    own = call("search_context", query="item-3", role="assistant")
    assert "(assistant, step 3)" in strategy.handle_tool(own)
    assert "nowhere" in strategy.handle_tool(call("search_context", query="item-3", role="user"))
    assert "(user)" in strategy.handle_tool(call("search_context", query="build", role="user"))


def test_what_the_tools_answered_is_no_material_for_them() -> None:
    answer = "secret-77 was found " * 40
    messages = [TASK, *step(1, answer, "search_context", query="secret-77"), *step(2, "short")]
    strategy = opened(messages)
    assert "nowhere" in strategy.handle_tool(call("search_context", query="secret-77"))
    assert "No tool output is long enough" in strategy.handle_tool(call("fragment_context"))


def test_twenty_calls_between_two_steps_of_the_task() -> None:
    messages = run_of(2)
    strategy = opened(messages)
    answers = [strategy.handle_tool(call("search_context", query="row")) for _ in range(21)]
    assert "No more than 20" not in answers[19]
    assert "No more than 20" in answers[20]
    own = [*messages, *step(3, "x", "search_context", query="row")]
    strategy.before_request(history(own))
    assert "No more than 20" in strategy.handle_tool(call("search_context", query="row"))
    strategy.before_request(history([*own, *step(4, "x")]))
    assert "No more than 20" not in strategy.handle_tool(call("search_context", query="row"))


def test_a_long_output_carries_the_id_by_which_the_stated_policy_folds_it() -> None:
    fold, restore, _ = POLICY
    strategy = built("sculptor")
    long = "\n".join(f"row {n} of a long output" for n in range(200))
    labelled = strategy.on_observation(call("shell", command="ls"), long)
    label = re.findall(fold.pattern, labelled)
    assert len(label) == 1
    assert strategy.on_observation(call("shell", command="ls"), "short") == "short"
    assert strategy.on_observation(call("search_context", query="x"), long) == long
    messages = [TASK, *step(1, labelled), *step(2, "short")]
    strategy.before_request(history(messages))
    strategy.handle_tool(call("fold_fragment", fragment_id=label[0]))
    shown = outputs(strategy.before_request(history(messages)).history)[0]["content"]
    assert "row 100" not in shown
    assert re.findall(fold.pattern, shown) == []
    assert re.findall(restore.pattern, shown) == label
    strategy.handle_tool(call("restore_fragment", fragment_id=label[0]))
    assert strategy.before_request(history(messages)).history == history(messages)


def test_what_would_save_nothing_is_refused() -> None:
    strategy = opened([TASK, *step(1, "ab<<cd>>ef")])
    marked = call("fragment_context", start_marker="<<", end_marker=">>", num_fragments=1)
    (name,) = ids(strategy.handle_tool(marked))
    assert "too short" in strategy.handle_tool(call("fold_fragment", fragment_id=name))


def test_an_open_call_is_never_edited() -> None:
    pending = run_of(3)
    pending[5]["tool_calls"] = [
        *pending[5]["tool_calls"],
        {"id": "open", "type": "function", "function": {"name": "shell", "arguments": "{}"}},
    ]
    strategy = opened(pending)
    answer = strategy.handle_tool(call("fragment_context", num_fragments=20))
    assert "step 3" not in answer
    assert "step 2" in answer


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("fold_fragment", {"fragment_id": "abcdef"}, "there is no fragment 'abcdef'"),
        ("fold_fragment", {}, "fragment_id: must be a text"),
        ("restore_fragment", {"fragment_id": 3}, "fragment_id: must be a text"),
        ("fragment_context", {"start_marker": "nowhere"}, "No tool output holds these markers"),
        ("fragment_context", {"num_fragments": "five"}, "num_fragments: must be a whole number"),
        ("search_context", {"query": "x", "role": "system"}, "role: must be one of user"),
        ("get_search_detail", {"search_id": "zz"}, "There is no search result 'zz'"),
        ("something_else", {}, "There is no tool named 'something_else'"),
    ],
)
def test_a_wrong_call_is_answered_with_what_to_do(
    name: str, arguments: dict[str, object], problem: str
) -> None:
    assert problem in opened(run_of(2)).handle_tool(call(name, **arguments))
