"""Spans that do not fit into one question are asked for in several, all at the same time."""

from __future__ import annotations

import json
import re
from threading import Barrier

import pytest

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import Span
from statecomp.history.situation import Situation
from statecomp.llm.chat import ChatFailed, ChatUsage
from statecomp.llm.side import SideAccount
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.writing.credit import Credit, Purse
from statecomp.records.writing.summarize import AT_ONCE, BATCH_SPANS, ChatSummarizer
from statecomp.records.writing.writer import ModelWriter
from statecomp.testing.chat import Asked, Reply, ScriptedChat
from statecomp.testing.words import history_of

TWO = 2 * BATCH_SPANS
PATIENCE_S = 60.0
STAYING = "situation: steps that stay word for word]\n"


def stretches(count: int) -> tuple[list[Span], Situation]:
    """So many spans of one step each, and where the agent stands before the last of them."""
    history = history_of("p" + "rk" * count)
    spans = [Span(1 + 2 * place, 2 + 2 * place) for place in range(count)]
    facts = FactIndex(history.segments)
    return spans, Situation.around(spans[-1], history, facts, spans[:-1])


def steps_in(asked: Asked) -> list[int]:
    told = re.findall(r"a stretch of its own, steps (\d+) to", asked.prompt)
    return [int(step) for step in told] or [
        int(re.findall(r" step (\d+) call\]", asked.prompt)[-1])
    ]


def good(asked: Asked) -> Reply:
    facts = [{"first": n, "last": n, "facts": [f"step {n} was fine"]} for n in steps_in(asked)]
    return json.dumps({"again": [], "records": facts})


def test_questions_of_one_rewrite_are_on_their_way_together() -> None:
    """Each answer waits for the other question: one after the other, they would never come."""
    together = Barrier(2)

    def answer(asked: Asked) -> Reply:
        together.wait(PATIENCE_S)
        return good(asked)

    chat = ScriptedChat(answer)
    history = history_of("p" + "rk" * TWO)
    _, situation = stretches(TWO)
    summarizer = ChatSummarizer(chat)
    for member in reversed(history.interactions[::2]):
        record = summarizer.summarize([member], situation)
        assert record.facts == (f"step {member.number} was fine",)
        situation = Situation(also=situation.also[:-1])
    assert sorted(len(steps_in(asked)) for asked in chat.asked) == [BATCH_SPANS, BATCH_SPANS]


def test_no_more_than_a_few_at_a_time() -> None:
    chat = ScriptedChat(good)
    history = history_of("p" + "rk" * BATCH_SPANS * (AT_ONCE + 2))
    _, situation = stretches(BATCH_SPANS * (AT_ONCE + 2))
    ChatSummarizer(chat).summarize([history.interactions[-2]], situation)
    assert len(chat.asked) == AT_ONCE


def test_one_that_fails_costs_its_own_spans_and_is_not_asked_twice() -> None:
    def answer(asked: Asked) -> Reply:
        if 1 in steps_in(asked):
            return ChatFailed("the server is gone", usage=ChatUsage(100, 0))
        return good(asked)

    chat = ScriptedChat(answer)
    history = history_of("p" + "rk" * TWO)
    _, situation = stretches(TWO)
    heard: list[str] = []
    summarizer = ChatSummarizer(chat, on_side_call=lambda kind, usage: heard.append(kind))
    summarizer.summarize([history.interactions[-2]], situation)
    assert heard == ["summary", "summary"]
    with pytest.raises(SummaryFailed, match="the server is gone"):
        summarizer.summarize([history.interactions[0]], Situation())
    assert len(chat.asked) == 2


def test_what_the_purse_cannot_pay_is_not_asked_along() -> None:
    chat, account, purse = ScriptedChat(good), SideAccount(), Purse(1.5)
    credit = Credit((purse,))
    writer = ModelWriter(
        chat, ExtractiveSummarizer(), account, price=lambda usage: 1.0, credit=credit
    )
    history = history_of("p" + "rk" * TWO)
    _, situation = stretches(TWO)
    writer.summarize([history.interactions[-2]], situation)
    assert len(chat.asked) == 1
    assert purse.spent == 1.0
    writer.summarize([history.interactions[0]], Situation())
    assert len(chat.asked) == 1
    assert "for records is spent" in " ".join(account.heard())


def test_what_was_refused_is_not_asked_along() -> None:
    chat = ScriptedChat(lambda asked: "no record" if steps_in(asked) == [1] else good(asked))
    writer = ModelWriter(chat, ExtractiveSummarizer(), SideAccount())
    history = history_of("p" + "rk" * 3)
    spans, situation = stretches(3)
    writer.summarize(history.members(spans[0]), Situation())
    writer.summarize(history.members(spans[2]), situation)
    assert [steps_in(asked) for asked in chat.asked] == [[1], [3, 5]]
    # Nor is it said to stay: it is replaced as well, by an extract.
    assert f"{STAYING}2, 4, 6\n" in chat.asked[1].prompt


def test_every_question_is_paid_for_once_and_a_failed_one_opens_the_breaker() -> None:
    def answer(asked: Asked) -> Reply:
        if 1 in steps_in(asked):
            return ChatFailed("no such model", usage=ChatUsage(100, 0))
        return good(asked)

    chat, account, purse = ScriptedChat(answer), SideAccount(), Purse(10.0)
    credit = Credit((purse,))
    writer = ModelWriter(
        chat, ExtractiveSummarizer(), account, price=lambda usage: 1.0, credit=credit
    )
    history = history_of("p" + "rk" * TWO)
    _, situation = stretches(TWO)
    for member in reversed(history.interactions[::2]):
        writer.summarize([member], situation)
        situation = Situation(also=situation.also[:-1])
    assert len(account.drain()) == len(chat.asked) == 2
    assert purse.spent == 2.0
    assert purse.refused == 1.0
    assert "no such model" in credit.breaker.open


def test_the_writer_is_told_which_steps_stay() -> None:
    chat = ScriptedChat(good)
    history = history_of("p" + "rk" * 3)
    _, situation = stretches(3)
    ChatSummarizer(chat).summarize([history.interactions[-2]], situation)
    assert f"{STAYING}2, 4, 6\n" in chat.asked[0].prompt


def test_a_finished_task_is_asked_for_alone_shorter_and_nothing_of_it_is_kept() -> None:
    spans, situation = stretches(2)
    history = history_of("prkrk")
    said = {"again": [{"step": 1, "chance": 90, "why": "quoted"}], "records": []}
    chat = ScriptedChat([json.dumps({"facts": ["all went well"]}), json.dumps(said)])
    done = Situation(situation.rest, finished=True)
    summarizer = ChatSummarizer(chat)
    assert summarizer.summarize(history.interactions[:2], done).facts == ("all went well",)
    assert "moved on to another task" in chat.asked[0].system
    assert "Keep nothing" in chat.asked[0].system
    with pytest.raises(SummaryFailed):
        summarizer.summarize(history.interactions[:2], done)
    assert spans
