"""What a caller of the library can ask for: messages that stay, and an answer to wait for."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.spans import Gates
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.ledger.commits import MemoryLog
from statecomp.records.record import Record
from statecomp.testing.words import OneLiner, WordScorer, chat_of, shape


def engine(log: MemoryLog | None = None) -> StateComp:
    return StateComp(WordScorer(), rule=Gates(), summarizer=OneLiner(), log=log)


def shape_of(checkpoint: Any) -> str:
    return shape(checkpoint.view.history)


def test_a_message_the_caller_keeps_keeps_its_interaction() -> None:
    messages = chat_of("prrrrrrrrrk")
    kept = messages[10]  # the result of the fifth step
    checkpoint = engine().checkpoint(messages, keep=lambda message: message is kept)
    assert shape_of(checkpoint) == "psrsk"
    assert kept in checkpoint.messages
    reasons = {decision.number: decision.reason for decision in checkpoint.decisions}
    assert reasons[5] == "the caller wants one of its messages kept"


def test_a_message_that_is_kept_takes_back_an_earlier_commit_while_it_is_kept() -> None:
    comp = engine()
    messages = chat_of("prrrrk")
    assert shape_of(comp.checkpoint(messages)) == "psk"
    marked = comp.checkpoint(messages, keep=lambda m: m.get("tool_call_id") == "c2")
    assert shape_of(marked) == "prrrrk"
    assert shape_of(comp.checkpoint(messages)) == "psk"


def test_what_follows_a_commit_that_was_taken_back_is_still_replaced() -> None:
    comp = engine()
    assert shape_of(comp.checkpoint(chat_of("prrrrk"))) == "psk"
    longer = comp.checkpoint(chat_of("prrrrkrrrrk"), keep=lambda m: m.get("tool_call_id") == "c2")
    assert shape_of(longer) == "prrrrksk"
    reasons = {decision.number: decision.reason for decision in longer.decisions}
    assert reasons[2] == "the caller wants one of its messages kept"
    assert "taken back" in reasons[3]


def test_a_question_that_fails_leaves_the_history_as_it_came() -> None:
    messages = chat_of("prrrr")
    checkpoint = engine().checkpoint(messages, keep=lambda message: message["no such field"])
    assert checkpoint.messages == messages
    assert checkpoint.note == "KeyError: 'no such field'"


@pytest.mark.parametrize("word", ["prrrrk", "pk", "prrrrkrrrr"])
def test_waiting_gives_the_same_answer(word: str) -> None:
    messages = chat_of(word)
    waited = asyncio.run(engine().acheckpoint(messages, keep=lambda m: m is messages[-1]))
    at_once = engine().checkpoint(messages, keep=lambda m: m is messages[-1])
    assert json.dumps(waited.messages) == json.dumps(at_once.messages)
    assert waited.decisions == at_once.decisions


def test_the_event_loop_goes_on_while_a_summary_is_written() -> None:
    answered = threading.Event()

    class Remote(OneLiner):
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            assert answered.wait(60)
            return super().summarize(span, situation)

    async def agent() -> bool:
        comp = StateComp(WordScorer(), rule=Gates(), summarizer=Remote())
        waiting = asyncio.create_task(comp.acheckpoint(chat_of("prrrr")))
        await asyncio.sleep(0)
        answered.set()  # reached only because nothing is held up
        return bool((await waiting).commits)

    assert asyncio.run(agent())
