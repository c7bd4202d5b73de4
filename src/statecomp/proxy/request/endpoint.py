"""Where every request comes in that is not for our own pages, and its way through, step by step."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from time import perf_counter

from starlette.types import Receive, Scope, Send

from statecomp.proxy.account.accountant import Accountant
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.account.lines import log_request
from statecomp.proxy.client import Answer
from statecomp.proxy.faults import Fault
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.request.arrived import Arrived, RequestProgress, route_in
from statecomp.proxy.request.outgoing import Outgoing
from statecomp.proxy.request.preparing import Prepared, Preparer
from statecomp.proxy.request.sending import Sender
from statecomp.proxy.security import answer
from statecomp.proxy.sessions import client_of
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.stream import (
    ClientGone,
    Upload,
    UsageReader,
    read_body,
    relay,
    while_connected,
)
from statecomp.proxy.upstream import Route

GONE = 499
"""What logs call a request whose client went away first."""


def _unseen(exchange: Exchange) -> None:
    """Nobody beside the account looks."""


@dataclass
class ProxyEndpoint:
    """An ASGI app that passes everything on, and reads the requests that carry a history.

    Each step adds one concern and calls the next: the account, failures that become answers,
    where it goes, what goes out, the answer back.
    """

    settings: ProxySettings
    preparer: Preparer
    sender: Sender
    accountant: Accountant
    metrics: Metrics
    open_requests: int = 0
    seen: Callable[[Exchange], None] = _unseen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route, begun = route_in(scope), perf_counter()
        client = client_of(dict(scope["headers"]))
        progress = RequestProgress(Exchange(route.protocol, self.settings.mode, client=client))
        self.open_requests += 1
        try:
            await self._answer_faults(scope, receive, send, route, progress)
        finally:
            self.open_requests -= 1
            self._account(progress.exchange, route, (perf_counter() - begun) * 1000)

    async def _answer_faults(
        self, scope: Scope, receive: Receive, send: Send, route: Route, progress: RequestProgress
    ) -> None:
        try:
            await self._serve(Arrived.of(scope, route, self.settings), receive, send, progress)
        except ClientGone:
            known = progress.exchange
            note = known.note or "the client went away"
            progress.exchange = replace(known, status=known.status or GONE, note=note)
            self.metrics.add("statecomp_disconnects_total")
        except Fault as fault:
            known = progress.exchange
            progress.exchange = replace(known, status=fault.status, note=fault.problem)
            await answer(send, fault, route.protocol)

    async def _serve(
        self, arrived: Arrived, receive: Receive, send: Send, progress: RequestProgress
    ) -> None:
        """Read and rewritten where it carries a history, else streamed up and down, unread."""
        if not arrived.carries_history:
            progress.exchange = replace(progress.exchange, protocol="")
            await self._pass_on(arrived, receive, send, progress)
            return
        declared = arrived.headers.get(b"content-length", b"")
        body = await read_body(receive, declared, self.settings.limits)
        async with while_connected(receive):
            prepared = await self._prepare(arrived, body, progress)
            going = await self.sender.first(prepared)
            response = await self._send(prepared, going, progress)
            await self._relay(response, send, progress)

    async def _pass_on(
        self, arrived: Arrived, receive: Receive, send: Send, progress: RequestProgress
    ) -> None:
        given, headers = arrived.headers, arrived.forwarded
        silence_s = self.settings.limits.body_s
        upload = Upload(receive, silence_s)
        content: bytes | AsyncIterator[bytes] = b""
        if b"content-length" in given or b"transfer-encoding" in given:
            content = upload.pieces()
            if b"content-length" in given:
                headers = [*headers, (b"content-length", given[b"content-length"])]
        else:
            upload.ended.set()
        async with while_connected(upload.after):
            try:
                client = self.sender.client
                response = await client.send(arrived.method, arrived.url, headers, content)
            except Fault:
                if upload.broken:
                    raise ClientGone from None
                if upload.late:
                    raise Fault(408, f"nothing of the request came for {silence_s:g} s") from None
                raise
            await self._relay(response, send, progress)

    async def _prepare(self, arrived: Arrived, body: bytes, progress: RequestProgress) -> Prepared:
        begun = perf_counter()
        prepared = await self.preparer.prepared(arrived, body)
        own_ms = (perf_counter() - begun) * 1000
        known = progress.exchange
        if (request := prepared.request) is None:
            known = replace(known, note=prepared.note, sent_raw=True, own_ms=own_ms)
        else:
            known = replace(
                known,
                note=prepared.note,
                sent_raw=request.content is None,
                own_ms=own_ms,
                tenant=request.tenant,
                session=request.session,
                model=request.model,
                kin=request.kin,
                engine=request.engine,
                checkpoint=request.checkpoint,
                caching=request.caching,
                ttl_s=request.ttl_s,
                decision=prepared.decision,
            )
        progress.exchange = known
        return prepared

    async def _send(self, prepared: Prepared, going: Outgoing, progress: RequestProgress) -> Answer:
        arrived, request = prepared.arrived, prepared.request

        def decide_behind() -> None:
            """The request is on its way: now there is time."""
            known = progress.exchange
            if request is not None and not arrived.route.counts and known.decision is None:
                decision = self.preparer.decider.behind(request, arrived)
                if decision is not None:
                    progress.exchange = replace(known, decision=decision)

        return await self.sender.answered(prepared, going, progress, decide_behind)

    async def _relay(self, response: Answer, send: Send, progress: RequestProgress) -> None:
        reader, note = None, progress.exchange.note
        if progress.exchange.protocol:
            reader = UsageReader(
                response.header(b"content-type"), response.header(b"content-encoding")
            )
        try:
            if not await relay(response, send, reader):
                note = "the upstream broke off"
        finally:
            known = progress.exchange
            usage = reader.finish() if reader is not None else known.usage
            progress.exchange = replace(known, status=response.status, usage=usage, note=note)
            response.close()

    def _account(self, exchange: Exchange, route: Route, total_ms: float) -> None:
        self.metrics.add(
            "statecomp_requests_total",
            protocol=exchange.protocol or "other",
            mode=exchange.mode,
            status=str(exchange.status),
        )
        if not exchange.protocol:
            return
        self.metrics.took(exchange.own_ms)
        if exchange.note:
            self.metrics.add("statecomp_notes_total")
        for kind, tokens in exchange.usage.kinds():
            self.metrics.add("statecomp_provider_tokens_total", tokens, kind=kind)
        if exchange.checkpoint is not None and not route.counts:
            self.metrics.add("statecomp_tokens_total", exchange.raw_tokens, kind="raw")
            self.metrics.add("statecomp_tokens_total", exchange.view_tokens, kind="sent")
            self.accountant.finish(exchange)
            self.seen(exchange)
        log_request(exchange, counts=route.counts, total_ms=total_ms)
