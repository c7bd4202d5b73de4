"""Runs joined to long sessions: valid in every protocol, and every label in its place."""

from __future__ import annotations

from typing import Any

import pytest

from statecomp.annotation.labels import Evidence, Label, Veto, read_labels
from statecomp.config.folds import same_routers
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replays.sessions import JoinedRuns, joined, labels_of, session_of
from statecomp.replays.timing import plain
from statecomp.testing.words import chat_of, shape
from statecomp.traces.jsonl import read_runs
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named
from tests.shared_data import LABELS, RUNS, needs_shared_data

Messages = list[dict[str, Any]]


def run_of(
    name: str,
    messages: Messages,
    protocol: str = "openai-chat",
    *,
    domain: str = "",
    group: str = "",
) -> Trajectory:
    return Trajectory(name, tuple(messages), protocol, domain, group)


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def drawn(name: str, word: str = "prr", *, domain: str = "", group: str = "") -> Trajectory:
    return run_of(name, chat_of(word), domain=domain, group=group)


def anthropic(*ids: str, answered: bool = True) -> Messages:
    messages: Messages = [said("user", "go")]
    for name in ids:
        call = {"type": "tool_use", "id": name, "name": "look", "input": {"id": name}}
        result = {"type": "tool_result", "tool_use_id": name, "content": "seen"}
        messages += [said("assistant", ""), said("user", "")]
        messages[-2]["content"], messages[-1]["content"] = [call], [result]
    return messages if answered else messages[:-1]


def responses(*ids: str, answered: bool = True) -> Messages:
    items: Messages = [{"type": "message", **said("user", "go")}]
    for name in ids:
        call = {"type": "function_call", "call_id": name, "name": "look", "arguments": "{}"}
        items += [call, {"type": "function_call_output", "call_id": name, "output": "seen"}]
    return items if answered else items[:-1]


def text_action(*actions: str) -> Messages:
    messages = [said("user", "task")]
    for action in actions:
        messages += [said("assistant", action), said("user", f"saw {action}")]
    return messages[:-1]


OPEN = {
    "openai-chat": chat_of("pro"),
    "anthropic": anthropic("a", "b", answered=False),
    "openai-responses": responses("a", "b", answered=False),
    "text-action": text_action("a", "b"),
}


def sizes(sessions: list[JoinedRuns]) -> list[list[str]]:
    return [[part.run for part in session.parts] for session in sessions]


def test_every_n_runs_become_one_conversation_in_the_order_they_come() -> None:
    sessions = list(joined(map(drawn, "abcde"), 2))
    assert sizes(sessions) == [["a", "b"], ["c", "d"], ["e"]]
    history = parse(sessions[0].messages, wire_named("openai-chat"))
    assert shape(history) == "prrprr"
    assert [(p.before, p.interactions, p.last) for p in sessions[0].parts] == [(0, 2, 2), (2, 2, 4)]
    assert [session.id for session in sessions] == ["a +1", "c +1", "e"]


def test_protocols_and_keys_never_mix_and_domains_only_at_the_end() -> None:
    runs = [drawn(name, domain=d, group=name) for name, d in ("aC", "bW", "cC", "dW", "eC", "fW")]
    runs.insert(1, run_of("t", text_action("x"), "text-action", domain="C"))
    sessions = list(joined(runs, 2))
    assert sizes(sessions) == [["a", "c"], ["b", "d"], ["t"], ["e", "f"]]
    assert [session.domain for session in sessions] == ["C", "W", "C", "mixed"]
    by_key = joined(runs, 3, key=lambda task: task in "ade")
    assert sizes(list(by_key)) == [["a", "e", "d"], ["t"], ["b", "f", "c"]]


def test_a_session_has_the_group_of_its_first_run() -> None:
    assert session_of([drawn("a", group="g"), drawn("b", group="h")]).group == "g"


def test_one_conversation_has_one_protocol() -> None:
    with pytest.raises(BadInput, match="'b' is text-action and 'a' is openai-chat; a conver"):
        session_of([drawn("a"), run_of("b", text_action("x"), "text-action")])


def test_a_system_message_is_said_once() -> None:
    runs = [run_of(n, [said("system", "be brief"), *chat_of("pr")]) for n in "ab"]
    session = session_of(runs)
    assert [m["content"] for m in session.messages if m["role"] == "system"] == ["be brief"]
    assert session.messages[4] == said("user", "request 0")


