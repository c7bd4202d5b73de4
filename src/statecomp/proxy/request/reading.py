"""From the bytes of a request to the bytes to send instead: what may fail, and may be late.

Whatever happens here, the request goes out: with what was committed before, or as it came.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, NamedTuple

from statecomp.checkpoint import Checkpoint
from statecomp.compressor import StateComp
from statecomp.history.history import History
from statecomp.proxy.bodies.documents import Document, Unreadable
from statecomp.proxy.bodies.remembered import Documents
from statecomp.proxy.bodies.unpacking import unpacked
from statecomp.proxy.request.arrived import Arrived
from statecomp.proxy.sessions import Kin, client_of, kin_of, model_of, session_of, tenant_of
from statecomp.proxy.settings import Limits, ProxySettings
from statecomp.proxy.tenants import TenantCompressors
from statecomp.proxy.turns import in_turns_of_the_loop
from statecomp.wire.providers import provider_named

LOG = logging.getLogger("statecomp.proxy")
UNWRITTEN = "a request goes out before it was written down what does"
HOUR_S = 3600.0
BUSY_S = 0.05
"""Requests that come faster than this leave little time for anything else."""


@dataclass(frozen=True)
class ReadRequest:
    """A request as it was read, and what stands for it; `content` is None where nothing changed."""

    tenant: str
    session: str
    client: str
    model: str
    kin: Kin
    engine: StateComp
    document: Document
    checkpoint: Checkpoint
    content: bytes | None
    caching: bool
    ttl_s: float | None  # where the client asked for another lifetime than the price book's

    @property
    def parsed(self) -> Mapping[str, Any]:
        return self.document.body

    @property
    def raw(self) -> History | None:
        return self.checkpoint.raw


class _Opened(NamedTuple):
    """A body that is JSON, and whose; what is in it was not looked at."""

    tenant: str
    engine: StateComp
    document: Document


@dataclass
class RequestReader:
    """Reads at once where that is quick, else in threads, where it stops nobody else.

    A thread costs more than reading a history that was seen before and a local store has.  One that
    nobody has seen takes a hundred times as long, and everybody would wait for it.
    """

    settings: ProxySettings
    engines: TenantCompressors
    _reading: int = 0
    _read_s: float = -BUSY_S
    _documents: Documents = field(default_factory=Documents)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="statecomp-view")

    @property
    def busy(self) -> bool:
        return self._reading > 1 or monotonic() - self._read_s < BUSY_S

    async def read(self, arrived: Arrived, body: bytes) -> ReadRequest:
        """Raises Unreadable with why it goes out as it came, whatever went wrong."""
        if encoding := arrived.headers.get(b"content-encoding", b"").decode("latin-1"):
            most = self.settings.limits.body_bytes
            body = await asyncio.to_thread(unpacked, body, encoding, most)
        limits = self.settings.limits
        if self._reading >= limits.views:
            raise Unreadable("too many requests are waiting")
        self._reading += 1
        self._read_s = monotonic()
        try:
            if not self._quick(body):
                return await self._beside(self._read, arrived, body)
            opened = self._opened(arrived, body)
            if _is_light(opened.document, limits):
                return self._looked(arrived, body, opened)
            return await self._beside(self._looked, arrived, body, opened)
        except TimeoutError:
            raise Unreadable(f"no view within {limits.view_s:g} s") from None
        except Unreadable:
            raise
        except Exception as error:
            raise Unreadable(f"could not be read ({type(error).__name__})") from error
        finally:
            self._reading -= 1

    def _quick(self, body: bytes) -> bool:
        local = self.settings.local_store and not self.engines.slow
        return local and len(body) <= self.settings.limits.quick_bytes

    async def _beside(self, work: Callable[..., ReadRequest], *given: Any) -> ReadRequest:
        """In a thread, and for no longer than a view may take."""
        loop = asyncio.get_running_loop()
        working = loop.run_in_executor(self._threads, work, *given)
        working.add_done_callback(_heard)
        if not await in_turns_of_the_loop(working, self.settings.limits.view_s):
            working.cancel()
            raise TimeoutError
        return working.result()

    def _read(self, arrived: Arrived, body: bytes) -> ReadRequest:
        return self._looked(arrived, body, self._opened(arrived, body))

    def _opened(self, arrived: Arrived, body: bytes) -> _Opened:
        tenant = tenant_of(arrived.headers, self.settings.salt)
        engine = self.engines.of(tenant, arrived.route.protocol)
        return _Opened(tenant, engine, self._documents.read(tenant, engine.wire.key, body))

    def _looked(self, arrived: Arrived, body: bytes, opened: _Opened) -> ReadRequest:
        headers, protocol = arrived.headers, arrived.route.protocol
        tenant, engine, document = opened
        given = document.body
        checkpoint = engine.checkpoint(given, decide=False)
        raw = checkpoint.raw
        marked = document.marked >= 0
        return ReadRequest(
            tenant=tenant,
            session=session_of(tenant, headers, given, raw) if raw is not None else "",
            client=client_of(headers),
            model=model_of(given),
            kin=kin_of(tenant, headers, given),
            engine=engine,
            document=document,
            checkpoint=checkpoint,
            content=self._content(document, checkpoint),
            caching=marked or provider_named(protocol).caches_unasked,
            ttl_s=HOUR_S if marked and b'"1h"' in body else None,
        )

    def _content(self, document: Document, checkpoint: Checkpoint) -> bytes | None:
        if not checkpoint.rewritten or self.settings.mode != "compress":
            return None
        return document.written(checkpoint.body)

    async def again(self, request: ReadRequest) -> ReadRequest:
        """The same request with what was committed or sent meanwhile; raises where it cannot be."""
        return await self._beside(self._again, request)

    def _again(self, request: ReadRequest) -> ReadRequest:
        checkpoint = request.engine.checkpoint(request.parsed, decide=False)
        content = self._content(request.document, checkpoint)
        return replace(request, checkpoint=checkpoint, content=content)

    async def sealed(self, request: ReadRequest) -> ReadRequest:
        """Written down before it goes out; what went out before, where something did.

        A store that takes long is not waited for: the request goes out, and the next ones of this
        process still know how.
        """
        checkpoint = request.checkpoint
        if self.settings.mode != "compress" or checkpoint.view is None or checkpoint.sent:
            return request
        loop = asyncio.get_running_loop()
        try:
            writing = loop.run_in_executor(self._threads, request.engine.seal, checkpoint)
            writing.add_done_callback(_heard)
            # Slow only where everything is, or hanging, which its log knows; and a kill must find
            # written what went out.
            if not await in_turns_of_the_loop(writing, self.settings.limits.view_s):
                LOG.warning(UNWRITTEN)
                return request
            return request if writing.result() else await self.again(request)
        except Exception:  # noqa: BLE001  the view that was read is still good
            return request

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.engines.close()


def _is_light(document: Document, limits: Limits) -> bool:
    """Whether it is looked at in a moment."""
    return (
        document.news <= limits.news_bytes
        and len(document.ends) <= limits.quick_messages
        and document.lists <= limits.quick_values
    )


def _heard(ended: asyncio.Future[Any]) -> None:
    """Whoever waited may have gone; then a failure is nobody's, and no news for the log."""
    if not ended.cancelled():
        ended.exception()
