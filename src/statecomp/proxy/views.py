"""From the bytes of a request to the bytes to send instead: what may fail, and may be late.

Whatever happens here, the request goes out: with what was committed before, or as it came.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event
from time import monotonic, time
from typing import Any

from statecomp.checkpoint import Checkpoint
from statecomp.compressor import StateComp
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.prices import PriceBook
from statecomp.history.history import History
from statecomp.proxy.background import Background, Wanted
from statecomp.proxy.bodies.documents import Document, Documents, Unreadable
from statecomp.proxy.horizons import Horizons
from statecomp.proxy.records import Caller, Writers
from statecomp.proxy.sessions import client_of, session_of, tenant_of
from statecomp.proxy.settings import ProxySettings, window_of
from statecomp.proxy.tenants import TenantCompressors
from statecomp.recent import LruCache
from statecomp.strategy import Summarizer, View
from statecomp.wire.providers import provider_named

HOUR_S = 3600.0
BUSY_S = 0.05
"""Requests that come faster than this leave little time for anything else."""


@dataclass(frozen=True)
class Look:
    """A request as it was read, and what stands for it; `content` is None where nothing changed."""

    tenant: str
    session: str
    client: str
    model: str
    engine: StateComp
    document: Document
    checkpoint: Checkpoint
    content: bytes | None
    caching: bool
    long_lived: bool  # the client asked for an hour of caching
    caller: Caller | None = field(default=None, repr=False)  # where a model writes records

    @property
    def parsed(self) -> Mapping[str, Any]:
        return self.document.body

    @property
    def raw(self) -> History | None:
        return self.checkpoint.raw


@dataclass
class Views:
    """Looks at requests: at once where that is quick, else in threads, where it stops nobody else.

    A thread costs more than a look at a history that was seen before and a local store has.
    """

    settings: ProxySettings
    engines: TenantCompressors
    background: Background[View]
    prices: PriceBook
    horizons: Horizons
    _looking: int = 0
    _looked_s: float = -BUSY_S
    _last_s: LruCache[str, float] = field(default_factory=lambda: LruCache(4096))
    _documents: Documents = field(default_factory=Documents)
    _tools: LruCache[str, int] = field(default_factory=lambda: LruCache(16))

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="statecomp-view")
        method = self.engines.method
        self._writes_at_once = method.writes_at_once
        self.writers = (
            Writers(method.records, trust_env=self.settings.trust_env) if method.records else None
        )

    async def of(
        self, protocol: str, headers: Mapping[bytes, bytes], body: bytes, url: str = ""
    ) -> Look | str:
        """What to send, or why it goes out as it came."""
        limits = self.settings.limits
        if self._looking >= limits.views:
            return "too many requests are waiting"
        self._looking += 1
        self._looked_s = monotonic()
        try:
            if self._quick(body):
                return self._called(self._look(protocol, headers, body), headers, url)
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(self._threads, self._look, protocol, headers, body)
            look = await asyncio.wait_for(work, limits.view_s)
            return self._called(look, headers, url)
        except TimeoutError:
            return f"no view within {limits.view_s:g} s"
        except Unreadable as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  fail open, whatever it is
            return f"could not be read ({type(error).__name__})"
        finally:
            self._looking -= 1

    def _called(self, look: Look, headers: Mapping[bytes, bytes], url: str) -> Look:
        """With where to ask for records, if the client's own upstream writes them."""
        if self.writers is None or self.writers.records.chat is not None or not url:
            return look
        return replace(look, caller=Caller.of(look.engine.wire.name, url, headers))

    @property
    def busy(self) -> bool:
        return self._looking > 1 or monotonic() - self._looked_s < BUSY_S

    def _quick(self, body: bytes) -> bool:
        local = self.settings.local_store and not self.engines.slow
        return local and len(body) <= self.settings.limits.quick_bytes

    def _look(self, protocol: str, headers: Mapping[bytes, bytes], body: bytes) -> Look:
        tenant = tenant_of(headers, self.settings.salt)
        engine = self.engines.of(tenant, protocol)
        document = self._documents.read(tenant, engine.wire.key, body)
        given = document.body
        checkpoint = engine.checkpoint(given, decide=False)
        raw = checkpoint.raw
        marked = b'"cache_control"' in body
        return Look(
            tenant=tenant,
            session=session_of(tenant, headers, given, raw) if raw is not None else "",
            client=client_of(headers),
            model=str(given.get("model", "")),
            engine=engine,
            document=document,
            checkpoint=checkpoint,
            content=self._content(document, checkpoint),
            caching=marked or provider_named(protocol).caches_unasked,
            long_lived=marked and b'"1h"' in body,
        )

    def _content(self, document: Document, checkpoint: Checkpoint) -> bytes | None:
        if not checkpoint.rewritten or self.settings.mode != "compress":
            return None
        return document.written(checkpoint.body)

    def circumstances(self, look: Look) -> Circumstances:
        """The moment of this request; a session unknown here was last heard of at no known time."""
        return Circumstances(
            now_s=time(),
            last_s=self._last_s.get(look.session),
            model=look.model,
            caching=look.caching,
            ttl_s=HOUR_S if look.long_lived else None,
            window_tokens=self.engines.method.window or window_of(look.model),
        )

    def seen(self, look: Look) -> None:
        self._last_s.put(look.session, time())

    def decidable(self, look: Look) -> bool:
        return look.checkpoint.view is not None and not look.checkpoint.decided

    def patience_s(self, look: Look, now: Circumstances) -> float:
        """How long the request may wait for its own decision.

        With a cache that is cold by the clock a rewrite costs nothing now and something later, so
        a longer wait is worth it, also where decisions are otherwise left to the background.
        """
        limits = self.settings.limits
        if self.settings.commit == "now":
            return limits.now_s
        cold_s = limits.cold_s if self._is_cold(look, now) else 0.0
        return max(cold_s, limits.quick_s) if self.at_once else cold_s

    def too_late_is_lost(self, look: Look, now: Circumstances) -> bool:
        """What was judged for a cold cache must not be committed once this request warms it."""
        return self.settings.commit != "now" and self._is_cold(look, now)

    def _is_cold(self, look: Look, now: Circumstances) -> bool:
        lifetime = now.ttl_s or self.prices.nearest(look.model).ttl_s
        return now.last_s is not None and now.now_s - now.last_s > lifetime

    @property
    def at_once(self) -> bool:
        """Whether decisions are made before the request: they break one interaction less."""
        return self.settings.commit == "auto" and self._writes_at_once

    def decide(
        self, look: Look, now: Circumstances, given_up: Event | None = None
    ) -> Future[View | None]:
        """Decide behind the request, or, with `given_up`, for it, until that is set.

        What is decided behind it holds from the next request on, when this one has warmed the
        cache; so what was judged for a cold one must not be committed once it is too late.
        """
        engine, raw = look.engine, look.raw
        assert raw is not None

        def work(wanted: Wanted) -> View:
            beside = replace(
                now,
                outside_tokens=self._outside(look),
                deferred=given_up is None,
                horizon=self.horizons.of(look.client, look.model),
                caution=self.horizons.caution(look.client),
            )
            late = given_up.is_set if given_up is not None else lambda: False
            return engine.prepare(raw, beside, lambda: wanted() and not late(), self._writer(look))

        awaited_s = self.patience_s(look, now) if given_up is not None else 0.0
        return self.background.submit(
            look.session or look.tenant,
            work,
            worth=look.checkpoint.sent_tokens,
            awaited_s=awaited_s,
        )

    def _writer(self, look: Look) -> Summarizer | None:
        if self.writers is None:
            return None
        return self.writers.of(
            look.engine.account,
            tenant=look.tenant,
            session=look.session,
            model=look.model,
            caller=look.caller,
        )

    def _outside(self, look: Look) -> int:
        """Tokens of the tool definitions; long, and nearly always the same."""
        tools = look.parsed.get("tools")
        text = json.dumps(tools) if tools else ""
        if (known := self._tools.get(text)) is not None:
            return known
        return self._tools.put(text, self.engines.method.count(text))

    async def waited(self, look: Look, decision: Future[View | None], patience_s: float) -> Look:
        """The look after its decision; the one before it where that takes too long."""
        waiting = asyncio.wrap_future(decision)
        # One that fails after we stopped waiting is the accountant's to tell, not asyncio's.
        waiting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        done, _ = await asyncio.wait({waiting}, timeout=patience_s)
        if not done or decision.exception() or not (view := decision.result()) or not view.commits:
            return look
        loop = asyncio.get_running_loop()
        try:
            return await asyncio.wait_for(
                loop.run_in_executor(self._threads, self._again, look), self.settings.limits.view_s
            )
        except Exception:  # noqa: BLE001  the view before the decision is still good
            return look

    async def sealed(self, look: Look) -> Look:
        """The look, written down before it goes out; what went out before, where something did.

        A store that takes long is not waited for: the request goes out, and the next ones of this
        process still know how.
        """
        checkpoint = look.checkpoint
        if self.settings.mode != "compress" or checkpoint.view is None or checkpoint.sent:
            return look
        loop = asyncio.get_running_loop()
        try:
            writing = loop.run_in_executor(self._threads, look.engine.seal, checkpoint)
            writing.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            # Slow only where everything is, or hanging, which its log knows; and a kill must find
            # written what went out.
            done, _ = await asyncio.wait({writing}, timeout=self.settings.limits.view_s)
            if not done or writing.result():
                return look
            return await asyncio.wait_for(
                loop.run_in_executor(self._threads, self._again, look), self.settings.limits.view_s
            )
        except Exception:  # noqa: BLE001  the view that was looked at is still good
            return look

    def _again(self, look: Look) -> Look:
        checkpoint = look.engine.checkpoint(look.parsed, decide=False)
        content = self._content(look.document, checkpoint)
        return replace(look, checkpoint=checkpoint, content=content)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.engines.close()
