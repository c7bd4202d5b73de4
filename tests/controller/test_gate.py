"""The economic gate: its inequality is the bill's, and the rewrite it takes is the best one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.controller.gate import Market, Offer, decide
from statecomp.controller.prices import Prices

CLAUDE = Prices("claude", date(2026, 1, 1), 3.0, 0.3, 3.75, 15.0, 300, least_cached=0)
AUTOMATIC = replace(CLAUDE, model="automatic", write=3.0)
PRICES = st.sampled_from([CLAUDE, AUTOMATIC, CLAUDE.uncached()])
PLANS = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(1, 5000), st.integers(0, 6000)),
    min_size=1,
    max_size=6,
)


def offers_of(plan: list[tuple[int, int, int]], ask_dollars: float = 0.0) -> list[Offer]:
    """(tokens kept in front, source, summary) for each span, in history order."""
    offers, before = [], 0
    for kept, source, summary in plan:
        offers.append(Offer(before + kept, source, summary, ask_dollars))
        before += kept + source
    return offers


def market(prices: Prices, cached: int, requests: float, margin: float = 1.0) -> Market:
    return Market(prices, cached, requests, margin)


MARKETS = st.builds(
    market, PRICES, st.integers(0, 40_000), st.floats(1, 60), st.sampled_from([1.0, 2.0])
)


def joined(offers: list[Offer]) -> Offer:
    whole = None
    for offer in reversed(offers):
        whole = offer.with_later(whole)
    assert whole is not None
    return whole


@given(PLANS, PRICES, st.integers(1, 12), st.integers(0, 5000), st.floats(0, 1))
def test_the_inequality_is_the_difference_of_two_bills(
    plan: list[tuple[int, int, int]], prices: Prices, requests: int, tail: int, warm: float
) -> None:
    """Proposition E.3 in dollars: the same requests with and without the rewrite, added up."""
    offers = offers_of(plan)
    whole = joined(offers)
    total = offers[-1].before_tokens + offers[-1].source_tokens + tail
    cached = int(total * warm)

    def bill(length: int, unchanged: int) -> float:
        first = prices.dollars(input_tokens=length, unchanged=unchanged)
        return first + (requests - 1) * prices.dollars(input_tokens=length, unchanged=length)

    shorter = bill(total - whole.saved_tokens, min(cached, whole.before_tokens))
    ruling = market(prices, cached, float(requests)).rule(whole)
    assert ruling.net_dollars == pytest.approx(bill(total, cached) - shorter, abs=1e-12)


@given(PLANS, MARKETS)
def test_no_other_choice_of_spans_gains_more(plan: list[tuple[int, int, int]], now: Market) -> None:
    now = replace(now, margin=1.0)
    offers = offers_of(plan)
    verdict = decide(offers, now)
    gained = verdict.ruling.net_dollars if verdict.ruling and verdict.taken else 0.0
    for size in range(1, len(offers) + 1):
        for chosen in combinations(offers, size):
            assert now.rule(joined(list(chosen))).net_dollars <= gained + 1e-12


@given(PLANS, MARKETS, st.floats(0, 0.05))
def test_what_is_taken_pays_by_its_own_estimate(
    plan: list[tuple[int, int, int]], now: Market, ask: float
) -> None:
    verdict = decide(offers_of(plan, ask), now)
    if verdict.taken:
        ruling = verdict.ruling
        assert ruling is not None
        assert ruling.commit
        assert ruling.net_dollars > 0
        assert ruling.saving_dollars > now.margin * ruling.cost_dollars


@given(PLANS, MARKETS, st.floats(0, 0.05), st.floats(0, 50))
def test_more_requests_to_come_never_take_less(
    plan: list[tuple[int, int, int]], now: Market, ask: float, more: float
) -> None:
    offers = offers_of(plan, ask)
    longer = replace(now, requests=now.requests + more)
    assert set(decide(offers, now).taken) <= set(decide(offers, longer).taken)


@given(PLANS, MARKETS)
def test_a_cold_cache_takes_everything_that_saves(
    plan: list[tuple[int, int, int]], now: Market
) -> None:
    offers = offers_of(plan)
    verdict = decide(offers, replace(now, cached_tokens=0, cache="cold"))
    assert verdict.taken == tuple(p for p, offer in enumerate(offers) if offer.saved_tokens > 0)


@given(PLANS, MARKETS)
def test_a_full_window_takes_everything_that_saves_whatever_it_costs(
    plan: list[tuple[int, int, int]], now: Market
) -> None:
    offers = offers_of(plan, ask_dollars=100.0)
    verdict = decide(offers, replace(now, forced=True))
    assert verdict.taken == tuple(p for p, offer in enumerate(offers) if offer.saved_tokens > 0)


@given(PLANS, MARKETS)
def test_every_span_is_taken_or_told_why_not_and_the_answer_is_always_the_same(
    plan: list[tuple[int, int, int]], now: Market
) -> None:
    offers = offers_of(plan)
    verdict = decide(offers, now)
    assert set(verdict.taken) | set(verdict.waits) == set(range(len(offers)))
    assert set(verdict.taken).isdisjoint(verdict.waits)
    assert decide(list(offers), now) == verdict


def test_an_early_span_that_would_rewrite_too_much_waits_for_a_later_one_that_pays() -> None:
    early = Offer(before_tokens=1000, source_tokens=300, summary_tokens=200)
    late = Offer(before_tokens=60_000, source_tokens=8000, summary_tokens=1000)
    verdict = decide([early, late], market(CLAUDE, 69_000, 15.0))
    assert verdict.taken == (1,)
    assert verdict.waits[0].startswith("not yet: would cost $0.23")


def test_two_spans_that_do_not_pay_alone_pay_in_one_rewrite() -> None:
    """Together they break the cache once."""
    first = Offer(before_tokens=2000, source_tokens=3000, summary_tokens=500)
    second = Offer(before_tokens=5200, source_tokens=3000, summary_tokens=500)
    now = market(CLAUDE, 12_000, 15.0)
    assert [now.rule(offer).commit for offer in (first, second)] == [False, False]
    assert decide([first, second], now).taken == (0, 1)


def test_a_span_not_worth_its_summary_is_left_out_of_a_rewrite_that_pays() -> None:
    small = Offer(before_tokens=20_000, source_tokens=400, summary_tokens=390, ask_dollars=0.01)
    large = Offer(before_tokens=10_000, source_tokens=9000, summary_tokens=900, ask_dollars=0.01)
    verdict = decide([large, small], market(CLAUDE, 20_400, 15.0))
    assert verdict.taken == (0,)
    assert "over 15.0 requests" in verdict.waits[1]


def test_what_a_summary_has_cost_is_told_but_decides_nothing() -> None:
    written = Offer(before_tokens=0, source_tokens=5000, summary_tokens=1000, spent_dollars=1.0)
    verdict = decide([written], market(CLAUDE, 5000, 20.0))
    assert verdict.taken == (0,)
    assert verdict.ruling is not None
    assert verdict.ruling.summary_dollars == 1.0
    assert verdict.ruling.net_dollars < 0


def test_the_ruling_says_the_inequality_in_words_and_as_a_mapping() -> None:
    waits = market(CLAUDE, 50_000, 10.0, margin=2.0).rule(Offer(10_000, 4000, 1000))
    assert waits.text == (
        "not yet: would cost $0.1277 to save $0.0090 over 10.0 requests, "
        "and 2 times the cost is asked"
    )
    told = waits.as_json()
    assert told["rewritten_tokens"] == 37_000
    assert told["net_dollars"] == pytest.approx(0.0090 - 0.12765)
    assert told["commit"] is False
