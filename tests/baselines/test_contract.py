"""Every strategy there is, under one contract: valid, pure, deterministic, fully accounted.

Defaults are made for long runs and would never act on small ones, so each strategy also stands here
with settings that make it act at once, and with a chat that answers sense, nonsense or not at all.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from itertools import chain, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.config import BUILDERS, Settings, strategy_factory
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Call, Pinned
from statecomp.history.trajectory import Trajectory
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.strategy import Strategy, View
from statecomp.testing.chat import Asked, Reply, ScriptedChat
from statecomp.testing.words import chat_of
from statecomp.wire.assemble import parse
from statecomp.wire.placement import render
from statecomp.wire.providers import wire_named
from tests.baselines.steps import bulky, run_of, step
from tests.test_rewriting import PROTOCOLS

EAGER = (
    "window:keep=1",
    "mask:keep=0",
    "periodic:every=1",
    "statecomp:scorer=age:after=1,longer_than=0,min_source_tokens=0",
    "llmlingua2:keep=0",
    "llmlingua2:keep=0,budget=10",
    "llmlingua2:keep=0,place=history",
    "pace:budget=10,glimpse=on",
    "pace:pressure=code",
    "selfcompact:every=1",
    "selfcompact:budget=1.5",
    "selfcompact:mode=tool,budget=1.5",
    "acon:t_hist=-1,keep=0",
    "acon:t_hist=-1,rule=reset,mode=both,t_obs=1",
    "selfgc:budget=2",
    "lre:budget=2,keep=1",
    "comem:every=1",
    "comem:every=2,recent=raw",
    "sam:budget=2,page=256",
)
CHATTY = (
    "periodic:every=1,records=chat:scripted",
    "statecomp:scorer=age:after=1,longer_than=0,min_source_tokens=0,records=chat:scripted",
    "pace:chat=scripted",
    "selfcompact:every=1,chat=scripted",
    "selfcompact:mode=tool,budget=1.5,chat=scripted",
    "acon:t_hist=-1,keep=0,chat=scripted",
    "acon:t_hist=-1,rule=reset,mode=both,t_obs=1,chat=scripted",
    "selfgc:budget=2,chat=scripted",
    "selfgc:budget=2,index=prefix,chat=scripted",
    "comem:every=1,chat=scripted",
    "sam:budget=2,page=256,chat=scripted",
    "sculptor:chat=scripted",
    "acm:chat=scripted",
)
SPECS = (*BUILDERS, *EAGER)
COST = ChatUsage(7, 3)


def sense(asked: Asked) -> Reply:
    """What a willing model would answer: an instance of the schema, or a plan and some prose."""
    if asked.schema is not None:
        return json.dumps(_instance(asked.schema))
    actions = ("fold", "mask", "prune")
    found = dict.fromkeys(re.findall(r'id="([^"]+)"', asked.prompt))
    plan = "".join(f'<{actions[n % 3]} id="{name}"/>' for n, name in enumerate(found))
    return f"<plan>{plan}</plan> The file was read and nothing else was done so far."


def _instance(schema: Mapping[str, Any], name: str = "") -> Any:
    if schema.get("type") == "object":
        parts = {key: _instance(part, key) for key, part in schema["properties"].items()}
        return {**parts, "answer": "N"} if name == "N1" else parts
    if schema.get("type") == "array":
        return [_instance(schema["items"])]
    return schema["enum"][0] if "enum" in schema else "ok"


def garbage(asked: Asked) -> Reply:
    return '{"facts": [[[ <fold id="no-such"/> \ud800'


def silence(asked: Asked) -> Reply:
    return ChatFailed("no answer", usage=COST)


SCRIPTS = {"sense": sense, "garbage": garbage, "silence": silence}


def built(spec: str, protocol: str = "openai-chat", chat: ScriptedChat | None = None) -> Strategy:
    run = Trajectory("run", (), protocol)
    chats = {"scripted": chat or ScriptedChat(sense)}
    return strategy_factory(spec, Settings(chats=chats))(run, wire_named(protocol))


def views_of(strategy: Strategy, history: History) -> list[View]:
    stops = range(1, len(history.segments) + 1)
    return [strategy.before_request(History(history.segments[:stop])) for stop in stops]


def check_views(spec: str, protocol: str, messages: list[Any], script: str) -> None:
    before = copy.deepcopy(messages)
    wire = wire_named(protocol)
    history = parse(messages, wire)
    chats = [ScriptedChat(SCRIPTS[script]) for _ in range(2)]
    first, second = (views_of(built(spec, protocol, chat), history) for chat in chats)
    for stop, (view, again) in enumerate(zip(first, second, strict=True), start=1):
        prefix = History(history.segments[:stop])
        sent = render(view.history, wire)
        assert json.dumps(sent) == json.dumps(render(again.history, wire))
        assert len(wire.check(sent)) <= len(wire.check(prefix.messages))
        assert view.side_calls == again.side_calls
        json.dumps(sent, ensure_ascii=False).encode("utf-8")
    charged = [call for view in first for call in view.side_calls]
    assert len(charged) == len(chats[0].asked)
    if script == "silence":
        assert {(c.input_tokens, c.output_tokens) for c in charged} <= {(7, 3)}
    assert messages == before


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_view_is_valid_pure_and_repeatable(spec: str, data: st.DataObject) -> None:
    protocol = data.draw(st.sampled_from(sorted(PROTOCOLS)))
    check_views(spec, protocol, data.draw(PROTOCOLS[protocol](open_end=True)), "sense")


@pytest.mark.parametrize("spec", CHATTY)
@pytest.mark.parametrize("script", SCRIPTS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_whatever_a_chat_answers_views_stay_valid_and_its_calls_are_charged(
    spec: str, script: str, data: st.DataObject
) -> None:
    protocol = data.draw(st.sampled_from(sorted(PROTOCOLS)))
    check_views(spec, protocol, data.draw(PROTOCOLS[protocol](open_end=True)), script)


@pytest.mark.parametrize(
    ("spec", "script"), [*((spec, "sense") for spec in SPECS), *product(CHATTY, SCRIPTS)]
)
def test_a_long_run_stays_valid_and_a_request_sent_again_gets_the_same_answer(
    spec: str, script: str
) -> None:
    wire = wire_named("openai-chat")
    history = parse(chat_of("p" + "rk" * 6 + "p" + "rrr"), wire)
    chat = ScriptedChat(SCRIPTS[script])
    strategy = built(spec, chat=chat)
    for view in views_of(strategy, history):
        assert wire.check(render(view.history, wire)) == []
    sent = render(strategy.before_request(history).history, wire)
    asked = len(chat.asked)
    assert render(strategy.before_request(history).history, wire) == sent
    assert len(chat.asked) == asked


@pytest.mark.parametrize("spec", [*EAGER, *CHATTY])
def test_the_settings_of_these_tests_make_each_strategy_act(spec: str) -> None:
    paths = [f"/srv/data/{number}.txt" for number in range(6)]
    steps = [step(n, f"{path}\n{bulky(n)}", command=path) for n, path in enumerate(paths)]
    history = parse([*run_of(0), *chain(*steps)], wire_named("openai-chat"))
    chat = ScriptedChat(sense)
    strategy = built(spec, chat=chat)
    sent = [tuple(s.id for s in view.history.segments) for view in views_of(strategy, history)]
    raw = [tuple(s.id for s in history.segments[:stop]) for stop in range(1, len(sent) + 1)]
    # These two act only when the agent calls one of their tools, which it does further down.
    assert sent != raw or spec.startswith(("sculptor", "acm"))
    assert bool(chat.asked) == (spec in CHATTY and not spec.startswith(("sculptor", "acm")))


@pytest.mark.parametrize("spec", CHATTY)
def test_a_chat_that_never_answers_leaves_what_the_agent_said_and_saw(spec: str) -> None:
    history = parse(chat_of("prrrrrr"), wire_named("openai-chat"))
    strategy = built(spec, chat=ScriptedChat(silence))
    view = views_of(strategy, history)[-1]
    # Some fall back to rules of their own, ours to an extract; all others to the history itself.
    if not spec.startswith(("pace", "sam", "comem", "statecomp")):
        assert [s.id for s in view.history.segments] == [s.id for s in history.segments]


@pytest.mark.parametrize("spec", [*SPECS, *CHATTY])
def test_the_system_prompt_and_every_word_of_the_user_are_always_sent(spec: str) -> None:
    system = {"role": "system", "content": "be careful"}
    history = parse([system, *chat_of("p" + "r" * 20 + "p" + "rr")], wire_named("openai-chat"))
    sent = views_of(built(spec), history)[-1].history
    pinned = [s.text for s in sent.segments if isinstance(s, Pinned)]
    # A sliding window is defined as system prompt, task and the last K interactions.
    slides = spec.startswith("window")
    assert pinned[:2] == ["be careful", "request 0"]
    assert slides or pinned[2:] == ["request 21"]


@pytest.mark.parametrize("spec", [*SPECS, *CHATTY])
def test_tools_answer_every_call_with_text_and_take_no_other_name(spec: str) -> None:
    strategy = built(spec)
    history = parse(chat_of("prrrrr"), wire_named("openai-chat"))
    strategy.before_request(history)
    names = [str(tool["function"]["name"]) for tool in strategy.extra_tools()]
    for name in names:
        for arguments in ("{}", "not json", '{"step": 2, "object_id": 7, "pages": "x"}', "[]"):
            assert isinstance(strategy.handle_tool(Call("c", name, arguments)), str)
    assert "nothing" not in names
    unknown = strategy.handle_tool(Call("c", "nothing", "{}"))
    assert unknown == "There is no tool named 'nothing'."
    assert isinstance(strategy.extra_system_text(), str)


@pytest.mark.parametrize("spec", [*SPECS, *CHATTY])
@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic"])
def test_a_history_in_which_the_agent_used_the_tools_stays_valid(spec: str, protocol: str) -> None:
    chat = ScriptedChat(sense)
    strategy = built(spec, protocol, chat)
    wire = wire_named(protocol)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "do it"}]
    charged = 0
    for number, tool in enumerate([*strategy.extra_tools(), *strategy.extra_tools()]):
        call = Call(f"c{number}", str(tool["function"]["name"]), "{}")
        messages += turn(call, strategy.handle_tool(call), protocol)
        view = strategy.before_request(parse(messages, wire))
        charged += len(view.side_calls)
        assert wire.check(render(view.history, wire)) == []
    assert charged == len(chat.asked)


def turn(call: Call, result: str, protocol: str) -> list[dict[str, Any]]:
    if protocol == "anthropic":
        use = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        done = {"type": "tool_result", "tool_use_id": call.id, "content": result}
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [done]}]
    function = {"name": call.name, "arguments": call.arguments}
    asked = {"id": call.id, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": call.id, "content": result},
    ]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("magic", "strategy 'magic': is unknown; known are none, window"),
        ("window:keep", "has 'keep' where key=value belongs"),
        ("window:keep=many", "has keep=many, which is not a number"),
        ("window:keep=0", "keep: must be at least 1"),
        ("window:size=3", "has unknown options: size"),
        ("mask:keep=-1", "keep: must be at least 0"),
        ("periodic:every=0", "every: must be at least 1"),
        ("periodic:records=oracle", "records: is 'oracle'; known are"),
        ("periodic:budget=nan", "has budget=nan, which is not a number"),
        ("statecomp:records=same", "records=same: asks the client's own upstream"),
        ("statecomp:records=oracle", "records: is 'oracle'; known are"),
        ("statecomp:budget=-1", "budget: is a share of the source, from 0 to 1, not -1.0"),
        ("statecomp:name_worth=-5", "name_worth: must not be negative, not -5"),
        ("statecomp:threshold=2", "threshold: must lie in (0, 1]"),
        ("statecomp:scorer=luck", "scorer: is 'luck'; known are"),
        ("statecomp:scorer=labels", "scorer: names no file"),
        ("statecomp:scorer=labels:/no/such/file", "labels cannot be read from it"),
        ("acon:chat=nobody", "a chat is named"),
        ("acon:mode=loud", "mode: is 'loud'; known are history, observation, both"),
        ("acon:records=oracle", "records: is 'oracle'; known are"),
        ("llmlingua2:classifier=luck", "classifier: is 'luck'; known are lexical"),
        ("llmlingua2:budget=0", "budget: must be a number of tokens or a share"),
        ("pace:embedder=luck", "embedder: is 'luck'; known are lexical"),
        ("selfcompact:mode=both", "mode: is 'both'; known are probe, tool"),
        ("selfcompact:every=0", "every: must be at least 1"),
        ("lre:weights=/no/such/file", "/no/such/file: cannot be read"),
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
