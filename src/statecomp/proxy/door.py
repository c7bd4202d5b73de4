"""One request through the proxy: read, look, forward, relay, account."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from threading import Event
from time import perf_counter

from starlette.types import Receive, Scope, Send

from statecomp.ledger.audit import Ledger
from statecomp.proxy.account.accountant import Accountant
from statecomp.proxy.account.exchange import STALE_NOTE, Exchange
from statecomp.proxy.account.lines import log_request
from statecomp.proxy.backoff import Backoff
from statecomp.proxy.bodies.documents import Unreadable
from statecomp.proxy.bodies.unpacking import unpacked
from statecomp.proxy.client import Answer, Client
from statecomp.proxy.faults import Fault
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.outgoing import (
    STALE,
    Outgoing,
    asking,
    blames_thinking,
    can_go_stale,
    read_refusal,
)
from statecomp.proxy.security import answer
from statecomp.proxy.sessions import client_of, kin_of
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.stream import (
    ClientGone,
    Upload,
    UsageReader,
    read_body,
    relay,
    while_connected,
)
from statecomp.proxy.upstream import (
    Headers,
    Route,
    forwarded,
    keys_in,
    route_of,
    target,
    with_added,
)
from statecomp.proxy.views import HOUR_S, Look, Views
from statecomp.recent import LruCache

LOG = logging.getLogger("statecomp.proxy")
REFUSED = (400, 413, 422)
GONE = 499
"""What logs call a request whose client went away first."""


@dataclass
class Door:
    """An ASGI app that passes everything on, and looks at the requests that carry a history."""

    settings: ProxySettings
    ledger: Ledger
    views: Views
    accountant: Accountant
    metrics: Metrics
    open_requests: int = 0
    backoff: Backoff = field(default_factory=Backoff)
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = route_of((scope.get("raw_path") or scope["path"].encode()).decode("latin-1"))
        exchange = Exchange(route.protocol, self.settings.mode)
        begun = perf_counter()
        self.open_requests += 1
        try:
            await self._serve(scope, receive, send, route, exchange)
        except ClientGone:
            exchange.status = exchange.status or GONE
            exchange.note = exchange.note or "the client went away"
            self.metrics.add("statecomp_disconnects_total")
        except Fault as fault:
            exchange.status, exchange.note = fault.status, fault.problem
            await answer(send, fault, route.protocol)
        finally:
            self.open_requests -= 1
            self._done(exchange, route, (perf_counter() - begun) * 1000)

    async def _serve(
        self, scope: Scope, receive: Receive, send: Send, route: Route, exchange: Exchange
    ) -> None:
        headers = {**dict(scope["headers"]), **keys_in(scope["query_string"])}
        url = target(self.settings, route, headers)
        if scope["query_string"]:
            url += "?" + scope["query_string"].decode("latin-1")
        exchange.client = client_of(headers)
        out = forwarded(scope["headers"])
        if not route.protocol or scope["method"] != "POST":
            exchange.protocol = ""
            await self._pass_on(scope, receive, send, url, out, exchange)
            return
        body = await read_body(receive, headers.get(b"content-length", b""), self.settings.limits)
        async with while_connected(receive):
            await self._carry(send, route, url, headers, out, body, exchange)

    async def _pass_on(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        url: str,
        headers: Headers,
        exchange: Exchange,
    ) -> None:
        """Anything that carries no history: streamed up and down, unread."""
        given = dict(scope["headers"])
        upload = Upload(receive)
        content: bytes | AsyncIterator[bytes] = b""
        if b"content-length" in given or b"transfer-encoding" in given:
            content = upload.pieces()
            if b"content-length" in given:
                headers = [*headers, (b"content-length", given[b"content-length"])]
        else:
            upload.ended.set()
        async with while_connected(upload.after):
            try:
                response = await self.client.send(scope["method"], url, headers, content)
            except Fault:
                if upload.broken:
                    raise ClientGone from None
                raise
            await self._relay(response, send, exchange)

    async def _carry(
        self,
        send: Send,
        route: Route,
        url: str,
        headers: Mapping[bytes, bytes],
        out: Headers,
        body: bytes,
        exchange: Exchange,
    ) -> None:
        """A request with a history in it."""
        begun = perf_counter()
        look = await self._look(route, url, headers, body, exchange)
        going = self._going(look, out, body, exchange)
        exchange.own_ms = (perf_counter() - begun) * 1000

        def decide_behind() -> None:
            """The request is on its way: now there is time."""
            if look is not None and not route.counts and exchange.decision is None:
                self._decide_behind(look, exchange)

        response = await self._answered(url, going, exchange, decide_behind)
        if not exchange.sent_raw and response.status in REFUSED:
            raw = Outgoing(body, out, look.parsed if look is not None else None)
            response = await self._again_raw(response, url, raw, look, route, exchange)
        elif response.is_success and look is not None and not exchange.sent_raw:
            self._accept(look, exchange)
            self.backoff.accepted(exchange.session, url)
        await self._relay(response, send, exchange)

    def _going(self, look: Look | None, out: Headers, body: bytes, exchange: Exchange) -> Outgoing:
        """What goes out first: the view, or what came in."""
        going = Outgoing(body, out, look.parsed if look is not None else None)
        exchange.sent_raw = look is None or look.content is None
        if look is not None and look.content is not None:
            checkpoint = look.checkpoint
            headers = with_added(out, checkpoint.headers)
            going = Outgoing(look.content, headers, checkpoint.body)
        if self._stale.get(exchange.session):
            return asking(going, exchange.protocol) or going
        return going

    async def _answered(
        self,
        url: str,
        going: Outgoing,
        exchange: Exchange,
        on_sent: Callable[[], None] = lambda: None,
    ) -> Answer:
        """The upstream's answer; where stale thinking is refused, that to asking for its loss."""
        response = await self.client.send("POST", url, going.headers, going.content, on_sent)
        if not can_go_stale(exchange.protocol) or response.status != STALE:
            return response
        try:
            response, text = await read_refusal(response)
            again = asking(going, exchange.protocol) if blames_thinking(text) else None
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
        exchange.note = STALE_NOTE
        self.metrics.add("statecomp_stale_thinking_total")
        if exchange.session:
            self._stale.put(exchange.session, 1)
        return second

    def _accept(self, look: Look, exchange: Exchange) -> None:
        for commit in look.checkpoint.applied:
            self._accepted.put(commit.id, 1)
        # What the model now thinks is bound to this view, and would be stale in the raw history.
        if can_go_stale(exchange.protocol) and exchange.session:
            self._stale.put(exchange.session, 1)

    async def _look(
        self,
        route: Route,
        url: str,
        headers: Mapping[bytes, bytes],
        body: bytes,
        exchange: Exchange,
    ) -> Look | None:
        if reason := self._hands_off(headers):
            exchange.note = reason
            return None
        look = await self._view(route, url, headers, body)
        if isinstance(look, str):
            exchange.note = look
            return None
        resting = self.backoff.why(look.session, url)
        if resting:
            look = replace(look, content=None)
            if not route.counts:
                self.backoff.rested(look.session, url)
                self.metrics.add("statecomp_rests_total")
        elif not route.counts and self.views.decidable(look):
            now = self.views.circumstances(look)
            if patience_s := self.views.patience_s(look, now):
                given_up = Event()
                exchange.decision = self.views.decide(look, now, given_up)
                look = await self.views.waited(look, exchange.decision, patience_s)
                if self.views.too_late_is_lost(look, now):
                    given_up.set()
        if not (route.counts or resting):
            look = await self.views.sealed(look)
        self.views.seen(look)
        exchange.tenant, exchange.session, exchange.model = look.tenant, look.session, look.model
        exchange.kin = kin_of(look.tenant, headers, look.parsed)
        exchange.engine, exchange.checkpoint = look.engine, look.checkpoint
        exchange.caching, exchange.ttl_s = look.caching, HOUR_S if look.long_lived else None
        exchange.note = look.checkpoint.note or resting
        return look

    async def _view(
        self, route: Route, url: str, headers: Mapping[bytes, bytes], body: bytes
    ) -> Look | str:
        """What to send, or why it goes out as it came."""
        if encoding := headers.get(b"content-encoding", b"").decode("latin-1"):
            most = self.settings.limits.body_bytes
            try:
                body = await asyncio.to_thread(unpacked, body, encoding, most)
            except Unreadable as error:
                return str(error)
        return await self.views.of(route.protocol, headers, body, url)

    def _hands_off(self, headers: Mapping[bytes, bytes]) -> str:
        if self.settings.mode == "off":
            return "the proxy is off"
        if headers.get(b"x-statecomp-bypass", b"0") not in (b"0", b""):
            return "the client asked for it (x-statecomp-bypass)"
        return ""

    def _decide_behind(self, look: Look, exchange: Exchange) -> None:
        if self.views.decidable(look):
            exchange.decision = self.views.decide(look, self.views.circumstances(look))

    async def _again_raw(
        self,
        refused: Answer,
        url: str,
        raw: Outgoing,
        look: Look | None,
        route: Route,
        exchange: Exchange,
    ) -> Answer:
        """The upstream refused what we made of a request: once more, with what the client sent."""
        refused.close()
        exchange.sent_raw = True
        self.metrics.add("statecomp_retries_total")
        response = await self._answered(url, raw, exchange)
        exchange.note = f"the upstream refused the rewritten history ({refused.status})"
        if response.is_success and look is not None and not route.counts:
            self.backoff.refused(exchange.session, url)
            await self._suspect(look, refused.status)
        return response

    async def _suspect(self, look: Look, status: int) -> None:
        """Raw was accepted, so a commit is to blame: first those that no upstream has taken yet."""
        applied = [commit.id for commit in look.checkpoint.applied]
        fresh = [name for name in applied if self._accepted.get(name) is None]
        reason = f"the upstream answered {status} with it and took the raw history"
        loop = asyncio.get_running_loop()
        for name in fresh or applied:
            try:
                suspect = partial(self.ledger.suspect, name, reason, tenant=look.tenant)
                await loop.run_in_executor(None, suspect)
            except Exception as error:  # noqa: BLE001  the next request tries again
                LOG.error("a suspect commit could not be undone (%s)", type(error).__name__)

    async def _relay(self, response: Answer, send: Send, exchange: Exchange) -> None:
        exchange.status = response.status
        reader = None
        if exchange.protocol:
            reader = UsageReader(
                response.header(b"content-type"),
                response.header(b"content-encoding"),
            )
        try:
            if not await relay(response, send, reader):
                exchange.note = "the upstream broke off"
        finally:
            if reader is not None:
                exchange.usage = reader.finish()
            response.close()

    def _done(self, exchange: Exchange, route: Route, total_ms: float) -> None:
        protocol = exchange.protocol or "other"
        self.metrics.add(
            "statecomp_requests_total",
            protocol=protocol,
            mode=exchange.mode,
            status=str(exchange.status),
        )
        if not exchange.protocol:
            return
        self.metrics.took(exchange.own_ms)
        if exchange.note:
            self.metrics.add("statecomp_notes_total")
        for kind, tokens in asdict(exchange.usage).items():
            self.metrics.add("statecomp_provider_tokens_total", tokens, kind=kind)
        if exchange.checkpoint is not None and not route.counts:
            self.metrics.add("statecomp_tokens_total", exchange.raw_tokens, kind="raw")
            self.metrics.add("statecomp_tokens_total", exchange.view_tokens, kind="sent")
            self.accountant.finish(exchange)
        log_request(exchange, counts=route.counts, total_ms=total_ms)
