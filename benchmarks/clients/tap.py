"""A hop in front of the proxy that notes what the client is given: answers must come as sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

HOPS = frozenset({"host", "connection", "keep-alive", "transfer-encoding", "content-length"})
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"]


@dataclass
class Tap:
    """`given` holds the bytes of each answer by the provider's name for the request."""

    target: str
    given: dict[str, bytes] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)  # answers that were not 200

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._pass, methods=METHODS)])

    async def _pass(self, request: Request) -> Response:
        client = httpx.AsyncClient(timeout=None)
        url = self.target + request.url.path
        url += f"?{request.url.query}" if request.url.query else ""
        headers = [(k, v) for k, v in request.headers.items() if k not in HOPS]
        # Not by the client's own method, which would add headers that the agent did not send.
        asked = httpx.Request(request.method, url, headers=headers, content=await request.body())
        answer = await client.send(asked, stream=True)
        if answer.status_code != 200:
            self.failed.append(f"{request.method} {request.url.path}: {answer.status_code}")
        back = {k: v for k, v in answer.headers.items() if k not in HOPS}
        pieces = self._noted(client, answer, answer.headers.get("x-request-id", ""))
        return StreamingResponse(pieces, answer.status_code, back)

    async def _noted(
        self, client: httpx.AsyncClient, answer: httpx.Response, name: str
    ) -> AsyncIterator[bytes]:
        seen = []
        try:
            async for piece in answer.aiter_raw():
                seen.append(piece)
                yield piece
        finally:
            if name:
                self.given[name] = b"".join(seen)
            await answer.aclose()
            await client.aclose()
