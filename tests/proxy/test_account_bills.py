"""What a request costs: with a cache where there is one, and as a whole request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.controller.prices import MILLION, Prices, shipped_prices
from statecomp.history.history import History
from statecomp.ledger.audit import Request
from statecomp.proxy.account.bills import Biller, Cached
from statecomp.proxy.account.exchange import Exchange
from statecomp.testing.words import BULK, history_of
from statecomp.tokens.usage import Usage
from tests.proxy.small_upstream import KEY, REPLY, Answer, Got, Running, SmallUpstream, running

BOOK = shipped_prices()
MARK = {"cache_control": {"type": "ephemeral"}}


def agent(steps: int, **last: Any) -> list[dict[str, Any]]:
    """A history of an Anthropic client, long enough to be cached."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go on"}]
    for n in range(steps):
        call = {"type": "tool_use", "id": f"c{n}", "name": "look", "input": {"n": n}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": BULK * 3}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    messages[-1]["content"][-1].update(last)
    return messages


def requests(proxy: Running, *bodies: dict[str, Any]) -> list[Request]:
    path = "/v1/messages" if "max_tokens" in bodies[0] else "/v1/chat/completions"
    for body in bodies:
        assert proxy.client.post(path, json=body, headers=KEY).status_code == 200
    ledger = proxy.drain()
    return [r for s in ledger.sessions() for r in ledger.requests(s.id)]


def claude(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages, **more}


def test_an_anthropic_client_without_cache_markers_is_billed_without_a_cache() -> None:
    with running() as proxy:
        told = requests(proxy, *(claude(agent(n)) for n in (4, 6, 8)))
    price = BOOK.of("claude-sonnet").input
    output = 7 * BOOK.of("claude-sonnet").output
    for one in told:
        assert one.raw_dollars == pytest.approx((one.raw_tokens * price + output) / MILLION)
        assert one.sent_dollars == pytest.approx((one.sent_tokens * price + output) / MILLION)
    assert sum(one.raw_dollars - one.sent_dollars for one in told) > 0


def test_one_with_markers_is_billed_with_a_cache() -> None:
    with running(mode="observe") as proxy:
        first, second = requests(proxy, *(claude(agent(n, **MARK)) for n in (4, 6)))
    prices = BOOK.of("claude-sonnet")
    fresh = second.raw_tokens - first.raw_tokens
    input_dollars = (first.raw_tokens * prices.cached + fresh * prices.write) / MILLION
    output = 7 * prices.output / MILLION
    assert second.raw_dollars == pytest.approx(input_dollars + output)


def billed(
    *usages: Usage, caching: bool = True, model: str = "gpt-5", gap_s: float = 1.0
) -> tuple[list[float], Prices, History]:
    """What the requests of a run that only repeats itself cost, by what the provider tells."""
    raw, cached, biller = history_of("prrrrrr"), Cached(), Biller(BOOK)
    dollars = []
    for number, usage in enumerate(usages):
        when_s = 1000.0 + number * gap_s
        exchange = Exchange(
            "openai-chat", "compress", when_s, model=model, caching=caching, usage=usage
        )
        dollars.append(biller.bill(exchange, cached, raw, raw, None)[0])
    return dollars, BOOK.of(model), raw


def test_a_provider_that_reports_no_cached_tokens_is_billed_without_a_cache() -> None:
    usage = Usage(input=2500)
    (_, second), prices, raw = billed(usage, usage)
    assert second == pytest.approx(raw.tokens * prices.input / MILLION)


def test_a_provider_that_tells_of_its_cache_is_believed_whatever_the_client_asked() -> None:
    (_, second), prices, raw = billed(Usage(2500), Usage(2500, cached=2000), caching=False)
    assert second == pytest.approx(prices.dollars(input_tokens=raw.tokens, unchanged=raw.tokens))


@pytest.mark.parametrize("usage", [Usage(), Usage(input=3)])
def test_without_a_usable_count_the_client_is_believed(usage: Usage) -> None:
    (_, second), prices, raw = billed(usage, usage)
    assert second == pytest.approx(prices.dollars(input_tokens=raw.tokens, unchanged=raw.tokens))
    (_, second), prices, raw = billed(usage, usage, caching=False)
    assert second == pytest.approx(raw.tokens * prices.input / MILLION)


def test_a_clock_that_jumps_back_leaves_the_cache_where_it_was() -> None:
    usage = Usage(2500, cached=2000)
    steady, *_ = billed(usage, usage, usage)
    jumping, *_ = billed(usage, usage, usage, gap_s=-7200.0)
    assert jumping == steady
    waiting, *_ = billed(usage, usage, usage, gap_s=7200.0)
    assert waiting[1] > steady[1]


def test_an_hour_of_caching_that_was_asked_for_is_billed_as_that() -> None:
    marked = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    with running(mode="observe") as proxy:
        (long,) = requests(proxy, claude(agent(4, **marked)))
    prices = BOOK.of("claude-sonnet")
    assert prices.long_write is not None
    output = 7 * prices.output
    expected = (long.raw_tokens * prices.long_write + output) / MILLION
    assert long.raw_dollars == pytest.approx(expected)


TOOLS = [{"name": f"tool_{n}", "description": BULK, "input_schema": {}} for n in range(5)]


def test_tool_definitions_are_counted_beside_the_history_and_billed_with_it() -> None:
    with running(mode="observe") as proxy:
        (bare, whole) = (
            requests(proxy, claude(agent(4)))[0],
            requests(proxy, claude([{"role": "user", "content": "hi"}], tools=TOOLS))[0],
        )
    assert bare.outside_tokens == 0
    assert whole.outside_tokens > 1000
    price = BOOK.of("claude-sonnet").input
    tokens = whole.outside_tokens + whole.raw_tokens
    output = 7 * BOOK.of("claude-sonnet").output
    assert whole.raw_dollars == pytest.approx((tokens * price + output) / MILLION)


def test_the_totals_know_what_was_sent_beside_the_histories() -> None:
    with running() as proxy:
        (one,) = requests(proxy, claude(agent(1), tools=TOOLS))
        assert proxy.ledger.totals().outside_tokens == one.outside_tokens > 0


def test_other_tools_than_before_leave_nothing_in_the_cache() -> None:
    def cached(got: Got) -> Answer:
        usage = {"input_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 9}
        return Answer([json.dumps({**REPLY, "usage": usage}).encode()])

    same, other = TOOLS[:4], TOOLS[1:]
    with running(SmallUpstream(cached), mode="observe") as proxy:
        bodies = [claude(agent(4, **MARK), tools=tools) for tools in (same, same, other)]
        first, second, third = requests(proxy, *bodies)
    assert second.raw_dollars < first.raw_dollars / 2
    assert third.raw_dollars == pytest.approx(first.raw_dollars)
