"""The gate inside Algorithm 1: what is asked for, what is committed, what waits and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.circumstances import JUST_AFTER, Circumstances
from statecomp.controller.controller import Controller
from statecomp.controller.economics import Economics
from statecomp.controller.horizon import Horizon
from statecomp.controller.prices import MILLION, PriceBook, Prices
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.situation import Situation
from statecomp.records.record import Record
from statecomp.records.writing.question import question
from statecomp.records.writing.summarize import prompt
from statecomp.replays.accounting import common_prefix
from statecomp.strategy import View
from statecomp.testing.words import BULK, OneLiner, WordScorer, chat_of, history_of, shape
from statecomp.tokens import ESTIMATE
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.placement import render
from tests.rules import paying

WORDS = st.text(alphabet="prko", min_size=1, max_size=30)
CLAUDE = Prices("claude", date(2026, 1, 1), 3.0, 0.3, 3.75, 15.0, 300, least_cached=0)
LOOSE = Gates(longer_than=0, min_source_tokens=0)
COLD = Circumstances(now_s=1000.0, last_s=0.0)


def economics(requests: float = 15.0, prices: Prices = CLAUDE) -> Economics:
    """So many requests to come count, and none of those already made: scores of words are sure."""
    book = PriceBook({prices.model: prices}, prices.model)
    horizon = Horizon(start=requests, growth=0.0)
    return paying(book, ahead=requests, least_tokens=0, horizon=horizon)


def rewrite(
    word: str,
    gate: Economics | None,
    now: Circumstances = JUST_AFTER,
    summarizer: OneLiner | None = None,
) -> View:
    controller = Controller(WordScorer(), summarizer or OneLiner(), OpenAIChat(), gate or LOOSE)
    return controller.rewrite(history_of(word), now)


def test_a_span_before_a_long_suffix_waits_and_the_refusal_holds_the_inequality() -> None:
    view = rewrite("prrkkkkkkkkkkkk", economics())
    assert view.commits == ()
    (refusal,) = view.refusals
    assert (refusal.first, refusal.last) == (1, 2)
    assert refusal.reason.startswith("does not pay yet: costs $")
    assert view.ruling is not None
    assert view.ruling.text == refusal.reason
    assert json.loads(json.dumps(view.ruling.as_json()))["cache"] == "warm"


def test_nobody_is_asked_for_a_summary_that_cannot_pay() -> None:
    summarizer = OneLiner()
    rewrite("prrkkkkkkkkkkkk", economics(), summarizer=summarizer)
    assert summarizer.calls == 0


def test_a_span_before_a_short_suffix_pays() -> None:
    view = rewrite("prrrrrrk", economics())
    assert shape(view.history) == "psk"
    assert view.ruling is not None
    assert view.ruling.commit
    assert view.ruling.net_dollars > 0


def test_ready_spans_go_in_one_rewrite_with_one_first_change() -> None:
    history = history_of("prrrrkrrrrkrrrrk")
    view = rewrite("prrrrkrrrrkrrrrk", economics(40.0))
    assert shape(view.history) == "psksksk"
    assert view.ruling is not None
    assert view.ruling.spans == 3
    unchanged, _ = common_prefix(history, view.history)
    assert unchanged == 1


@pytest.mark.parametrize(
    "now",
    [
        COLD,
        Circumstances(caching=False),
        Circumstances(window_tokens=4000),
        Circumstances(window_tokens=60_000, outside_tokens=55_000),
    ],
)
def test_a_cold_cache_no_cache_or_a_full_window_make_the_break_free(now: Circumstances) -> None:
    assert shape(rewrite("prrkkkkkkkkkkkk", economics(), now).history) == "pskkkkkkkkkkkk"


@pytest.mark.parametrize(
    "now",
    [
        Circumstances(now_s=299.0, last_s=0.0),
        Circumstances(now_s=1e9, last_s=None),  # nobody knows: then it may be warm
        replace(COLD, ttl_s=3600.0),
        replace(COLD, deferred=True),  # by the next request this one has filled the cache
        Circumstances(window_tokens=1_000_000),
    ],
)
def test_a_break_is_not_free_on_a_guess(now: Circumstances) -> None:
    assert rewrite("prrkkkkkkkkkkkk", economics(), now).commits == ()


def test_a_decision_for_the_next_request_finds_everything_sent_now_in_the_cache() -> None:
    history = history_of("prrrrrrk")
    now, later = (
        economics().market(history, Circumstances(deferred=deferred)) for deferred in (False, True)
    )
    assert later.cached_tokens == history.tokens
    assert now.cached_tokens == history.tokens - history.segments[-1].tokens


def test_a_model_in_the_request_is_priced_as_itself() -> None:
    dear = replace(CLAUDE, model="dear", cached=3.0, write=3.75)
    book = PriceBook({"claude": CLAUDE, "dear": dear}, "claude")
    gate = replace(economics(), book=book)
    view = rewrite("prrkkk", gate, Circumstances(model="vendor/dear-2026"))
    assert view.ruling is not None
    assert view.ruling.prices == "dear"


def test_a_paid_summary_must_pay_for_itself_too() -> None:
    paid = replace(economics(15.0), writer=lambda model: replace(CLAUDE, input=300.0))
    summarizer = OneLiner()
    assert rewrite("prrrrrrk", paid, summarizer=summarizer).commits == ()
    assert summarizer.calls == 0
    cheap = replace(paid, writer=lambda model: replace(CLAUDE, input=0.25, output=2.0))
    view = rewrite("prrrrrrk", cheap, COLD)
    assert view.commits
    assert view.ruling is not None
    assert view.ruling.summary_dollars > 0


def test_a_summary_is_expected_to_cost_what_its_question_really_takes() -> None:
    free = replace(CLAUDE, output=0.0)
    paid = replace(economics(), writer=lambda model: free)
    controller = Controller(WordScorer(), OneLiner(), OpenAIChat(), paid)

    def read_tokens(history: History) -> float:
        ruling = controller.rewrite(history, COLD).ruling
        assert ruling is not None
        return ruling.summary_dollars * MILLION / free.input

    def asked_tokens(history: History) -> float:
        span = history.interactions[:6]
        told = question([span], Situation.around(Span(1, 7), history, FactIndex()))
        return ESTIMATE(told) + ESTIMATE(prompt("summarize"))

    short = history_of("prrrrrrk")
    task, *steps = short.segments
    assert isinstance(task, Pinned)
    long = replace(short, segments=(replace(task, text="Mind the mill. " * 300), *steps))
    for history in (short, long):
        assert read_tokens(history) == pytest.approx(asked_tokens(history), rel=0.15)


def test_no_ruling_says_that_a_rewrite_pays_which_no_summary_could_be_had_for() -> None:
    class Silent:
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            raise SummaryFailed("the model did not answer")

    controller = Controller(WordScorer(), Silent(), OpenAIChat(), economics())
    view = controller.rewrite(history_of("prrrrrrk"))
    assert [refusal.reason for refusal in view.refusals] == ["the model did not answer"]
    assert view.ruling is None


def test_a_summary_longer_than_expected_is_judged_by_its_real_length() -> None:
    class Wordy:
        def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
            return Record(facts=(BULK * (len(span) - 1),))

    controller = Controller(WordScorer(), Wordy(), OpenAIChat(), economics())
    view = controller.rewrite(history_of("prrrrrrk"))
    assert view.commits == ()
    assert view.refusals[0].reason.startswith("does not pay yet")


def test_a_run_that_is_about_to_end_is_left_alone() -> None:
    assert rewrite("prrrrrrk", economics(1.0)).commits == ()


@settings(max_examples=40)
@given(WORDS, st.floats(1, 60), st.sampled_from([Circumstances(), COLD]))
def test_the_gate_keeps_the_propositions(word: str, requests: float, now: Circumstances) -> None:
    """Valid and never longer; shorter when committed; what is committed pays; same in, same out."""
    history = history_of(word)
    wire = OpenAIChat()
    view = rewrite(word, economics(requests), now)
    assert len(wire.check(render(view.history, wire))) <= len(wire.check(history.messages))
    if view.commits:
        assert view.history.tokens < history.tokens
        assert view.ruling is not None
        assert view.ruling.commit
        assert view.ruling.net_dollars > 0
    else:
        assert view.history.shape() == history.shape()
        assert view.ruling is None or not view.ruling.commit
    again = rewrite(word, economics(requests), now)
    assert json.dumps(again.history.messages) == json.dumps(view.history.messages)
    assert again.ruling == view.ruling


@settings(max_examples=40)
@given(WORDS)
def test_on_a_cold_cache_the_gate_changes_nothing_that_shortens(word: str) -> None:
    word += "k"  # what was sent only once stays
    free = rewrite(word, None)
    gated = rewrite(word, economics(), COLD)
    assert json.dumps(gated.history.messages) == json.dumps(free.history.messages)


@settings(max_examples=40)
@given(WORDS, st.floats(1, 40), st.floats(0, 40))
def test_a_longer_run_never_replaces_less(word: str, requests: float, more: float) -> None:
    short, long = (rewrite(word, economics(r)) for r in (requests, requests + more))
    assert long.history.tokens <= short.history.tokens


def test_long_runs_do_not_starve_and_commit_in_batches() -> None:
    """One interaction becomes ready with each request; the gate lets several gather."""
    comp = StateComp(AgeScorer(after=3), rule=paying(least_tokens=0))
    messages = chat_of("p" + "r" * 80)
    batches = []
    for k in range(1, 80):
        view = comp.checkpoint(messages[: 1 + 2 * k]).view
        assert view is not None
        if view.commits:
            batches.append(view.commits[-1].last - view.commits[0].first + 1)
    assert len(batches) >= 4
    assert sum(batches) / len(batches) >= 4
    assert sum(batches) > 50


@pytest.mark.parametrize(
    "wrong",
    [
        {"wariness": -1.0},
        {"wariness": float("nan")},
        {"ahead": -1.0},
        {"ahead": float("inf")},
        {"least_tokens": -1},
        {"ratio": 1.0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadInput):
        paying(**wrong)  # type: ignore[arg-type]  # one wrong number each


def test_an_empty_history_has_no_market_to_break() -> None:
    assert economics().market(History(()), Circumstances()).cached_tokens == 0


def test_of_the_requests_to_come_only_the_next_ones_count() -> None:
    """A rewrite that the next one would have made anyway is no reason to break a cache."""
    history = history_of("p" + "r" * 8)
    scores = dict.fromkeys((step.id for step in history.interactions), 1.0)
    span = Span(1, 3)

    def counted(ahead: float, expected: float) -> float:
        rule = paying(ahead=ahead, horizon=Horizon(start=expected, growth=0.0))
        ruling = rule.judge(history, [span], scores, JUST_AFTER).ruling
        assert ruling is not None
        return ruling.requests

    assert counted(4.0, 100.0) == counted(4.0, 50.0)
    assert counted(4.0, 2.0) == counted(2.0, 50.0)
    assert counted(4.0, 50.0) - counted(2.0, 50.0) == pytest.approx(2.0)
