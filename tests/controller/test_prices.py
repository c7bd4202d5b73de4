"""The price book, and what a request costs under each provider's cache rules."""

from __future__ import annotations

import pytest

from statecomp.controller.prices import parse_prices, shipped_prices
from statecomp.errors import BadInput

BOOK = """
[models.m]
as_of = 2026-01-01
input = 2
cached = 0.2
write = 3
long_write = 4
output = 10
ttl_s = 60
least_cached = 1000
cache_block = 128
"""


def test_what_is_not_read_from_the_cache_is_written_to_it() -> None:
    prices = parse_prices(BOOK).of("m")
    cost = prices.dollars(input_tokens=1_000_000, unchanged=128 * 1000, output_tokens=100_000)
    assert cost == pytest.approx(0.128 * 0.2 + 0.872 * 3 + 1)


def test_a_short_prefix_is_not_cached_and_a_long_one_in_whole_blocks() -> None:
    prices = parse_prices(BOOK).of("m")
    assert [prices.readable(n) for n in (0, 999, 1000, 1024, 1151, 1152)] == [
        *(0, 0, 896, 1024, 1024, 1152)
    ]


def test_a_request_too_short_to_cache_pays_no_premium_for_writing() -> None:
    prices = parse_prices(BOOK).of("m")
    assert prices.dollars(input_tokens=999) == pytest.approx(999 * 2e-6)
    assert prices.dollars(input_tokens=1000) == pytest.approx(1000 * 3e-6)


def test_without_caching_every_token_is_fresh() -> None:
    prices = parse_prices(BOOK).of("m").uncached()
    cost = prices.dollars(input_tokens=50_000, unchanged=40_000)
    assert cost == pytest.approx(prices.dollars(input_tokens=50_000))


def test_a_longer_life_costs_more_to_write_where_it_is_sold() -> None:
    prices = parse_prices(BOOK).of("m")
    assert (prices.lasting(3600).write, prices.lasting(3600).ttl_s) == (4, 3600)
    assert (prices.lasting(60).write, prices.lasting(60).ttl_s) == (3, 60)
    assert shipped_prices().of("gpt-5").lasting(86_400).write == 1.25


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet"),
        ("anthropic/claude-opus-4.1", "claude-opus"),
        ("gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-5", "gpt-5"),
        ("somebody-elses-model", "claude-sonnet"),
        ("", "claude-sonnet"),
    ],
)
def test_a_request_is_priced_as_the_nearest_entry(asked: str, found: str) -> None:
    assert shipped_prices().nearest(asked).model == found


def test_the_shipped_prices_make_sense() -> None:
    for prices in shipped_prices().models.values():
        assert 0 < prices.cached <= prices.input <= prices.write
        assert prices.input <= prices.output


@pytest.mark.parametrize(
    ("acting", "writes"),
    [
        ("gpt-5-2025-08-07", "gpt-5-mini"),
        ("openai/gpt-5", "openai/gpt-5-mini"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"),
        ("gpt-5-nano", "gpt-5-nano"),
        ("somebody-elses-model", "somebody-elses-model"),
    ],
)
def test_a_sibling_is_of_the_same_provider_and_never_dearer(acting: str, writes: str) -> None:
    assert shipped_prices().sibling(acting) == writes


def test_a_sibling_that_is_named_whole_is_asked_by_that_name() -> None:
    book = parse_prices(BOOK.replace("[models.m]", '[models.m]\nsibling = "other/n-1.5"'))
    assert book.sibling("gateway/m") == "other/n-1.5"


def test_every_shipped_entry_says_how_its_figures_are_known() -> None:
    assert all(len(prices.source) > 20 for prices in shipped_prices().models.values())
    assert parse_prices(BOOK).of("m").source == ""


@pytest.mark.parametrize("text", ["", "[models]", "[models.m]\ninput = 1", "not toml ["])
def test_a_book_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a price book"):
        parse_prices(text)


def test_a_model_without_prices_is_refused_where_it_was_asked_for_by_name() -> None:
    with pytest.raises(BadInput, match="known are m"):
        parse_prices(BOOK).of("n")