def test_another_system_message_stands_inside_the_first_user_message() -> None:
    other = [said("system", "be long"), said("developer", "be kind"), *chat_of("pr")]
    session = session_of(
        [run_of("a", [said("system", "be brief"), *chat_of("pr")]), run_of("b", other)]
    )
    assert session.messages[4] == said("user", "be long\n\nbe kind\n\nrequest 0")
    blocks = [
        said("system", "be long"),
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
    ]
    session = session_of([drawn("a"), run_of("b", [*blocks, *chat_of("r")])])
    assert [block["text"] for block in session.messages[5]["content"]] == ["be long", "go"]


def test_a_run_that_begins_with_its_agent_gets_a_user_message() -> None:
    session = session_of([drawn("a"), drawn("b", "rr")])
    assert shape(parse(session.messages, wire_named("openai-chat"))) == "prrprr"
    assert session.messages[5] == said("user", "[the beginning was not recorded]")


@pytest.mark.parametrize("protocol", OPEN)
def test_what_a_run_left_open_is_answered_before_the_next_begins(protocol: str) -> None:
    """Else the next task would answer a call, or in text be taken for its observation."""
    wire = wire_named(protocol)
    session = session_of([run_of(name, OPEN[protocol], protocol) for name in "abc"])
    history = parse(session.messages, wire)
    assert history.shape() == "piipiipii"
    assert len(history.interactions) == session.parts[-1].last == 6
    assert [i.observed for i in history.interactions][1::2] == ["[no result recorded]"] * 2 + [""]
    # Only the very end may be open, as it was recorded.
    assert {v.rule for v in wire.check(session.messages)} <= {"unanswered-call"}
    assert wire.check(session.messages[: -len(history.segments[-1].messages)]) == []


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic", "openai-responses"])
def test_call_ids_are_unique_in_a_session_and_still_pair(protocol: str) -> None:
    made = {"openai-chat": chat_of("prr"), "anthropic": anthropic("a", "a_2")}
    run = made.get(protocol) or responses("a", "a_2")
    session = session_of([run_of(name, run, protocol) for name in "abc"])
    history = parse(session.messages, wire_named(protocol))
    ids = [call.id for i in history.interactions for call in i.calls]
    assert len(ids) == len(set(ids)) == 6
    assert ids == [o.call_id for i in history.interactions for o in i.observations]
    assert wire_named(protocol).check(session.messages) == []
    again = session_of([run_of(name, run, protocol) for name in "abc"])
    assert again == session


def test_ids_in_the_arguments_of_a_call_are_not_call_ids() -> None:
    session = session_of([run_of(name, anthropic("a"), "anthropic") for name in "ab"])
    (call,) = session.messages[4]["content"]
    assert (call["id"], call["input"]) == ("a_2", {"id": "a"})


def test_runs_that_share_no_id_keep_their_very_messages() -> None:
    first, second = (
        run_of("a", anthropic("a"), "anthropic"),
        run_of("b", anthropic("b"), "anthropic"),
    )
    session = session_of([first, second])
    kept = (*first.messages, *second.messages)
    assert all(a is b for a, b in zip(session.messages, kept, strict=True))


def test_labels_move_with_their_run() -> None:
    session = session_of([drawn("a"), drawn("b")])
    label = Label("b", 1, 2, (Evidence(1, "seen"),), (Veto(2, "used"),), ("c1",), "why", "me")
    labels = {"b": {1: label, 2: Label("b", 2, None)}, "z": {1: Label("z", 1, 2)}}
    moved = labels_of(session, labels)
    assert moved == {
        3: Label("a +1", 3, 4, (Evidence(3, "seen"),), (Veto(4, "used"),), ("c1",), "why", "me"),
        4: Label("a +1", 4, None),
    }
    assert labels_of(drawn("b"), labels) is labels["b"]


def test_strategies_without_folds_ask_nothing_of_the_runs_of_a_session() -> None:
    asked = same_routers(["window:keep=3", "statecomp:scorer=age:after=3,wariness=2"])
    assert asked("one task") == asked("another")


@needs_shared_data
def test_recorded_runs_join_to_valid_sessions_that_hold_every_interaction() -> None:
    labels = read_labels(LABELS)
    runs = [run for run in read_runs(RUNS) if isinstance(run, Trajectory)][::3]
    for session in joined(runs, 4):
        wire = wire_named(session.protocol)
        history = parse(session.messages, wire)
        assert len(history.interactions) == session.parts[-1].last
        assert wire.check(session.messages[: -len(history.segments[-1].messages)]) == []
        for number, label in labels_of(session, labels).items():
            text = plain(history.interactions[number - 1].text)
            assert all(plain(string) in text for string in label.must_keep)
