"""The moment of a request: what the history does not say, and the state of the provider's cache."""

from __future__ import annotations

from dataclasses import dataclass

from statecomp.controller.horizon import Horizon
from statecomp.controller.prices import Prices
from statecomp.strategy import CacheState


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the history does not say about the moment of a request.

    Times are seconds on any one clock; `last_s` is when the request before this one was made, None
    where nobody knows.  `model` is the name in the request.  `ttl_s` is for a client that asked for
    another lifetime than the price book's.  `outside_tokens` are sent beside the history (tool
    definitions).  `deferred` says that the decision is made while this request is on its way and
    holds from the next one on: by then this one has filled the cache.  `horizon` is what is known
    of this client's sessions, None where nothing is; `caution` how many times warier to be with it,
    because more came back than its scores said; `reread` the part of a replaced output that it was
    seen to read again, None where nothing was seen.  A recording has no clock: by default the
    request before this one has just been made, and its cache is warm.
    """

    now_s: float = 0.0
    last_s: float | None = 0.0
    model: str = ""
    caching: bool = True
    ttl_s: float | None = None
    window_tokens: int | None = None
    outside_tokens: int = 0
    deferred: bool = False
    horizon: Horizon | None = None
    caution: float = 1.0
    reread: float | None = None


JUST_AFTER = Circumstances()
AFTER_A_BREAK = Circumstances(now_s=24 * 60 * 60)
"""By then no provider's cache holds anything."""


def cache_state(prices: Prices, now: Circumstances) -> CacheState:
    """Cold only where the clock proves it: a wrong "cold" is the expensive mistake."""
    if prices.cached >= prices.write:
        return "none"
    idle_s = 0.0 if now.last_s is None or now.deferred else now.now_s - now.last_s
    return "cold" if idle_s > prices.ttl_s else "warm"
