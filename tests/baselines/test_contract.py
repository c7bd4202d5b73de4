"""Every strategy there is, under one contract: valid, pure, deterministic, fully accounted."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.config import BUILDERS, Settings, strategy_factory
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Call, Pinned
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Strategy
from statecomp.wire.assemble import parse
from statecomp.wire.detect import wire_named
from statecomp.wire.placement import render
from tests.test_rewriting import PROTOCOLS
from tests.words import chat_of


def built(name: str, protocol: str = "openai-chat") -> Strategy:
    run = Trajectory("run", (), protocol)
    return strategy_factory(name, Settings())(run, wire_named(protocol))


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_view_is_valid_pure_and_repeatable(
    name: str, protocol: str, data: st.DataObject
) -> None:
    messages: list[Any] = data.draw(PROTOCOLS[protocol]())
    before = copy.deepcopy(messages)
    wire = wire_named(protocol)
    history = parse(messages, wire)
    one, two = built(name, protocol), built(name, protocol)
    for stop in range(1, len(history.segments) + 1):
        prefix = History(history.segments[:stop])
        view = one.before_request(prefix)
        again = two.before_request(prefix)
        sent = render(view.history, wire)
        assert json.dumps(sent) == json.dumps(render(again.history, wire))
        assert len(wire.check(sent)) <= len(wire.check(prefix.messages))
        assert view.side_calls == again.side_calls
    assert messages == before


@pytest.mark.parametrize("name", BUILDERS)
def test_the_system_prompt_and_the_task_are_always_sent(name: str) -> None:
    system = {"role": "system", "content": "be careful"}
    history = parse([system, *chat_of("p" + "r" * 30)], wire_named("openai-chat"))
    sent = built(name).before_request(history).history
    pinned = [s for s in sent.segments if isinstance(s, Pinned)]
    assert [s.text for s in pinned] == ["be careful", "request 0"]


@pytest.mark.parametrize("name", BUILDERS)
def test_hooks_that_a_strategy_does_not_use_do_nothing(name: str) -> None:
    strategy = built(name)
    call = Call("c", "nothing", "{}")
    assert strategy.on_observation(call, "text") == "text"
    assert list(strategy.extra_tools()) == []
    assert strategy.extra_system_text() == ""
    assert strategy.handle_tool(call) == "There is no tool named 'nothing'."


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("magic", "strategy 'magic': is unknown; known are none, window"),
        ("window:keep", "has 'keep' where key=value belongs"),
        ("window:keep=many", "has keep=many, which is not a number"),
        ("window:keep=0", "keep: must be at least 1"),
        ("window:size=3", "has unknown options: size"),
        ("mask:keep=-1", "keep: must not be negative"),
        ("periodic:every=0", "every: must be at least 1"),
        ("periodic:summarizer=oracle", "summarizer: is 'oracle'; known are"),
        ("statecomp:threshold=2", "threshold: must lie in (0, 1]"),
        ("statecomp:scorer=luck", "scorer: is 'luck'; known are"),
        ("statecomp:scorer=labels", "scorer: names no file"),
        ("statecomp:scorer=labels:/no/such/file", "cannot be read as labels"),
    ],
)
def test_a_wrong_spec_is_one_clear_sentence(spec: str, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        strategy_factory(spec, Settings())
    assert problem in str(caught.value)


def test_a_periodic_summary_comes_every_n_and_never_crosses_the_user() -> None:
    strategy = built("periodic:every=3")
    wire = wire_named("openai-chat")
    shapes = [
        strategy.before_request(parse(chat_of(word), wire)).history.shape()
        for word in ("prr", "prrr", "prrrr", "prrprrrr")
    ]
    assert shapes == ["pii", "ps", "psi", "pspss"]
