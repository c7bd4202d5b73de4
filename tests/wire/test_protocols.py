"""The claims that hold for every protocol there is, and finding one by its content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from statecomp.errors import BadInput
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Summary
from statecomp.wire.assemble import parse
from statecomp.wire.incremental import IncrementalReader
from statecomp.wire.placement import render
from statecomp.wire.protocol import Placement, Wire
from statecomp.wire.providers import BY_NAME, detect, wire_named
from tests.wire.histories import (
    Message,
    anthropic_messages,
    chat_messages,
    responses_items,
    text_action_messages,
)

HISTORIES: dict[str, Callable[..., SearchStrategy[list[Message]]]] = {
    "openai-chat": chat_messages,
    "openai-responses": responses_items,
    "anthropic": anthropic_messages,
    "text-action": text_action_messages,
}
PLACEMENTS = (
    Placement(),
    Placement("assistant"),
    Placement(merge=True),
    Placement("assistant", merge=True),
)
BODIES = sorted((Path(__file__).parent / "bodies").glob("*.json"))


def named(strategy_of: Callable[..., SearchStrategy[Any]], **options: Any) -> SearchStrategy[Any]:
    """(protocol, what the strategy gives for it)"""
    return st.sampled_from(list(BY_NAME)).flatmap(
        lambda name: st.tuples(st.just(name), strategy_of(name, **options))
    )


def valid(name: str, **options: Any) -> SearchStrategy[list[Message]]:
    return HISTORIES[name](**options)


def replaced(history: History, span: Span, wire: Wire) -> History:
    members = history.members(span)
    summary = Summary(
        id="s",
        messages=wire.write_summary("what was done"),
        tokens=3,
        text="what was done",
        sources=tuple(member.id for member in members),
        first=members[0].number,
        last=members[-1].number,
    )
    return history.replace(span, summary)


def replaceable(history: History) -> list[Span]:
    """Every run of interactions that may be replaced."""
    free = [isinstance(s, Interaction) and not s.locked for s in history.segments]
    return [
        Span(start, stop)
        for start in range(len(free))
        for stop in range(start + 1, len(free) + 1)
        if all(free[start:stop])
    ]


@given(named(valid))
def test_a_valid_history_breaks_no_rule(given_history: tuple[str, list[Message]]) -> None:
    name, messages = given_history
    assert wire_named(name).check(messages) == []


@given(named(valid, open_end=True))
def test_what_is_kept_goes_out_as_the_very_objects_that_came_in(
    given_history: tuple[str, list[Message]],
) -> None:
    name, messages = given_history
    wire = wire_named(name)
    before = json.dumps(messages)
    sent = render(parse(messages, wire), wire)
    assert all(new is old for new, old in zip(sent, messages, strict=True))
    assert json.dumps(messages) == before


@given(named(valid, open_end=True), st.sampled_from(PLACEMENTS), st.data())
def test_replacing_whole_unlocked_interactions_breaks_no_rule(
    given_history: tuple[str, list[Message]], placement: Placement, data: st.DataObject
) -> None:
    name, messages = given_history
    wire = wire_named(name, placement)
    history = parse(messages, wire)
    spans = replaceable(history)
    if not spans:
        return
    rewritten = replaced(history, data.draw(st.sampled_from(spans)), wire)
    rules = sorted(violation.rule for violation in wire.check(messages))
    assert sorted(v.rule for v in wire.check(render(rewritten, wire))) == rules


@given(named(valid, open_end=True))
def test_reading_as_a_client_re_sends_gives_what_reading_at_once_gives(
    given_history: tuple[str, list[Message]],
) -> None:
    name, messages = given_history
    wire = wire_named(name)
    reader = IncrementalReader(wire)
    stop = 0
    for segment in parse(messages, wire).segments:
        stop += len(segment.messages)
        sent = messages[:stop]
        assert reader.read({wire.key: sent}).segments == parse(sent, wire).segments


def test_a_state_that_is_read_again_is_the_same_history() -> None:
    """What was found out of it need not be found out again."""
    name, messages = "anthropic", [{"role": "user", "content": "Look."}]
    reader = IncrementalReader(wire_named(name))
    first = reader.read({"system": "Be brief.", "messages": messages})
    assert reader.read({"system": "Be brief.", "messages": messages}) is first
    other = reader.read({"system": "Be thorough.", "messages": messages})
    assert [segment.text for segment in other.segments] == ["Be thorough.", "Look."]
    assert reader.read({"messages": messages}).segments == other.segments[1:]
    assert reader.read({"messages": []}).segments == ()


def broken(messages: list[Message]) -> Iterator[tuple[str, list[Message]]]:
    """The list with one result deleted, doubled, or moved in front of its call."""
    for place, message in enumerate(messages):
        before, behind = messages[:place], messages[place + 1 :]
        if (
            message.get("role") in ("tool", "function")
            or "output" in message
            or "approve" in message
        ):
            yield "deleted", [*before, *behind]
            yield "doubled", [*before, message, message, *behind]
            yield "moved", [message, *before, *behind]
        content = message.get("content")
        content = content if isinstance(content, list) else []
        for number, block in enumerate(content):
            if block["type"] != "tool_result":
                continue
            rest = [*content[:number], *content[number + 1 :]]
            without = [{**message, "content": rest}] if rest else []
            yield "deleted", [*before, *without, *behind]
            yield "doubled", [*before, {**message, "content": [block, *content]}, *behind]
            yield "moved", [{"role": "user", "content": [block]}, *before, *without, *behind]


@given(named(valid))
def test_a_result_that_is_lost_doubled_or_moved_is_reported(
    given_history: tuple[str, list[Message]],
) -> None:
    name, messages = given_history
    wire = wire_named(name)
    for how, damaged in broken(messages):
        assert wire.check(damaged), how


@given(named(valid))
def test_an_edit_that_changes_nothing_keeps_the_very_messages(
    given_history: tuple[str, list[Message]],
) -> None:
    name, messages = given_history
    edited = wire_named(name).edit_observations(messages, str)
    assert all(new is old for new, old in zip(edited, messages, strict=True))


KEYS = st.sampled_from(
    [
        *("role", "type", "content", "text", "id", "tool_use_id", "call_id", "output", "input"),
        *("caller", "tool_id", "source", "outcome", "stdout", "summary", "approval_request_id"),
    ]
)
NAMES = st.sampled_from(
    [
        *("a", "user", "assistant", "text", "thinking", "compaction", "reasoning", "message"),
        *("tool_use", "tool_result", "server_tool_use", "web_search_tool_result"),
        *("function_call", "function_call_output", "shell_call", "shell_call_output"),
    ]
)
VALUES = st.none() | st.integers(0, 1) | st.just("") | NAMES
NONSENSE = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=8,
)


@pytest.mark.parametrize("name", BY_NAME)
@given(messages=st.lists(st.dictionaries(KEYS, NONSENSE, max_size=5), max_size=4))
def test_nonsense_is_refused_and_never_crashes(name: str, messages: list[Message]) -> None:
    wire = wire_named(name)
    detect(messages)
    wire.check(messages)
    wire.untouchable({wire.key: messages})
    wire.edit_observations(messages, str.upper)
    with suppress(BadInput):
        parse(messages, wire)


@pytest.mark.parametrize("path", BODIES, ids=lambda path: path.stem)
def test_a_provider_body_goes_out_byte_for_byte(path: Path) -> None:
    text = path.read_text()
    body = json.loads(text)
    wire = wire_named(detect(body))
    history = parse(body, wire)
    assert path.stem.startswith(wire.name.replace("-", "_"))
    assert all(new is old for new, old in zip(render(history, wire), body[wire.key], strict=True))
    sent = wire.adapt(body, render(history, wire), len(history.messages)).body
    assert json.dumps(sent) == json.dumps(json.loads(text))
    assert wire.check(body[wire.key]) == []
    assert wire.untouchable(body) == ""


@pytest.mark.parametrize("path", BODIES, ids=lambda path: path.stem)
@pytest.mark.parametrize("placement", PLACEMENTS, ids=str)
def test_every_replacement_in_a_provider_body_is_valid(path: Path, placement: Placement) -> None:
    body = json.loads(path.read_text())
    wire = wire_named(detect(body), placement)
    history = parse(body, wire)
    assert replaceable(history)
    for span in replaceable(history):
        assert wire.check(render(replaced(history, span, wire), wire)) == []


@pytest.mark.parametrize("path", BODIES, ids=lambda path: path.stem)
def test_the_messages_alone_tell_the_protocol(path: Path) -> None:
    body = json.loads(path.read_text())
    wire = wire_named(detect(body))
    assert detect(body[wire.key]) == wire.name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ({"input": "hello"}, "openai-responses"),
        ({"input": [], "instructions": "x"}, "openai-responses"),
        ({"messages": [{"role": "user", "content": "x"}], "system": "x"}, "anthropic"),
        ({"messages": [], "max_tokens": 9, "anthropic_version": "2023-06-01"}, "anthropic"),
        ({"messages": [{"role": "user", "content": "x"}], "max_tokens": 9}, "openai-chat"),
        ([{"role": "assistant", "tool_calls": []}], "openai-chat"),
        ([{"role": "tool", "tool_call_id": "c", "content": [{"type": "text"}]}], "openai-chat"),
        ([{"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}], "anthropic"),
        ([{"role": "user", "content": "x"}, {"type": "function_call"}], "openai-responses"),
        ([{"type": "message", "role": "user", "content": "x"}], "openai-responses"),
        ([], "openai-chat"),
        ({}, "openai-chat"),
        ({"messages": "x"}, "openai-chat"),
        ([1, None, "x", {"role": "user", "content": 3}], "openai-chat"),
    ],
)
def test_content_tells_the_protocol(source: Any, name: str) -> None:
    assert detect(source) == name


def test_a_protocol_is_made_by_name_with_its_placement() -> None:
    placement = Placement("assistant")
    for name in BY_NAME:
        wire = wire_named(name, placement)
        assert (wire.name, wire.placement) == (name, placement)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="openai-chat, anthropic, openai-responses, text-action"):
        wire_named("gemini")
