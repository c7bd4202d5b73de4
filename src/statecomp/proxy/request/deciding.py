"""What is decided of a request: for it, while it may wait, or behind it, for the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Event
from time import time

from statecomp.compressor import StateComp
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.prices import PriceBook
from statecomp.proxy.account.outside import Definitions
from statecomp.proxy.background import Background, Wanted
from statecomp.proxy.horizons import Horizons
from statecomp.proxy.records import Caller, Writers
from statecomp.proxy.request.arrived import Arrived
from statecomp.proxy.request.reading import ReadRequest, RequestReader
from statecomp.proxy.settings import ProxySettings, window_of
from statecomp.proxy.tenants import secrets_among
from statecomp.recent import LruCache
from statecomp.strategy import Summarizer, View

Decision = Future[View | None]


@dataclass
class Decider:
    """Asks the engines what may be replaced, in the background."""

    settings: ProxySettings
    reader: RequestReader
    background: Background[View]
    prices: PriceBook
    horizons: Horizons
    _last_s: LruCache[str, float] = field(default_factory=lambda: LruCache(4096))

    def __post_init__(self) -> None:
        self._method = self.reader.engines.method
        self._writes_at_once = self._method.writes_at_once
        self._definitions = Definitions(self._method.count)
        records = self._method.records
        self._writers = None
        if records is not None:
            trusts = self.settings.trust_env
            self._writers = Writers(records, self.reader.engines.ledger, trust_env=trusts)

    async def before(
        self, request: ReadRequest, arrived: Arrived
    ) -> tuple[ReadRequest, Decision | None]:
        """The request after its decision; as it was read where that takes longer than it may."""
        if not _decidable(request):
            return request, None
        now = self._circumstances(request)
        patience_s = self._patience_s(request, now)
        if not patience_s:
            return request, None
        given_up = Event()
        decision = self._decide(request, arrived, now, given_up)
        request = await self._waited(request, decision, patience_s)
        if self._too_late_is_lost(request, now):
            given_up.set()
        return request, decision

    def behind(self, request: ReadRequest, arrived: Arrived) -> Decision | None:
        """A decision that holds from the next request on."""
        if not _decidable(request):
            return None
        return self._decide(request, arrived, self._circumstances(request))

    def seen(self, request: ReadRequest) -> None:
        self._last_s.put(request.session, time())

    def _circumstances(self, request: ReadRequest) -> Circumstances:
        """The moment of this request; a session unknown here was last heard of at no known time."""
        return Circumstances(
            now_s=time(),
            last_s=self._last_s.get(request.session),
            model=request.model,
            caching=request.caching,
            ttl_s=request.ttl_s,
            window_tokens=self._method.window or window_of(request.model),
        )

    def _patience_s(self, request: ReadRequest, now: Circumstances) -> float:
        """How long the request may wait for its own decision.

        With a cache that is cold by the clock a rewrite costs nothing now and something later, so
        a longer wait is worth it, also where decisions are otherwise left to the background.
        """
        limits = self.settings.limits
        if self.settings.commit == "now":
            return limits.now_s
        cold_s = limits.cold_s if self._is_cold(request, now) else 0.0
        # What is decided before the request breaks one interaction less.
        at_once = self.settings.commit == "auto" and self._writes_at_once
        return max(cold_s, limits.quick_s) if at_once else cold_s

    def _too_late_is_lost(self, request: ReadRequest, now: Circumstances) -> bool:
        """What was judged for a cold cache must not be committed once this request warms it."""
        return self.settings.commit != "now" and self._is_cold(request, now)

    def _is_cold(self, request: ReadRequest, now: Circumstances) -> bool:
        lifetime = now.ttl_s or self.prices.nearest(request.model).ttl_s
        return now.last_s is not None and now.now_s - now.last_s > lifetime

    def _decide(
        self,
        request: ReadRequest,
        arrived: Arrived,
        now: Circumstances,
        given_up: Event | None = None,
    ) -> Decision:
        """Decide behind the request, or, with `given_up`, for it, until that is set.

        What is decided behind it holds from the next request on, when this one has warmed the
        cache; so what was judged for a cold one must not be committed once it is too late.
        """
        engine, raw = request.engine, request.raw
        assert raw is not None
        caller = self._caller(request, arrived)

        def work(wanted: Wanted) -> View:
            beside = replace(
                now,
                outside_tokens=self._outside(request),
                deferred=given_up is None,
                horizon=self.horizons.of(request.client, request.model),
                caution=self.horizons.caution(request.client),
                reread=self.horizons.reread(request.client),
            )
            late = given_up.is_set if given_up is not None else lambda: False
            writer = self._writer(request, caller)
            return engine.prepare(raw, beside, lambda: wanted() and not late(), writer)

        awaited_s = self._patience_s(request, now) if given_up is not None else 0.0
        return self.background.submit(
            request.session or request.tenant,
            work,
            worth=request.checkpoint.sent_tokens,
            awaited_s=awaited_s,
            after=self._read_ahead(engine),
        )

    def _read_ahead(self, engine: StateComp) -> Callable[[View], None]:
        """What is new is read behind its request; not where a model writes the records."""
        if self._writers is not None:
            return lambda view: None
        return lambda view: engine.read_ahead(view.history)

    def _caller(self, request: ReadRequest, arrived: Arrived) -> Caller | None:
        """Where to ask for records, if the client's own upstream writes them."""
        if self._writers is None or self._writers.records.chat is not None:
            return None
        return Caller.of(request.engine.wire.name, arrived.url, arrived.headers)

    def _writer(self, request: ReadRequest, caller: Caller | None) -> Summarizer | None:
        if self._writers is None:
            return None
        raw = request.raw
        return self._writers.of(
            request.engine.account,
            tenant=request.tenant,
            session=request.session,
            model=request.model,
            caller=caller,
            # Asked of what was written, which takes longer than to read the conversation for it.
            secret=lambda text: secrets_among(s.text for s in raw.segments)(text) if raw else False,
        )

    def _outside(self, request: ReadRequest) -> int:
        return self._definitions.of(request.parsed.get("tools")).tokens

    async def _waited(
        self, request: ReadRequest, decision: Decision, patience_s: float
    ) -> ReadRequest:
        """The request after its decision; as it was before where that takes too long."""
        waiting = asyncio.wrap_future(decision)
        # One that fails after we stopped waiting is the accountant's to tell, not asyncio's.
        waiting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        done, _ = await asyncio.wait({waiting}, timeout=patience_s)
        if not done or decision.exception() or not (view := decision.result()) or not view.commits:
            return request
        try:
            return await self.reader.again(request)
        except Exception:  # noqa: BLE001  the view before the decision is still good
            return request


def _decidable(request: ReadRequest) -> bool:
    return request.checkpoint.view is not None and not request.checkpoint.decided
