"""A user message that moves: a client that writes its instruction anew at every request's end."""

from __future__ import annotations

import json

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.circumstances import JUST_AFTER
from statecomp.controller.spans import Gates
from statecomp.controller.states import last_seen, tip
from statecomp.history.history import History
from statecomp.history.interaction import JsonObject
from statecomp.ledger.commits import CommitLog, MemoryLog
from statecomp.ledger.open import open_ledger
from statecomp.proxy.account.regret import RegretMeter
from statecomp.testing.words import OneLiner, WordScorer, chat_of, history_of, shape
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat

INSTRUCTION = {"role": "user", "content": "Respond with the next action."}
NOTICE = {"role": "user", "content": "And look at the other file too."}


def aged(log: CommitLog | None = None, after: int = 4) -> StateComp:
    return StateComp(AgeScorer(after), rule=Gates(), summarizer=OneLiner(), log=log)


def test_the_prefix_of_a_client_that_moves_its_instruction_is_rewritten_once_a_span() -> None:
    """As DSPy does."""
    comp = aged()
    spans: list[tuple[int, int]] = []
    before: list[JsonObject] = []
    for steps in range(1, 21):
        checkpoint = comp.checkpoint([*chat_of("p" + "r" * steps), INSTRUCTION])
        spans += [(commit.first, commit.last) for commit in checkpoint.commits]
        assert checkpoint.messages[-1] is INSTRUCTION
        if not checkpoint.commits:
            assert checkpoint.messages[: len(before)] == before
        before = checkpoint.messages[:-1]
    assert spans == [(1, 4), (5, 8), (9, 12), (13, 16)]


def test_a_state_is_named_by_the_last_interaction_that_was_answered() -> None:
    last = history_of("prr").interactions[-1].id
    assert tip(history_of("prr")) == tip(history_of("prrp")) == tip(history_of("prrpp")) == last
    assert tip(history_of("prro")) == last
    assert tip(history_of("p")) == last_seen(history_of("p")) == history_of("p").segments[0].id
    assert tip(history_of("pp")) == last_seen(history_of("pp"))
    assert last_seen(history_of("prrp")) != last_seen(history_of("prr")) == last
    assert tip(History(())) == ""


def test_the_same_request_again_decides_nothing_new_whoever_is_asked() -> None:
    log = MemoryLog()
    messages = [*chat_of("prrrrrrrr"), INSTRUCTION]
    first = aged(log).checkpoint(messages)
    assert first.commits
    looked = aged(log).checkpoint(messages, decide=False)
    assert looked.decided
    again = aged(log, after=0).checkpoint(messages)
    assert (again.note, again.commits) == ("decided before at this state", ())
    assert json.dumps(again.messages) == json.dumps(first.messages)


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_when_the_user_speaks_again_it_is_decided_anew_and_holds_from_there(store: str) -> None:
    log: CommitLog = MemoryLog() if store == "memory" else open_ledger(":memory:").commits("t")
    comp = StateComp(WordScorer(), rule=Gates(), summarizer=OneLiner(), log=log)
    first = chat_of("prrrrk")
    assert len(comp.checkpoint(first).commits) == 1
    # Another scorer stands for whatever the user's words have changed.
    other = StateComp(
        AgeScorer(0),
        summarizer=OneLiner(),
        log=log,
        rule=Gates(longer_than=0, min_source_tokens=0),
    )
    spoken = [*first, NOTICE]
    assert not other.checkpoint(spoken, decide=False).decided
    anew = other.checkpoint(spoken)
    assert [(c.first, c.last) for c in anew.commits] == [(5, 5)]
    assert other.checkpoint(spoken, decide=False).decided
    assert comp.checkpoint(spoken).note == "decided before at this state"
    for later, expected in (([*spoken, *chat_of("k")], "psspk"), (first, "psk")):
        view = comp.checkpoint(later, decide=False).view
        assert view is not None
        assert shape(view.history) == expected


def test_a_step_is_judged_by_the_view_it_was_made_from_though_the_instruction_moved() -> None:
    comp, meter = aged(after=0), RegretMeter()
    raw = parse([*chat_of("prrrr"), INSTRUCTION], OpenAIChat())
    view = comp.prepare(raw, JUST_AFTER)
    assert view.commits
    meter.sent("t", raw, view.commits)
    repeated = chat_of("prrrrr")
    repeated[-2]["tool_calls"][0]["function"]["arguments"] = '{"n": 1}'
    found = meter.look("t", parse([*repeated, INSTRUCTION], OpenAIChat()), comp.replay)
    assert [regret.kind for regret in found] == ["repeated call"]
