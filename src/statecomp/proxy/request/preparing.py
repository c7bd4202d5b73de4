"""What to send for a request: read, decided and written down, or why it goes out as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from statecomp.proxy.backoff import Backoff
from statecomp.proxy.bodies.documents import Unreadable
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.request.arrived import Arrived
from statecomp.proxy.request.deciding import Decider, Decision
from statecomp.proxy.request.outgoing import Outgoing
from statecomp.proxy.request.reading import ReadRequest, RequestReader
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.upstream import with_added


@dataclass(frozen=True)
class Prepared:
    """A request before it goes out; `request` is None where it was not read, `note` says why."""

    arrived: Arrived
    body: bytes
    request: ReadRequest | None = None
    decision: Decision | None = None
    note: str = ""

    @property
    def as_it_came(self) -> Outgoing:
        read = self.request.parsed if self.request is not None else None
        return Outgoing(self.body, self.arrived.forwarded, read)

    @property
    def view(self) -> Outgoing | None:
        """None where nothing is rewritten."""
        if self.request is None or self.request.content is None:
            return None
        checkpoint = self.request.checkpoint
        headers = with_added(self.arrived.forwarded, checkpoint.headers)
        return Outgoing(self.request.content, headers, checkpoint.body)


@dataclass(frozen=True)
class Preparer:
    settings: ProxySettings
    reader: RequestReader
    decider: Decider
    backoff: Backoff
    metrics: Metrics

    async def prepared(self, arrived: Arrived, body: bytes) -> Prepared:
        if reason := self._hands_off(arrived.headers):
            return Prepared(arrived, body, note=reason)
        try:
            request = await self.reader.read(arrived, body)
        except Unreadable as error:
            return Prepared(arrived, body, note=str(error))
        decision, resting = None, self.backoff.why(request.session, arrived.url)
        if resting:
            request = self._resting(request, arrived)
        elif not arrived.route.counts:
            request, decision = await self.decider.before(request, arrived)
            request = await self.reader.sealed(request)
        self.decider.seen(request)
        return Prepared(arrived, body, request, decision, request.checkpoint.note or resting)

    def _hands_off(self, headers: Mapping[bytes, bytes]) -> str:
        if self.settings.mode == "off":
            return "the proxy is off"
        if headers.get(b"x-statecomp-bypass", b"0") not in (b"0", b""):
            return "the client asked for it (x-statecomp-bypass)"
        return ""

    def _resting(self, request: ReadRequest, arrived: Arrived) -> ReadRequest:
        """As it came, for a while after an upstream refused a rewrite."""
        if not arrived.route.counts:
            self.backoff.rested(request.session, arrived.url)
            self.metrics.add("statecomp_rests_total")
        return replace(request, content=None)
