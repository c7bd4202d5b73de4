"""Out to the upstream: the view, and where it is refused, what came in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from statecomp.ledger.ledger import Ledger
from statecomp.proxy.account.exchange import STALE_NOTE
from statecomp.proxy.backoff import Backoff
from statecomp.proxy.client import Answer, Client
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.request.arrived import Arrived, RequestProgress
from statecomp.proxy.request.outgoing import (
    STALE,
    Outgoing,
    asking,
    blames_thinking,
    can_go_stale,
    read_refusal,
)
from statecomp.proxy.request.preparing import Prepared
from statecomp.proxy.request.reading import ReadRequest
from statecomp.proxy.settings import ProxySettings
from statecomp.recent import LruCache

LOG = logging.getLogger("statecomp.proxy")
REFUSED = (400, 413, 422)


@dataclass
class Sender:
    settings: ProxySettings
    ledger: Ledger
    backoff: Backoff
    metrics: Metrics
    _client: Client | None = None
    # Commits that an upstream has accepted in a request: not the first to suspect.
    _accepted: LruCache[str, int] = field(default_factory=lambda: LruCache(16_384))
    # Sessions with thinking of another prefix than the one that goes out.
    _stale: LruCache[str, int] = field(default_factory=lambda: LruCache(16_384))

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = Client(self.settings)
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def first(self, prepared: Prepared) -> Outgoing:
        """What goes out first: the view, or what came in."""
        going = prepared.view or prepared.as_it_came
        if prepared.request is not None and self._stale.get(prepared.request.session):
            return await self._asking(going, prepared.arrived.route.protocol) or going
        return going

    async def _asking(self, going: Outgoing, protocol: str) -> Outgoing | None:
        """A long request is read beside the thread that serves everybody."""
        if len(going.content) <= self.settings.limits.quick_bytes:
            return asking(going, protocol)
        return await asyncio.to_thread(asking, going, protocol)

    async def answered(
        self,
        prepared: Prepared,
        going: Outgoing,
        progress: RequestProgress,
        on_sent: Callable[[], None],
    ) -> Answer:
        """The upstream's answer to the view, or to what came in where it refuses the view."""
        arrived, request = prepared.arrived, prepared.request
        response = await self._not_stale(arrived, going, progress, on_sent)
        if request is None or request.content is None:
            return response
        if response.status in REFUSED:
            return await self._as_it_came(response, prepared, request, progress)
        if response.is_success:
            self._accept(request, arrived)
        return response

    async def _not_stale(
        self,
        arrived: Arrived,
        going: Outgoing,
        progress: RequestProgress,
        on_sent: Callable[[], None] = lambda: None,
    ) -> Answer:
        """The upstream's answer; where stale thinking is refused, that to asking for its loss."""
        url, protocol = arrived.url, arrived.route.protocol
        response = await self.client.send("POST", url, going.headers, going.content, on_sent)
        if not can_go_stale(protocol) or response.status != STALE:
            return response
        try:
            response, text = await read_refusal(response)
            again = await self._asking(going, protocol) if blames_thinking(text) else None
            if again is None:
                return response
            second = await self.client.send("POST", url, again.headers, again.content)
        except BaseException:
            response.close()
            raise
        if second.status == STALE:
            second.close()
            return response
        response.close()
        progress.exchange = replace(progress.exchange, note=STALE_NOTE)
        self.metrics.add("statecomp_stale_thinking_total")
        if progress.exchange.session:
            self._stale.put(progress.exchange.session, 1)
        return second

    async def _as_it_came(
        self, refused: Answer, prepared: Prepared, request: ReadRequest, progress: RequestProgress
    ) -> Answer:
        """The upstream refused what we made of a request: once more, with what the client sent."""
        refused.close()
        progress.exchange = replace(progress.exchange, sent_raw=True)
        self.metrics.add("statecomp_retries_total")
        arrived = prepared.arrived
        response = await self._not_stale(arrived, prepared.as_it_came, progress)
        note = f"the upstream refused the rewritten history ({refused.status})"
        progress.exchange = replace(progress.exchange, note=note)
        if response.is_success and not arrived.route.counts:
            self.backoff.refused(request.session, arrived.url)
            await self._suspect(request, refused.status)
        return response

    def _accept(self, request: ReadRequest, arrived: Arrived) -> None:
        for commit in request.checkpoint.applied:
            self._accepted.put(commit.id, 1)
        # What the model now thinks is bound to this view, and would be stale in the raw history.
        if can_go_stale(arrived.route.protocol) and request.session:
            self._stale.put(request.session, 1)
        self.backoff.accepted(request.session, arrived.url)

    async def _suspect(self, request: ReadRequest, status: int) -> None:
        """Raw was accepted, so a commit is to blame: first those that no upstream has taken yet."""
        applied = [commit.id for commit in request.checkpoint.applied]
        fresh = [name for name in applied if self._accepted.get(name) is None]
        reason = f"the upstream answered {status} with it and took the raw history"
        loop = asyncio.get_running_loop()
        for name in fresh or applied:
            try:
                suspect = partial(self.ledger.suspect, name, reason, tenant=request.tenant)
                await loop.run_in_executor(None, suspect)
            except Exception as error:  # noqa: BLE001  the next request tries again
                LOG.error("a suspect commit could not be undone (%s)", type(error).__name__)
