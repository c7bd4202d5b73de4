"""What a request costs by the price book: as it was sent, and as if nothing had been rewritten.

A whole request is billed: the tool definitions stand before the history, and are cached with it.
Whether anything is cached is the provider's word where its usage tells, else what the client asks.
"""

from __future__ import annotations

from dataclasses import dataclass

from statecomp.controller.prices import PriceBook, Prices, side_dollars
from statecomp.history.history import History
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.account.outside import NOTHING, Definitions, Outside
from statecomp.strategy import View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.tokens.usage import Usage

Prefix = tuple[str, ...]
"""The names of the segments of a history, which tell how far another begins as it does."""


@dataclass
class Cached:
    """What the requests of one run so far left in the provider's cache."""

    last_s: float = float("-inf")
    outside: Outside = NOTHING
    raw: Prefix = ()
    sent: Prefix = ()
    seen: bool = False  # the provider has told of its cache


@dataclass
class Biller:
    book: PriceBook
    count: TokenCounter = ESTIMATE

    def __post_init__(self) -> None:
        self._definitions = Definitions(self.count)

    def outside(self, exchange: Exchange) -> Outside:
        body = exchange.checkpoint.body if exchange.checkpoint else {}
        return self._definitions.of(body.get("tools"))

    def bill(
        self,
        exchange: Exchange,
        cached: Cached,
        raw: History,
        shown: History,
        view: View | None,
    ) -> tuple[float, float, float]:
        """Dollars as if nothing had been rewritten, as sent, and of the latter for records."""
        outside = self.outside(exchange)
        listed = self._listed(exchange)
        # A clock that jumped back proves nothing: what was there may still be there.
        warm = exchange.when_s - cached.last_s <= listed.ttl_s and outside == cached.outside
        unchanged = [
            outside.tokens + _common(before, history) if warm and before else 0
            for before, history in ((cached.raw, raw), (cached.sent, shown))
        ]
        prices = listed
        if not _caches(exchange, cached, listed.readable(unchanged[1])):
            prices = listed.uncached()
        bills = [
            prices.dollars(
                input_tokens=outside.tokens + history.tokens,
                unchanged=same,
                output_tokens=exchange.usage.output,
            )
            for history, same in zip((raw, shown), unchanged, strict=True)
        ]
        cached.last_s, cached.outside = exchange.when_s, outside
        cached.raw, cached.sent = raw.ids, shown.ids
        records = self.records(exchange, view) if view else 0.0
        return bills[0], bills[1] + records, records

    def records(self, exchange: Exchange, view: View) -> float:
        """What models were paid that wrote records for this decision."""
        return side_dollars(view.side_calls, self._listed(exchange))

    def _listed(self, exchange: Exchange) -> Prices:
        prices = self.book.nearest(exchange.model)
        return prices if exchange.ttl_s is None else prices.lasting(exchange.ttl_s)


def _caches(exchange: Exchange, cached: Cached, expected: int) -> bool:
    """Whether this request was billed with a cache; `expected` tokens should have come from it."""
    usage: Usage = exchange.usage
    if usage.cached or usage.written:
        cached.seen = True
        return True
    # A count far below what was expected from the cache alone is no count of this request.
    if expected and usage.input >= expected / 2:
        return False
    return exchange.caching or cached.seen


def _common(before: Prefix, history: History) -> int:
    """Tokens of what a history begins with as the one before it did: nearly always all of that."""
    now, same = history.ids, len(before)
    if now == before:
        return history.tokens
    if now[:same] != before:
        pairs = enumerate(zip(before, now, strict=False))
        same = next((n for n, (old, new) in pairs if old != new), min(same, len(now)))
    return sum([segment.tokens for segment in history.segments[:same]])
