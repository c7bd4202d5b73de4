"""Two routers beside each other while nothing is rewritten, off the way of every request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from statecomp.controller.circumstances import Circumstances
from statecomp.controller.prices import PriceBook, shipped_prices
from statecomp.history.history import History
from statecomp.method import Method
from statecomp.proxy.account.bills import Biller
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.background import Background, Wanted
from statecomp.proxy.horizons import Horizons
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.rivals.fates import NEITHER, Pair, RivalTable, SideSums
from statecomp.proxy.rivals.side import RivalSide
from statecomp.proxy.settings import window_of
from statecomp.recent import LruCache

SESSIONS: Final = 128
"""Conversations in which both are followed; one that was forgotten begins anew."""
WAITING: Final = 64
DEADLINE_S: Final = 120.0


@dataclass
class _Conversation:
    sides: tuple[RivalSide, RivalSide]
    seen: dict[str, Pair] = field(default_factory=dict)  # by step
    last_s: float | None = None


@dataclass
class Rivals:
    """What each of two methods would do; a newer state of a conversation takes the older's place.

    Both are asked at the same states, in one thread, which makes way for requests.  Numbers are
    since the start, of all tenants together.
    """

    methods: Mapping[str, Method]
    book: PriceBook = field(default_factory=shipped_prices)
    horizons: Horizons | None = None
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        one, other = self.methods
        self.table = RivalTable((SideSums(one), SideSums(other)))
        self._biller = Biller(self.book)
        self._known: LruCache[str, _Conversation] = LruCache(SESSIONS)
        self._lock = Lock()
        self._work: Background[None] = Background(threads=1, waiting=WAITING, deadline_s=DEADLINE_S)

    def see(self, exchange: Exchange) -> None:
        """Both at the state of this request, later; never raises, and never holds anybody up."""
        raw = exchange.checkpoint.raw if exchange.checkpoint else None
        if not exchange.session or raw is None:
            return

        def compared(wanted: Wanted) -> None:
            self._compare(exchange, raw)

        self._work.submit(exchange.session, compared, worth=raw.tokens)

    def as_json(self) -> dict[str, Any]:
        with self._lock:
            return self.table.as_json()

    @property
    def idle(self) -> bool:
        return self._work.idle

    def close(self, patience_s: float) -> None:
        self._work.close(patience_s)

    def _compare(self, exchange: Exchange, raw: History) -> None:
        known = self._known.get(exchange.session) or self._begun(exchange)
        now = self._circumstances(exchange, known.last_s)
        known.last_s = exchange.when_s
        with self._lock:
            for side, sums in zip(known.sides, self.table.sides, strict=True):
                before = (sums.raw_tokens, sums.sent_tokens)
                side.see(exchange, raw, now, sums, self._biller)
                self._tell(sums, before)
            self.table.compared += 1
            for step in raw.interactions[:-1]:
                one, other = (side.fates.get(step.id, "kept") for side in known.sides)
                self._move(known, step.id, (one, other))

    def _begun(self, exchange: Exchange) -> _Conversation:
        one, other = (RivalSide(m, exchange.protocol) for m in self.methods.values())
        return self._known.put(exchange.session, _Conversation((one, other)))

    def _circumstances(self, exchange: Exchange, last_s: float | None) -> Circumstances:
        learned, client = self.horizons, exchange.client
        return Circumstances(
            now_s=exchange.when_s,
            last_s=last_s,
            model=exchange.model,
            caching=exchange.caching,
            ttl_s=exchange.ttl_s,
            window_tokens=window_of(exchange.model),
            outside_tokens=self._biller.outside(exchange).tokens,
            horizon=learned.of(client, exchange.model) if learned else None,
            caution=learned.caution(client) if learned else 1.0,
            reread=learned.reread(client) if learned else None,
        )

    def _tell(self, sums: SideSums, before: tuple[int, int]) -> None:
        for kind, was, now in (
            ("raw", before[0], sums.raw_tokens),
            ("sent", before[1], sums.sent_tokens),
        ):
            self.metrics.add("statecomp_rival_tokens_total", now - was, router=sums.name, kind=kind)

    def _move(self, known: _Conversation, step: str, after: Pair) -> None:
        before = known.seen.get(step)
        if before == after:
            return
        known.seen[step] = after
        self.table.moved(before, after)
        for sums, was, now in zip(self.table.sides, before or NEITHER, after, strict=True):
            if was != now:
                self.metrics.add("statecomp_rival_steps_total", router=sums.name, fate=now)
