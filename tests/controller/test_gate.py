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


def offer(
    before: int,
    source: int,
    summary: int,
    requests: float,
    ask_dollars: float = 0.0,
    risk_dollars: float = 0.0,
) -> Offer:
    """One span of which nobody will want anything again."""
    saved = source - summary
    return Offer(
        before, source, summary, saved, saved * requests, risk_dollars, ask_dollars=ask_dollars
    )


def offers_of(
    plan: list[tuple[int, int, int]],
    requests: float = 15.0,
    ask_dollars: float = 0.0,
    risk_dollars: float = 0.0,
) -> list[Offer]:
    """(tokens kept in front, source, summary) for each span, in history order."""
    offers, before = [], 0
    for kept, source, summary in plan:
        offers.append(offer(before + kept, source, summary, requests, ask_dollars, risk_dollars))
        before += kept + source
    return offers


MARKETS = st.builds(Market, PRICES, st.integers(0, 40_000))
REQUESTS = st.floats(1, 60)


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
    offers = offers_of(plan, float(requests))
    whole = joined(offers)
    total = offers[-1].before_tokens + offers[-1].source_tokens + tail
    cached = int(total * warm)

    def bill(length: int, unchanged: int) -> float:
        first = prices.dollars(input_tokens=length, unchanged=unchanged)
        return first + (requests - 1) * prices.dollars(input_tokens=length, unchanged=length)

    shorter = bill(total - whole.saved_tokens, min(cached, whole.before_tokens))
    ruling = Market(prices, cached).rule(whole)
    assert ruling.net_dollars == pytest.approx(bill(total, cached) - shorter, abs=1e-12)


@given(PLANS, MARKETS, REQUESTS)
def test_no_other_choice_of_spans_gains_more(
    plan: list[tuple[int, int, int]], now: Market, requests: float
) -> None:
    offers = offers_of(plan, requests)
    verdict = decide(offers, now)
    gained = verdict.ruling.net_dollars if verdict.ruling and verdict.taken else 0.0
    for size in range(1, len(offers) + 1):
        for chosen in combinations(offers, size):
            assert now.rule(joined(list(chosen))).net_dollars <= gained + 1e-12


@given(PLANS, MARKETS, REQUESTS, st.floats(0, 0.05), st.floats(0, 0.05))
def test_what_is_taken_pays_by_its_own_estimate(
    plan: list[tuple[int, int, int]], now: Market, requests: float, ask: float, risk: float
) -> None:
    verdict = decide(offers_of(plan, requests, ask, risk), now)
    if verdict.taken:
        ruling = verdict.ruling
        assert ruling is not None
        assert ruling.commit
        assert ruling.net_dollars > 0
        assert ruling.pays_at is None


@given(PLANS, MARKETS, REQUESTS, st.floats(0, 0.05), st.floats(0, 50))
def test_more_requests_that_count_never_take_less(
    plan: list[tuple[int, int, int]], now: Market, requests: float, ask: float, more: float
) -> None:
    few, many = (offers_of(plan, r, ask) for r in (requests, requests + more))
    assert set(decide(few, now).taken) <= set(decide(many, now).taken)


@given(PLANS, MARKETS, REQUESTS)
def test_what_does_not_pay_yet_pays_at_the_request_it_names(
    plan: list[tuple[int, int, int]], now: Market, requests: float
) -> None:
    """Each further request counts one more; nothing else changes."""
    whole = joined(offers_of(plan, requests, risk_dollars=0.01))
    ruling = replace(now, number=10).rule(whole)
    if ruling.pays_at is None:
        assert ruling.commit or whole.saved_tokens <= 0
        return
    more = ruling.pays_at - 10 + 0.01
    later = replace(whole, counted_tokens=whole.sure_tokens * (requests + more))
    assert now.rule(later).commit
    before = replace(whole, counted_tokens=whole.sure_tokens * (requests + more - 1.02))
    assert not now.rule(before).commit


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
    offers = offers_of(plan, ask_dollars=100.0, risk_dollars=100.0)
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
    early = offer(1000, 300, 200, 15.0)
    late = offer(60_000, 8000, 1000, 15.0)
    verdict = decide([early, late], Market(CLAUDE, 69_000))
    assert verdict.taken == (1,)
    assert verdict.waits[0].startswith("does not pay yet: costs $0.23")


def test_two_spans_that_do_not_pay_alone_pay_in_one_rewrite() -> None:
    """Together they break the cache once."""
    first = offer(2000, 3000, 500, 15.0)
    second = offer(5200, 3000, 500, 15.0)
    now = Market(CLAUDE, 12_000)
    assert [now.rule(offer).commit for offer in (first, second)] == [False, False]
    assert decide([first, second], now).taken == (0, 1)


def test_a_span_not_worth_its_summary_is_left_out_of_a_rewrite_that_pays() -> None:
    small = offer(20_000, 400, 390, 15.0, ask_dollars=0.01)
    large = offer(10_000, 9000, 900, 15.0, ask_dollars=0.01)
    verdict = decide([large, small], Market(CLAUDE, 20_400))
    assert verdict.taken == (0,)
    assert "through 15.0 requests" in verdict.waits[1]


def test_what_a_summary_has_cost_is_told_but_decides_nothing() -> None:
    written = replace(offer(0, 5000, 1000, 20.0), spent_dollars=1.0)
    verdict = decide([written], Market(CLAUDE, 5000))
    assert verdict.taken == (0,)
    assert verdict.ruling is not None
    assert verdict.ruling.summary_dollars == 1.0
    assert verdict.ruling.net_dollars < 0


def test_the_ruling_says_the_inequality_in_words_and_as_a_mapping() -> None:
    now = Market(CLAUDE, 50_000, number=40)
    waits = now.rule(offer(10_000, 4000, 1000, 10.0, risk_dollars=0.001))
    assert waits.text == (
        "does not pay yet: costs $0.1277 (cache $0.1277, records $0.0000) against "
        "$0.0090 for carrying 3,000 tokens through 10.0 requests; "
        "would pay from about request 172 on"
    )
    told = waits.as_json()
    assert told["rewritten_tokens"] == 37_000
    assert told["net_dollars"] == pytest.approx(0.0090 - 0.12765)
    assert told["commit"] is False
