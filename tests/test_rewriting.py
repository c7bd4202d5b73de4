"""Rewriting in every protocol: never invalid, never longer, pure, deterministic."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.history.interaction import Pinned
from statecomp.testing.words import OneLiner
from statecomp.wire.assemble import parse
from statecomp.wire.protocol import Placement
from statecomp.wire.providers import wire_named
from tests.wire import histories

PROTOCOLS = {
    "openai-chat": histories.chat_messages,
    "openai-responses": histories.responses_items,
    "anthropic": histories.anthropic_messages,
    "text-action": histories.text_action_messages,
}
GATES = Gates(longer_than=0, min_source_tokens=0)
PLACEMENTS = [Placement(), Placement(merge=True), Placement(role="assistant")]


def engine(protocol: str, placement: Placement, after: int) -> StateComp:
    return StateComp(
        AgeScorer(after),
        summarizer=OneLiner(),
        rule=GATES,
        protocol=protocol,
        placement=placement,
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("placement", PLACEMENTS, ids=["user", "merged", "assistant"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_rewrite_is_valid_shorter_pure_and_repeatable(
    protocol: str, placement: Placement, data: st.DataObject
) -> None:
    messages: list[Any] = data.draw(PROTOCOLS[protocol](open_end=True))
    after = data.draw(st.integers(0, 3))
    before = copy.deepcopy(messages)
    wire = wire_named(protocol, placement)

    first = engine(protocol, placement, after).checkpoint(messages)
    second = engine(protocol, placement, after).checkpoint(copy.deepcopy(messages))

    assert messages == before
    assert json.dumps(first.messages) == json.dumps(second.messages)
    assert len(wire.check(first.messages)) <= len(wire.check(messages))
    if first.commits:
        assert first.sent_tokens < first.raw_tokens
    else:
        assert first.messages == messages


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_growing_history_keeps_its_commits_and_stays_valid(
    protocol: str, data: st.DataObject
) -> None:
    """Whatever is sent next, the view is no longer, and goes on from the last view unless something
    was committed."""
    messages: list[Any] = data.draw(PROTOCOLS[protocol]())
    comp = engine(protocol, Placement(), data.draw(st.integers(0, 2)))
    wire = wire_named(protocol)
    committed: set[str] = set()
    previous: list[Any] = []
    for stop in range(1, len(messages) + 1):
        # Nobody asks in the middle of an answer: what the agent says in one turn comes as a whole.
        own = messages[stop - 1].get("role") == "assistant"
        if own or messages[stop - 1].get("type") == "reasoning" or wire.check(messages[:stop]):
            continue
        checkpoint = comp.checkpoint(copy.deepcopy(messages[:stop]))
        assert wire.check(checkpoint.messages) == []
        assert checkpoint.sent_tokens <= checkpoint.raw_tokens
        if not checkpoint.commits:
            assert checkpoint.messages[: len(previous)] == previous
        previous = checkpoint.messages
        sent = json.dumps(checkpoint.messages)
        committed |= {json.dumps(commit.text)[1:-1] for commit in checkpoint.commits}
        assert all(text in sent for text in committed)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_users_words_and_the_order_of_what_is_kept_never_change(
    protocol: str, data: st.DataObject
) -> None:
    messages: list[Any] = data.draw(PROTOCOLS[protocol]())
    sent = engine(protocol, Placement(), 0).checkpoint(messages).messages
    places = {id(message): place for place, message in enumerate(messages)}
    kept = [places[id(message)] for message in sent if id(message) in places]
    assert kept == sorted(kept)
    pinned = [s for s in parse(messages, wire_named(protocol)).segments if isinstance(s, Pinned)]
    assert {places[id(m)] for s in pinned for m in s.messages} <= set(kept)
