"""When a rewrite is made: lot sizing under prompt caching (appendix E.4, and what waiting costs).

A provider keeps the longest unchanged prefix of the last request in its cache.  A rewrite leaves
what stands before its first change alone and has everything behind it written to the cache again:
the break is paid once, for the first span, and later spans ride along.  Waiting is not free either:
every request sends the tokens once more, at the price of cached ones.  With D_i tokens saved at
interaction i, of which p_i says how surely nobody will want them again, H_i requests that count for
it, and W tokens behind the first change that would have come from the cache, a rewrite is made when

    sum_i p_i * D_i * H_i * cached  >  W * (write - cached) + what the records cost

H_i holds the requests that have carried i already and a share of those to come (`economics`).  So a
deep break waits until about as much was paid for carrying as it costs, and one near the end, which
breaks little, does not wait.

Earlier spans make W larger, so `decide` walks from the last span to the first, adds each to those
behind it, and begins the rewrite where left minus right is largest, if that is above nothing: all
that is replaced now is replaced in one rewrite.

A cold cache holds nothing: W is zero, and the tokens saved in this request would have been written,
which saves more.  Without caching both prices are one.  The same inequality decides all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from statecomp.controller.prices import MILLION, Prices
from statecomp.strategy import CacheState, Ruling


@dataclass(frozen=True, slots=True)
class Offer:
    """Spans as the gate sees them: what stands before, what they hold, what would replace them.

    `sure_tokens` are the saved ones that nobody is expected to want again (the sum of p_i * D_i),
    `counted_tokens` the same times the requests that count for each (H_i).  Two figures are told in
    the ruling and decide nothing here: `risk_dollars`, expected for getting the rest back, which
    decided whether the spans may go, and `spent_dollars` on summaries, which are gone either way.
    """

    before_tokens: int
    source_tokens: int
    summary_tokens: int
    sure_tokens: float
    counted_tokens: float
    risk_dollars: float = 0.0
    ask_dollars: float = 0.0
    spent_dollars: float = 0.0
    spans: int = 1

    @property
    def saved_tokens(self) -> int:
        return self.source_tokens - self.summary_tokens

    @property
    def requests(self) -> float:
        """H, on average."""
        return self.counted_tokens / self.sure_tokens if self.sure_tokens else 0.0

    def with_later(self, later: Offer | None) -> Offer:
        """Both in one rewrite, which begins here."""
        if later is None:
            return self
        return Offer(
            self.before_tokens,
            self.source_tokens + later.source_tokens,
            self.summary_tokens + later.summary_tokens,
            self.sure_tokens + later.sure_tokens,
            self.counted_tokens + later.counted_tokens,
            self.risk_dollars + later.risk_dollars,
            self.ask_dollars + later.ask_dollars,
            self.spent_dollars + later.spent_dollars,
            self.spans + later.spans,
        )


@dataclass(frozen=True, slots=True)
class Market:
    """What a decision is made by: prices and the state of the cache.

    `cached_tokens` is the prefix the cache holds if nothing is rewritten; `number` is that of the
    request about to be made.  `forced` means that the window is nearly full.
    """

    prices: Prices
    cached_tokens: int
    cache: CacheState = "warm"
    forced: bool = False
    number: int = 0

    def rule(self, offer: Offer) -> Ruling:
        """The inequality for one rewrite."""
        prices = self.prices
        extra = prices.write - prices.cached
        kept = min(offer.before_tokens, self.cached_tokens)
        lost = prices.readable(self.cached_tokens) - prices.readable(kept)
        # Saved tokens that the cache would have held save its price now; fresh ones save more.
        saved = offer.saved_tokens
        held = min(saved, lost)
        carrying = offer.sure_tokens * prices.cached / MILLION
        saving = (offer.counted_tokens * prices.cached + (saved - held) * extra) / MILLION
        rebilling = (lost - held) * extra / MILLION
        cost = rebilling + offer.ask_dollars
        pays = saving > cost
        waits = ceil((cost - saving) / carrying) if carrying > 0 and not pays else 0
        return Ruling(
            commit=self.forced or pays,
            spans=offer.spans,
            requests=offer.requests,
            saved_tokens=saved,
            saving_dollars=saving,
            rewritten_tokens=lost - held,
            rebilling_dollars=rebilling,
            summary_dollars=offer.ask_dollars + offer.spent_dollars,
            risk_dollars=offer.risk_dollars,
            cache=self.cache,
            prices=prices.model,
            forced=self.forced,
            pays_at=self.number + waits if waits and self.number else None,
        )

    def helps(self, offer: Offer) -> bool:
        """Whether an offer is worth its summary where the cache is broken in front of it anyway."""
        prices = self.prices
        fresh = offer.saved_tokens * (prices.write - prices.cached)
        gain = (offer.counted_tokens * prices.cached + fresh) / MILLION
        return offer.saved_tokens > 0 and (self.forced or gain > offer.ask_dollars)

    def surplus(self, offer: Offer) -> float:
        """Left minus right of the inequality; in a full window more tokens are always better."""
        if self.forced:
            return float(offer.saved_tokens)
        ruling = self.rule(offer)
        return ruling.saving_dollars - ruling.rebilling_dollars - offer.ask_dollars


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """`taken` are places in the offers; `waits` says of each of the others why not now.

    `ruling` is that of the rewrite, or of the one that came nearest to paying.
    """

    taken: tuple[int, ...]
    waits: Mapping[int, str]
    ruling: Ruling | None


def decide(offers: Sequence[Offer], market: Market) -> GateVerdict:
    """The one rewrite with the largest surplus, or none.  Offers stand in history order."""
    helpful = [place for place, offer in enumerate(offers) if market.helps(offer)]
    rewrites: dict[int, Offer] = {}
    rewrite = None
    for place in reversed(helpful):
        rewrite = rewrites[place] = offers[place].with_later(rewrite)
    if not rewrites:
        return _none_taken(offers, market)
    # Of equal surpluses the first found, that is the latest beginning: it rewrites least.
    first = max(rewrites, key=lambda place: market.surplus(rewrites[place]))
    ruling = market.rule(rewrites[first])
    taken = [place for place in helpful if place >= first] if ruling.commit else []
    # Where nothing is taken those that help wait for one rewrite together, any other for its own.
    together = set() if ruling.commit else set(helpful)
    waits = {
        place: ruling.text if place in together else _alone(offers[place], market)
        for place in sorted(set(range(len(offers))).difference(taken))
    }
    return GateVerdict(tuple(taken), waits, ruling)


def _none_taken(offers: Sequence[Offer], market: Market) -> GateVerdict:
    """No span is worth even its summary."""
    shorter = [offer for offer in offers if offer.saved_tokens > 0]
    nearest = max(shorter, key=market.surplus, default=None)
    ruling = replace(market.rule(nearest), commit=False) if nearest else None
    return GateVerdict((), {p: _alone(offer, market) for p, offer in enumerate(offers)}, ruling)


def _alone(offer: Offer, market: Market) -> str:
    if offer.saved_tokens <= 0:
        return f"about {offer.summary_tokens} tokens would replace {offer.source_tokens}"
    return replace(market.rule(offer), commit=False).text
