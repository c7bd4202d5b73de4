"""When a commit must pay: prices, the moment, and how long a run still goes on, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from statecomp.controller.gate import Market, Offer, Verdict, decide
from statecomp.controller.lengths import Lengths
from statecomp.controller.prices import PriceBook, Prices, shipped_prices
from statecomp.controller.survival import Survival, shipped_survival
from statecomp.errors import BadInput
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Segment, Summary
from statecomp.strategy import CacheState


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the history does not say about the moment of a request.

    Times are seconds on any one clock; `last_s` is when the request before this one was made, None
    where nobody knows.  `model` is the name in the request.  `ttl_s` is for a client that asked for
    another lifetime than the price book's.  `outside_tokens` are sent beside the history (tool
    definitions).  `deferred` says that the decision is made while this request is on its way and
    holds from the next one on: by then this one has filled the cache.  A recording has no clock: by
    default the request before this one has just been made, and its cache is warm.
    """

    now_s: float = 0.0
    last_s: float | None = 0.0
    model: str = ""
    caching: bool = True
    ttl_s: float | None = None
    window_tokens: int | None = None
    outside_tokens: int = 0
    deferred: bool = False


JUST_AFTER = Circumstances()


@dataclass(frozen=True)
class Economics:
    """Settings of the gate, and what it knows.

    A rewrite must save `margin` times what it costs: one that just pays now would be followed by
    another that just pays, where one of both together a little later costs half.
    `summary_prices` are those of the model that writes summaries, None where none is asked; a
    summary is expected to take `ratio` of its source and `frame_tokens`, and asking for it
    `prompt_tokens` beside the source.  From `pressure`, a share of the window, on everything that
    shortens is done.
    """

    book: PriceBook = field(default_factory=shipped_prices)
    survival: Survival = field(default_factory=shipped_survival)
    margin: float = 2.0
    summary_prices: Prices | None = None
    ratio: float = 0.32
    frame_tokens: int = 100
    prompt_tokens: int = 700
    pressure: float = 0.9
    lengths: Lengths | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.margin >= 1.0:
            raise BadInput(f"must not be below 1, not {self.margin}", field="margin")
        if not 0.0 < self.pressure <= 1.0:
            raise BadInput(f"must lie in (0, 1], not {self.pressure}", field="pressure")
        if not 0.0 <= self.ratio < 1.0:
            raise BadInput(f"must lie in [0, 1), not {self.ratio}", field="ratio")

    def market(self, history: History, now: Circumstances) -> Market:
        prices = self.book.nearest(now.model)
        if not now.caching:
            prices = prices.uncached()
        elif now.ttl_s is not None:
            prices = prices.lasting(now.ttl_s)
        state = cache_state(prices, now)
        cached = history.tokens if now.deferred else _sent_before(history)
        requests = self.survival.remaining(history.checkpoint)
        full = history.tokens + now.outside_tokens
        return Market(
            prices=prices,
            cached_tokens=cached if state == "warm" else 0,
            requests=requests - 1.0 if now.deferred else requests,
            margin=self.margin,
            cache=state,
            forced=now.window_tokens is not None and full >= self.pressure * now.window_tokens,
        )

    def judge(
        self,
        history: History,
        spans: Sequence[Span],
        now: Circumstances,
        summaries: Mapping[Span, Summary] | None = None,
    ) -> Verdict:
        """Which spans pay: by what is expected of summaries, or by those that were written."""
        ends = [0, *accumulate(segment.tokens for segment in history.segments)]
        offers = []
        for start, stop in spans:
            source = ends[stop] - ends[start]
            if summaries is None:
                length = self._expected(history.segments[start:stop], source)
                ask = self._summary_dollars(source, length)
                offers.append(Offer(ends[start], source, length, ask_dollars=ask))
            else:
                length = summaries[Span(start, stop)].tokens
                if self.lengths is not None:
                    self.lengths.learn(history.segments[start:stop], length)
                spent = self._summary_dollars(source, length)
                offers.append(Offer(ends[start], source, length, spent_dollars=spent))
        return decide(offers, self.market(history, now))

    def remembering(self) -> Economics:
        """The same, with a memory of its own of how long summaries turned out: one an engine."""
        return replace(self, lengths=Lengths())

    def _expected(self, span: Sequence[Segment], source_tokens: int) -> int:
        if self.lengths is not None:
            return self.lengths.expected(span, self.ratio, self.frame_tokens)
        return self.frame_tokens + round(source_tokens * self.ratio)

    def _summary_dollars(self, source_tokens: int, summary_tokens: int) -> float:
        if self.summary_prices is None:
            return 0.0
        return self.summary_prices.side_dollars(source_tokens + self.prompt_tokens, summary_tokens)


def cache_state(prices: Prices, now: Circumstances) -> CacheState:
    """Cold only where the clock proves it: a wrong "cold" is the expensive mistake."""
    if prices.cached >= prices.write:
        return "none"
    idle_s = 0.0 if now.last_s is None or now.deferred else now.now_s - now.last_s
    return "cold" if idle_s > prices.ttl_s else "warm"


def _sent_before(history: History) -> int:
    """What the request before this one sent: all but the last interaction and what follows it."""
    tokens = 0
    for segment in reversed(history.segments):
        tokens += segment.tokens
        if isinstance(segment, Interaction):
            return history.tokens - tokens
    return 0
