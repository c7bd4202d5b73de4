"""Where a model writes records less is demanded; of an extract that stands in for it, it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import pytest

from statecomp.compressor import StateComp
from statecomp.controller.circumstances import AFTER_A_BREAK
from statecomp.controller.controller import Controller
from statecomp.controller.economics import Economics
from statecomp.controller.judging import Judging
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.llm.chat import ChatFailed
from statecomp.llm.side import SideAccount
from statecomp.recipes import RECIPES
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import STANDS_IN, Objection, Record
from statecomp.records.writing.credit import FIRST_PAUSE_S, Breaker, Credit, DayPurse
from statecomp.records.writing.writer import ModelWriter
from statecomp.strategy import Summarizer, View
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.words import OneLiner, history_of
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.records.test_credit import GOOD, span

WARY = Economics(wariness=1e6, ahead=50.0, ratio=0.1)
BOLD = Economics(wariness=0.0, ahead=50.0, ratio=0.1, extracts=WARY)


class NearlySure:
    def score(self, history: History) -> Mapping[str, float]:
        return {i.id: 0.99 for i in history.interactions}


@dataclass
class Scribe(OneLiner):
    """Asks nobody; it is silent from the start, or falls silent when it is first asked."""

    silent: bool = False
    falls: bool = False
    keeps: int = 0  # a step it wants kept
    asked: int = 0
    stand_in: Summarizer = field(default_factory=OneLiner)

    def is_silent(self) -> bool:
        return self.silent

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        self.asked += 1
        self.silent = self.silent or self.falls
        if any(member.number == self.keeps for member in span):
            raise Objection({self.keeps: "its text is needed"}, {})
        record = super().summarize(span, situation)
        return replace(record, by=f"{STANDS_IN} nobody answers") if self.silent else record


def decided(scribe: Scribe, rule: Economics = BOLD) -> View:
    engine = StateComp(NearlySure(), rule=rule, summarizer=scribe, holds=False)
    return engine.after_break(history_of("p" + "r" * 8))


def test_while_the_writer_answers_its_records_are_judged_as_its_own() -> None:
    assert decided(Scribe()).commits


@pytest.mark.parametrize("scribe", [Scribe(silent=True), Scribe(falls=True)], ids=str)
def test_extracts_that_stand_in_are_judged_by_the_rule_for_extracts(scribe: Scribe) -> None:
    assert not decided(scribe).commits


def test_what_is_sure_enough_for_an_extract_goes_also_while_nobody_answers() -> None:
    rule = Economics(wariness=0.0, ahead=50.0, ratio=0.1, extracts=BOLD)
    assert decided(Scribe(silent=True), rule).commits
    assert decided(Scribe(falls=True), rule).commits


def test_what_was_objected_to_before_it_fell_silent_stays() -> None:
    rule = Economics(wariness=0.0, ahead=50.0, ratio=0.1, extracts=BOLD)
    view = decided(Scribe(falls=True, keeps=3), rule)
    assert view.commits
    assert not any(commit.first <= 3 <= commit.last for commit in view.commits)


def test_a_writer_that_answers_again_is_asked_for_what_an_extract_stood_in_for() -> None:
    """An extract kept as if the writer had written it would be judged as a record of the writer."""
    scribe = Scribe(falls=True)
    judging = Judging(Controller(NearlySure(), scribe, OpenAIChat(), BOLD))
    history = history_of("p" + "r" * 8)

    def judged() -> None:
        judging.judged(history, AFTER_A_BREAK, 0, lambda sources: False)

    judged()
    scribe.silent, scribe.falls, asked = False, False, scribe.asked
    judged()
    assert scribe.asked == asked + 1


def test_a_record_that_spent_the_last_of_a_budget_is_the_models_all_the_same() -> None:
    @dataclass
    class Last(Scribe):
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            record = super().summarize(span, situation)
            self.silent = True
            return record

    assert decided(Last()).commits


def test_a_writer_is_silent_while_no_record_can_be_paid_for() -> None:
    days = [date(2026, 11, 1), date(2026, 11, 2)]
    purse = DayPurse(2.0, today=lambda: days[0])
    writer = ModelWriter(
        ScriptedChat([GOOD]),
        ExtractiveSummarizer(),
        SideAccount(),
        price=lambda usage: 0.75,
        credit=Credit((purse,)),
    )
    assert not writer.is_silent()
    purse.pay(1.5)
    assert writer.is_silent()
    days.pop(0)
    assert not writer.is_silent()


def test_a_recipe_has_the_usual_wariness_for_extracts_that_stand_in() -> None:
    recipe = RECIPES["balanced"]
    rule = recipe.rule(ratio=0.15, writer=lambda model: BOLD.book.nearest(model))
    assert isinstance(rule, Economics)
    assert (rule.wariness, rule.for_extracts()) == (recipe.wariness / 2, recipe.rule())


def test_a_writer_is_silent_from_a_question_without_an_answer_until_the_next_good_one() -> None:
    now = [0.0]
    breaker = Breaker(lambda: now[0])
    chat = ScriptedChat([ChatFailed("no answer in time", retryable=True), GOOD])
    writer = ModelWriter(
        chat, ExtractiveSummarizer(), SideAccount(), credit=Credit(breaker=breaker)
    )
    assert not writer.is_silent()
    writer.summarize(span(1), Situation())
    assert writer.is_silent()
    assert not breaker.open, "it is asked again"
    writer.summarize(span(2), Situation())
    assert not writer.is_silent()
    breaker.failed("no answer", passing=True)
    now[0] += FIRST_PAUSE_S
    assert not writer.is_silent(), "nobody knows by now"
