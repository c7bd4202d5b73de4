"""The desk as an HTTP server: it files what is asked, and waits for whoever answers.

The three APIs, and streams of them, are written by the scripted model's replies.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from statecomp.errors import BadInput
from statecomp.llm.replies import mapping
from statecomp.proxy.security import Guard
from statecomp.proxy.settings import ProxySettings
from statecomp.testing.provider.dialects import CHAT, MESSAGES, RESPONSES, Dialect
from statecomp.testing.provider.meter import Meter, Spent
from statecomp.testing.provider.refusals import Refused
from statecomp.testing.provider.turns import Turn
from statecomp_bench.desk.question import DeskQuestion, asked
from statecomp_bench.desk.queue import Queue

LOOK_S = 0.1
LARGEST_BODY_BYTES = 64_000_000
STREAM = "text/event-stream; charset=utf-8"
AGAIN = {"retry-after": "1"}


def build_app(queue: Queue, wait_s: float) -> ASGIApp:
    """An app for loopback; strange pages in a browser of this machine are kept out."""
    desk = _Desk(queue, wait_s)
    routes = [
        Route(CHAT.path, desk.chat, methods=["POST"]),
        Route(RESPONSES.path, desk.responses, methods=["POST"]),
        Route(MESSAGES.path, desk.messages, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), ProxySettings())


@dataclass(frozen=True)
class _Desk:
    queue: Queue
    wait_s: float

    async def chat(self, request: Request) -> Response:
        return await self._reply(request, CHAT)

    async def responses(self, request: Request) -> Response:
        return await self._reply(request, RESPONSES)

    async def messages(self, request: Request) -> Response:
        return await self._reply(request, MESSAGES)

    async def _reply(self, request: Request, dialect: Dialect) -> Response:
        try:
            body, question = _read(await request.body(), dialect)
            turn = await self._awaited(question)
        except Refused as refused:
            headers = AGAIN if refused.status == 503 else {}
            return JSONResponse(dialect.error(refused), refused.status, headers)
        # The name decides the ids of calls: who asks again gets the very same reply.
        number = int(question.name[:12], 16)
        whole = dialect.reply(body, number, turn, _spent(question, turn))
        if body.get("stream"):
            return StreamingResponse(iter([*dialect.events(whole, body)]), media_type=STREAM)
        return JSONResponse(whole)

    async def _awaited(self, question: DeskQuestion) -> Turn:
        """The answer, within the time there is; it may have been there before."""
        limit = monotonic() + self.wait_s
        try:
            name = self.queue.ask(question)
        except BadInput as error:
            raise Refused(str(error), 500) from error
        while True:
            try:
                turn = self.queue.answer(question)
            except BadInput as error:
                raise Refused(str(error), 502) from error
            if turn is not None:
                return turn
            if (left_s := limit - monotonic()) <= 0:
                raise Refused(f"nobody has answered question {name} yet; ask again later", 503)
            await asyncio.sleep(min(LOOK_S, left_s))


def _read(raw: bytes, dialect: Dialect) -> tuple[Mapping[str, Any], DeskQuestion]:
    """What a reply tells back of the request, and its question."""
    if len(raw) > LARGEST_BODY_BYTES:
        raise Refused(f"the request has more than {LARGEST_BODY_BYTES:,} bytes", 413)
    try:
        body = json.loads(raw)
        if not isinstance(body, dict):
            raise BadInput("the request is no JSON object")
        question = asked(body, dialect.key)
    except BadInput as error:
        raise Refused(str(error), param=error.field) from error
    except ValueError as error:
        raise Refused("the request is no JSON") from error
    except RecursionError as error:
        raise Refused("the request is nested too deep") from error
    told = {name: body.get(name) for name in ("model", "instructions", "tools", "stream")}
    return {**told, "stream_options": mapping(body.get("stream_options"))}, question


def _spent(question: DeskQuestion, turn: Turn) -> Spent:
    """By our estimate; whoever answers has no cache."""
    meter = Meter()
    said = meter.read([question.system, question.tools], question.messages)
    words = (text for call in turn.calls for text in (call.name, call.arguments))
    return Spent(said.input, 0, 0, meter.words(turn.said, *words))
