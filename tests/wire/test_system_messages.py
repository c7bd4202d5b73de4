"""System messages amid a conversation: the steps around them go, and they stay where they stand."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.history.interaction import JsonObject
from statecomp.strategy import Scorer
from statecomp.testing.provider.messages_rules import check
from statecomp.testing.provider.refusals import STRICT, Refused
from statecomp.testing.words import BULK, OneLiner, WordScorer
from statecomp.tokens import ESTIMATE, count_message
from statecomp.wire.anthropic.system import LEAD_IN
from statecomp.wire.anthropic.wire import Anthropic
from statecomp.wire.assemble import parse
from statecomp.wire.protocol import Placement
from tests.wire.histories import Message, anthropic_messages

WIRE = Anthropic()
GATES = Gates(longer_than=0, min_source_tokens=0)
LASTING = {"role": "system", "content": "Be brief."}
PASSING = {"role": "system", "content": "Mind the time.", "clear_at": "next_user_message"}
COUNT = {"role": "system", "content": "<total_tokens>14990665 tokens left</total_tokens>"}
LINE = {"role": "assistant", "content": [{"type": "text", "text": LEAD_IN}]}
USER = {"role": "user", "content": "go on"}


def step(number: int, tool: str) -> list[Message]:
    name = f"c{number}"
    call = {"type": "tool_use", "id": name, "name": tool, "input": {"n": number}}
    answer = {"type": "tool_result", "tool_use_id": name, "content": BULK}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]


def drawn(word: str) -> list[Message]:
    """`u` the user, `r` a ready and `k` a kept step, `S` a system message, `s` one of one turn,
    `c` a count of the tokens left."""
    single = {"u": USER, "S": LASTING, "s": PASSING, "c": COUNT}
    numbers = count()
    messages: list[Message] = []
    for letter in word:
        if letter in single:
            messages.append(dict(single[letter]))
        else:
            messages += step(next(numbers), "read" if letter == "r" else "look")
    return messages


def engine(scorer: Scorer, **more: Any) -> StateComp:
    given = {"summarizer": OneLiner(), "rule": GATES, "protocol": "anthropic", **more}
    return StateComp(scorer, **given)


def word_of(messages: Sequence[JsonObject]) -> str:
    """What was sent, drawn: `k` a kept step, `R` a record, `-` the line before a record."""

    def letter(message: JsonObject) -> str:
        if message == LINE:
            return "-"
        if message["role"] == "system":
            return "c" if "tokens" in message["content"] else "s" if "clear_at" in message else "S"
        if message["role"] == "assistant":
            return "k"
        if "[Record of" in json.dumps(message):
            return "R"
        return "" if "tool_result" in json.dumps(message) else "u"

    return "".join(map(letter, messages))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("urrSrrk", "uRS-Rk"),  # behind it, a record needs something of the assistant's
        ("uSrrk", "uS-Rk"),
        ("urrSrrSrrk", "uRS-RS-Rk"),  # two of them with nothing but a record between
        ("urrSrrurrk", "uRS-RuRk"),
        ("urrSrr", "uRS-R"),
        ("urrkS", "uRkS"),
        ("urrsrrsrrk", "uRk"),  # what was said for one turn goes with the turn
        ("urskrskk", "uRkRkk"),
        ("uksrrk", "uks-Rk"),
        ("usrrk", "us-Rk"),  # behind no turn it stays
        ("urrSrsrk", "uRS-Rk"),
        ("ucrcrcrckc", "uc-Rkc"),  # a count of tokens goes when it is old
        ("uSrcrcrckc", "uS-Rkc"),
        ("uSrcrcrck", "uS-Rk"),
        ("urrkckcrrk", "uRkckc-Rk"),
    ],
)
def test_the_step_behind_a_system_message_goes_like_any_other(word: str, expected: str) -> None:
    messages = drawn(word)
    sent = engine(WordScorer()).checkpoint(messages).messages
    assert word_of(sent) == expected
    assert WIRE.check(sent) == []
    assert all(any(m is came for came in messages) for m in sent if m["role"] == "system")


def test_a_reminder_of_one_turn_stays_while_it_is_read() -> None:
    for word in ("urs", "urrs", "us"):
        assert parse(drawn(word), WIRE).segments[-1].messages == (PASSING,)


def test_a_reminder_of_one_turn_changes_no_names() -> None:
    """A commit is found again, whether the reminder was still read when it was made or not."""
    without = [i.id for i in parse(drawn("urrrr"), WIRE).interactions]
    assert [i.id for i in parse(drawn("urrsrsr"), WIRE).interactions] == without
    assert [i.id for i in parse(drawn("urrSrsrs"), WIRE).interactions] == without


def test_a_commit_stays_valid_when_a_system_message_appears_and_goes() -> None:
    comp = engine(WordScorer())
    comp.checkpoint(drawn("urrkk"))
    for word in ("uSrrkkk", "urrkkk", "usrrkkk"):
        sent = comp.checkpoint(drawn(word), decide=False).messages
        assert "R" in word_of(sent)
        assert WIRE.check(sent) == []


def test_the_marker_of_a_span_goes_to_its_record_and_the_line_before_it_gets_none() -> None:
    messages = drawn("uSrrk")
    messages[3]["content"][0]["cache_control"] = {"type": "ephemeral"}
    line, record = engine(WordScorer()).checkpoint(messages).messages[2:4]
    assert line == LINE
    assert record["content"][-1]["cache_control"] == {"type": "ephemeral"}


def test_the_line_before_a_record_is_counted() -> None:
    checkpoint = engine(WordScorer()).checkpoint(drawn("urrSrrk"))
    counted = sum(count_message(message, ESTIMATE) for message in checkpoint.messages)
    assert checkpoint.sent_tokens == counted


@st.composite
def reminded(draw: DrawFn) -> list[Message]:
    """Conversations with many system messages, of both kinds, and no thinking (it is signed)."""
    given = [m for m in draw(anthropic_messages()) if m["role"] != "system"]
    out: list[Message] = []
    for place, message in enumerate(given):
        content = message["content"]
        if isinstance(content, list):
            content = [b for b in content if "thinking" not in b["type"]]
        out.append({**message, "content": content})
        following = given[place + 1 : place + 2]
        fits = message["role"] == "user" and all(m["role"] == "assistant" for m in following)
        if fits and draw(st.booleans()):
            out.append(dict(draw(st.sampled_from([LASTING, PASSING, COUNT]))))
    return out


def accepted(messages: Sequence[JsonObject]) -> bool:
    """By the scripted provider's own reading of the rules."""
    try:
        check({"model": "claude", "messages": messages}, {"anthropic-version": "2023"}, STRICT)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("merge", [False, True])
@settings(max_examples=150, deadline=None)
@given(messages=reminded(), after=st.integers(0, 2))
def test_whatever_stands_between_the_steps_every_rewrite_is_accepted(
    merge: bool, messages: list[Message], after: int
) -> None:
    assume(accepted(messages))
    comp = engine(AgeScorer(after), placement=Placement(merge=merge))
    for stop in range(1, len(messages) + 1):
        part = messages[:stop]
        if not accepted(part):
            continue
        sent = comp.checkpoint(copy.deepcopy(part)).messages
        assert accepted(sent), (word_of(part), word_of(sent))
        assert WIRE.check(sent) == []
        again = comp.checkpoint(copy.deepcopy(part), decide=False).messages
        assert json.dumps(again) == json.dumps(sent)
