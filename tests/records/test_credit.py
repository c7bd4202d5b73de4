"""What a writer may cost: a purse a conversation, one a day, a share for refusals, a breaker."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.compressor import StateComp
from statecomp.controller.spans import Gates
from statecomp.history.interaction import Interaction, Observation
from statecomp.history.situation import Situation
from statecomp.llm.chat import ChatFailed, ChatUsage, Completion, QuestionFailed
from statecomp.llm.side import SideAccount
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.writing.credit import (
    FREE_REFUSALS,
    LONGEST_PAUSE_S,
    REFUSED_SHARE,
    REST_S,
    Breaker,
    Credit,
    DayPurse,
    Purse,
)
from statecomp.records.writing.writer import ModelWriter
from statecomp.testing.chat import Asked, Reply, ScriptedChat
from statecomp.testing.words import WordScorer, chat_of, shape
from statecomp.writers import ModelRecords

GOOD = json.dumps({"facts": ["the parts were looked at, all of them fine"]})
PROSE = "I looked at the parts."


class Clock:
    """Days and seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.day, self.now = date(2026, 11, 18), 0.0

    def today(self) -> date:
        return self.day

    def __call__(self) -> float:
        return self.now


def span(*numbers: int, tokens: int = 400) -> list[Interaction]:
    text = "\n".join(f"part {n} is checked and fine" for n in range(80))
    return [
        Interaction(f"i{n}", n, (), tokens, observations=(Observation(f"c{n}", text),))
        for n in numbers
    ]


def writer(
    *replies: str | ChatFailed, credit: Credit, price: float = 1.0
) -> tuple[ModelWriter, ScriptedChat, SideAccount]:
    chat, account = ScriptedChat(replies), SideAccount()
    made = ModelWriter(
        chat, ExtractiveSummarizer(), account, credit=credit, price=lambda usage: price
    )
    return made, chat, account


def remarks(account: SideAccount) -> str:
    return " ".join(account.heard())


def test_the_purse_of_a_day_is_never_overdrawn_and_full_again_the_next() -> None:
    clock = Clock()
    purse = DayPurse(2.0, today=clock.today)
    made, chat, account = writer(GOOD, GOOD, GOOD, credit=Credit((purse,)))
    for number in range(3):
        made.summarize(span(number), Situation())
    assert len(chat.asked) == 2
    assert purse.spent == 2.0
    assert "$2.00 of $2.00 for records is spent" in remarks(account)
    clock.day += timedelta(days=1)
    made.summarize(span(9), Situation())
    assert len(chat.asked) == 3
    assert purse.spent == 1.0


def test_the_purse_of_the_day_is_shared_and_that_of_a_conversation_is_not() -> None:
    day = DayPurse(3.0)
    one, asked_by_one, _ = writer(GOOD, GOOD, credit=Credit((Purse(2.0), day)))
    two, asked_by_two, account = writer(GOOD, GOOD, credit=Credit((Purse(2.0), day)))
    for number in (1, 2):
        one.summarize(span(number), Situation())
        two.summarize(span(number), Situation())
    assert (len(asked_by_one.asked), len(asked_by_two.asked)) == (2, 1)
    assert "$3.00 of $3.00" in remarks(account)


def test_what_one_conversation_is_asking_for_is_not_promised_to_another() -> None:
    day = DayPurse(1.5)
    two, asked_by_two, account = writer(GOOD, credit=Credit((day,)))

    def meanwhile(asked: Asked) -> Reply:
        two.summarize(span(2), Situation())
        return GOOD

    chat = ScriptedChat(meanwhile)
    one = ModelWriter(
        chat, ExtractiveSummarizer(), SideAccount(), credit=Credit((day,)), price=lambda usage: 1.0
    )
    one.summarize(span(1), Situation())
    assert (len(chat.asked), len(asked_by_two.asked)) == (1, 0)
    assert "for records is spent" in remarks(account)
    assert (day.spent, day.held) == (1.0, 0.0)


def test_the_longest_answer_there_could_be_is_counted_before_it_is_asked_for() -> None:
    """And so is telling its writer what it made up."""
    purse = Purse(0.1)
    told = json.dumps({"facts": ["it read /srv/never.db", "all parts were fine"]})
    long = Completion(told, ChatUsage(6_000, 8_000))
    mend = Completion('{"entries": []}', ChatUsage(2_000, 1_000))
    chat = ScriptedChat([long, mend] * 9)
    made = ModelWriter(
        chat,
        ExtractiveSummarizer(),
        SideAccount(),
        credit=Credit((purse,)),
        price=lambda usage: (usage.input_tokens + 5 * usage.output_tokens) / 1e6,
    )
    for number in range(9):
        made.summarize(span(*range(10 * number, 10 * number + 9)), Situation())
    assert 0 < purse.spent <= purse.limit_dollars


def test_the_purse_of_a_conversation_does_not_fill_again_overnight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = ModelRecords(ExtractiveSummarizer(), session_dollars=2.0, day_dollars=2.0)
    made, chat, account = writer(GOOD, GOOD, GOOD, credit=records.credit())
    made.summarize(span(1), Situation())
    made.summarize(span(2), Situation())
    monkeypatch.setattr("statecomp.records.writing.credit.datetime", Tomorrow)
    made.summarize(span(3), Situation())
    assert len(chat.asked) == 2
    assert "$2.00 of $2.00 for records is spent" in remarks(account)


