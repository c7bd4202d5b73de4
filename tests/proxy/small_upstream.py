"""An upstream that does what a test tells it, byte by byte, and remembers what it was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from time import monotonic
from typing import Any

import httpx

from statecomp.controller.age import AgeScorer
from statecomp.controller.prices import PriceBook
from statecomp.controller.spans import Gates
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.nearby import NearbyFile
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.app import build_app
from statecomp.proxy.client import Answer as Received
from statecomp.proxy.client import Client
from statecomp.proxy.request.endpoint import ProxyEndpoint
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.upstream import Headers
from statecomp.testing.provider.serving import serving

REPLY = {
    "id": "r1",
    "model": "small",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "done"}}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 7},
}
EAGER = Method(scorer=lambda: AgeScorer(2), rule=Gates(longer_than=1, min_source_tokens=50))
KEY = {"authorization": "Bearer sk-test-0123456789abcdefghij"}


@dataclass(frozen=True)
class Got:
    """A request as it arrived; headers in order, lower case."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> list[str]:
        return [value for known, value in self.headers if known == name]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Answer:
    """What goes back.  Before each chunk but the first the upstream waits for `go`, if given."""

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"),)
    go: Event | None = None
    breaks: bool = False  # the connection is dropped behind the chunks
    delay_s: float = 0.0


def fine(got: Got) -> Answer:
    return Answer([json.dumps(REPLY).encode()])


@dataclass
class SmallUpstream:
    answer: Callable[[Got], Answer] = fine
    received: list[Got] = field(default_factory=list)
    left: Event = field(default_factory=Event)
    """Set when a client went away before it had its whole answer."""
    sent_chunks: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        body = b"".join([part async for part in _body(receive)])
        headers = tuple((n.decode(), v.decode("latin-1")) for n, v in scope["headers"])
        query = scope["query_string"].decode()
        got = Got(scope["method"], scope["raw_path"].decode(), query, headers, body)
        self.received.append(got)
        watcher = asyncio.create_task(self._watch(receive))
        try:
            await self._reply(self.answer(got), send)
        finally:
            watcher.cancel()

    async def _watch(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left.set()

    async def _reply(self, answer: Answer, send: Any) -> None:
        ends = monotonic() + answer.delay_s
        while monotonic() < ends and not self.left.is_set():
            await asyncio.sleep(0.005)
        headers = [(n.encode(), v.encode()) for n, v in answer.headers]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        for place, chunk in enumerate(answer.chunks):
            while place and answer.go is not None and not answer.go.is_set():
                if self.left.is_set():
                    return
                await asyncio.sleep(0.005)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            self.sent_chunks += 1
        if not answer.breaks:
            await send({"type": "http.response.body", "body": b""})


async def _body(receive: Any) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        more = message.get("more_body", False)
        yield message.get("body", b"")


async def _lifespan(receive: Any, send: Any) -> None:
    for stage in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{stage}.complete"})


class Joined(Client):
    """The way to an upstream in this process: function calls instead of sockets."""

    def __init__(self, app: Any) -> None:
        self._calls = httpx.AsyncClient(transport=httpx.ASGITransport(app))

    async def close(self) -> None:
        await self._calls.aclose()

    async def send(
        self,
        method: str,
        url: str,
        headers: Headers,
        content: bytes | AsyncIterator[bytes],
        on_sent: Callable[[], None] = lambda: None,
    ) -> Received:
        request = httpx.Request(method, url, headers=headers, content=content)
        response = await self._calls.send(request, stream=True)
        on_sent()
        return Received(
            response.status_code, response.headers.raw, response.aiter_raw(), lambda: None
        )


@dataclass
class Running:
    """A proxy on a real port before a small upstream."""

    url: str
    upstream: SmallUpstream
    ledger: Ledger
    endpoint: ProxyEndpoint
    client: httpx.Client

    def chat(self, messages: Sequence[Any], **headers: str) -> httpx.Response:
        body = {"model": "small", "messages": list(messages)}
        return self.client.post("/v1/chat/completions", json=body, headers={**KEY, **headers})

    @property
    def received(self) -> list[Got]:
        return self.upstream.received

    def drain(self) -> Ledger:
        """The ledger, when decisions and accounts of the requests so far are in it."""
        limit = 600
        while limit and (
            self.endpoint.open_requests or not self.endpoint.preparer.decider.background.idle
        ):
            limit -= 1
            Event().wait(0.02)
        self.endpoint.accountant.flush()
        return self.ledger


@contextmanager
def running(
    upstream: SmallUpstream | None = None,
    *,
    method: Method = EAGER,
    ledger: Ledger | None = None,
    url: str = "",
    prices: PriceBook | None = None,
    nearby: NearbyFile | None = None,
    **settings: Any,
) -> Iterator[Running]:
    """By default every decision is made before its request goes out."""
    model = upstream or SmallUpstream()
    store = ledger or open_ledger(":memory:")
    with serving(model) as direct:
        given = {"upstream": url or direct, "commit": "now", "salt": b"salt", "trust_env": False}
        chosen = ProxySettings(**{**given, **settings})
        app = build_app(chosen, store, method, prices=prices, nearby=nearby)
        with serving(app) as address, httpx.Client(base_url=address, trust_env=False) as client:
            client.timeout = httpx.Timeout(30)
            yield Running(address, model, store, app.endpoint, client)
