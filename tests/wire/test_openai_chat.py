"""OpenAI chat and text-action: grouping, identity, and what cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.errors import BadInput, InvalidHistory
from statecomp.traces.jsonl import read_runs
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.placement import render
from statecomp.wire.providers import wire_named
from statecomp.wire.text_action import TextAction
from tests.shared_data import RUNS, needs_shared_data


def call(*ids: str, said: str | None = None, **more: Any) -> dict[str, Any]:
    calls = [
        {"id": i, "type": "function", "function": {"name": "sh", "arguments": "{}"}} for i in ids
    ]
    return {"role": "assistant", "content": said, "tool_calls": calls, **more}


def result(call_id: str, text: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


@needs_shared_data
def test_recorded_runs_go_out_as_the_very_objects_and_their_turns_are_interactions() -> None:
    seen = 0
    for run in read_runs(RUNS):
        assert not isinstance(run, BadInput)
        wire = wire_named(run.protocol)
        before = json.dumps(run.messages)
        history = parse(run.messages, wire)
        sent = render(history, wire)
        assert all(mine is theirs for mine, theirs in zip(sent, run.messages, strict=True))
        assert json.dumps(sent) == before
        interactions = history.interactions
        assert len(interactions) == sum(m["role"] == "assistant" for m in run.messages)
        assert [i.number for i in interactions] == list(range(1, len(interactions) + 1))
        assert len({i.id for i in interactions}) == len(interactions)
        seen += 1
    assert seen == 300


def test_an_interaction_holds_reasoning_words_calls_and_every_parallel_result() -> None:
    messages = [
        user("go"),
        call("a", "b", said="look", reasoning_content="hm"),
        result("b", "two"),
        result("a", "one"),
        user("more"),
    ]
    history = parse(messages, OpenAIChat())
    (interaction,) = history.interactions
    assert history.shape() == "pip"
    assert (interaction.reasoning, interaction.said) == ("hm", "look")
    assert [c.id for c in interaction.calls] == ["a", "b"]
    assert interaction.observed == "two\none"


def test_every_role_but_assistant_and_tool_is_pinned() -> None:
    roles = ["system", "developer", "user"]
    history = parse([{"role": role, "content": role} for role in roles], OpenAIChat())
    assert [s.role for s in history.segments] == roles  # type: ignore[union-attr]


def test_the_plain_reply_of_the_assistant_does_not_swallow_the_user() -> None:
    messages = [user("hi"), {"role": "assistant", "content": "hello"}, user("now do it")]
    assert parse(messages, OpenAIChat()).shape() == "pip"


def test_in_a_text_action_run_the_next_user_message_is_the_observation() -> None:
    messages = [
        {"role": "system", "content": "s"},
        user("task"),
        {"role": "assistant", "content": "```ls```"},
        user("a.txt"),
        user("by the way, hurry"),
        {"role": "assistant", "content": "done"},
    ]
    history = parse(messages, TextAction())
    assert history.shape() == "ppipi"
    assert history.interactions[0].observed == "a.txt"


def test_an_open_or_half_answered_call_locks_its_interaction() -> None:
    history = parse([user("x"), call("a", "b"), result("a")], OpenAIChat())
    assert history.interactions[0].locked == "the call 'b' has no result yet"


@pytest.mark.parametrize(
    ("messages", "field", "problem"),
    [
        ([result("a")], "messages[0]", "answers no call"),
        ([call("a"), result("b")], "messages[1].tool_call_id", "does not make"),
        ([call("a"), result("a"), result("a")], "messages[2].tool_call_id", "answered already"),
        ([call("a"), user("x"), result("a")], "messages[2]", "answers no call"),
        ([{"role": "robot"}], "messages[0].role", "unknown role 'robot'"),
        ([{"content": "x"}], "messages[0].role", "has no role"),
        (["text"], "messages[0]", "not a JSON object"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(
    messages: list[Any], field: str, problem: str
) -> None:
    with pytest.raises(InvalidHistory, match=problem) as caught:
        parse(messages, OpenAIChat())
    assert caught.value.field == field


def test_a_history_nested_too_deeply_is_refused_not_crashed_on() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidHistory, match="nested too deeply"):
        parse([{"role": "user", "content": "x", "metadata": deep}], OpenAIChat())


def test_lone_surrogates_are_content_like_any_other() -> None:
    messages = [user("x"), call("a"), result("a", "broken \ud800 text")]
    history = parse(messages, OpenAIChat())
    assert history.messages == messages
    assert history.interactions[0].observed == "broken \ud800 text"


def test_an_id_names_the_content_and_all_that_came_before() -> None:
    same = parse([user("x"), call("a"), result("a")], OpenAIChat()).interactions[0]
    again = parse([user("x"), call("a"), result("a")], OpenAIChat()).interactions[0]
    other_result = parse([user("x"), call("a"), result("a", "no")], OpenAIChat()).interactions[0]
    other_past = parse([user("y"), call("a"), result("a")], OpenAIChat()).interactions[0]
    assert same.id == again.id
    assert len({same.id, other_result.id, other_past.id}) == 3