class Tomorrow(datetime):
    """The clock on the wall, a day later."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Tomorrow:
        return super().now(tz) + timedelta(days=1)


def test_refusals_in_one_conversation_are_not_held_against_another() -> None:
    day = DayPurse(100.0)
    bad, asked_in_vain, _ = writer(*[PROSE] * 9, credit=Credit((Purse(50.0), day)))
    for number in range(9):
        bad.summarize(span(number), Situation())
    assert len(asked_in_vain.asked) == FREE_REFUSALS
    good, asked, account = writer(GOOD, credit=Credit((Purse(50.0), day)))
    good.summarize(span(1), Situation())
    assert len(asked.asked) == 1, remarks(account)


@given(st.lists(st.booleans(), max_size=60))
def test_no_more_than_a_share_goes_into_records_that_cannot_be_used(usable: list[bool]) -> None:
    purse = Purse(1000.0)
    for good in usable:
        if not purse.take(1.0):
            purse.give_back(1.0)
            purse.pay(1.0)
            if not good:
                purse.waste(1.0)
        assert purse.refused <= max(FREE_REFUSALS, REFUSED_SHARE * purse.spent)


def test_what_is_being_asked_for_counts_as_if_it_were_refused() -> None:
    purse = Purse(1000.0)
    assert [bool(purse.take(1.0)) for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("grown", [True, False])
def test_who_could_use_nothing_is_asked_again_when_more_was_spent_or_an_hour_later(
    grown: bool,
) -> None:
    clock, elsewhere = Clock(), [0.0]
    purse = Purse(1000.0, lambda since_s: elsewhere[0], clock=clock)
    made, chat, account = writer(*[PROSE] * 9, credit=Credit((purse,)))
    for number in range(4):
        made.summarize(span(number), Situation())
    assert len(chat.asked) == FREE_REFUSALS
    told = "$2.00 went into records that could not be used, and more than 25% of $2.00 shall not"
    assert told in remarks(account)
    if grown:
        elsewhere[0] = 12.0
    else:
        clock.now += REST_S
    for number in range(5, 9):
        made.summarize(span(number), Situation())
    assert len(chat.asked) == FREE_REFUSALS + 1


def test_what_was_refused_is_asked_for_again_when_it_has_doubled() -> None:
    made, chat, account = writer(PROSE, GOOD, credit=Credit())
    assert made.summarize(span(1), Situation()).facts
    made.summarize(span(1), Situation())
    assert len(chat.asked) == 1
    assert "a record of part of it was refused before" in remarks(account)
    made.summarize(span(1, 2), Situation())
    assert len(chat.asked) == 2


def test_a_writer_that_fails_is_left_alone_longer_each_time() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    pauses = []
    for _ in range(9):
        breaker.failed("503", passing=True)
        breaker.failed("503", passing=True)
        began = clock.now
        while breaker.open:
            clock.now += 30.0
        pauses.append(clock.now - began)
    assert pauses == sorted(pauses)
    assert pauses[-1] <= LONGEST_PAUSE_S
    breaker.answered()
    breaker.failed("503", passing=True)
    assert not breaker.open, "one failure after a good answer proves nothing"


def test_an_answer_that_is_no_text_is_refused_like_any_other_and_silences_nobody() -> None:
    useless = QuestionFailed("the answer was cut off at its token limit", usage=ChatUsage(900, 40))
    credit = Credit((Purse(9.0),))
    made, chat, account = writer(useless, GOOD, credit=credit)
    made.summarize(span(1), Situation())
    assert "cut off" in remarks(account)
    assert not made.is_silent()
    made.summarize(span(1), Situation())
    assert "a record of part of it was refused before" in remarks(account)
    made.summarize(span(2), Situation())
    assert len(chat.asked) == 2
    assert not remarks(account)
    assert (credit.purses[0].spent, credit.purses[0].refused) == (2.0, 1.0)


def test_where_the_extract_does_not_pass_either_the_span_stays() -> None:
    made, chat, account = writer(PROSE, credit=Credit())
    gates = Gates(longer_than=0, min_source_tokens=1)
    engine = StateComp(WordScorer(), rule=gates, summarizer=made)
    view = engine.checkpoint(chat_of("prk", bulk="fine")).view
    assert view is not None
    assert (shape(view.history), len(chat.asked)) == ("prk", 1)
    assert "an extract, because the summary is not JSON" in remarks(account)
    assert "tokens would replace" in view.refusals[0].reason


@pytest.mark.parametrize("retryable", [True, False])
def test_what_will_not_pass_is_not_asked_twice(retryable: bool) -> None:
    failure = ChatFailed("the key may not use that model", retryable=retryable)
    made, chat, account = writer(failure, failure, failure, credit=Credit())
    for number in range(4):
        assert made.summarize(span(number), Situation()).facts, "the extract stands"
    assert len(chat.asked) == (2 if retryable else 1)
    assert "an extract, because" in remarks(account)
