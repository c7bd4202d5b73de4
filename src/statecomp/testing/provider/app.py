"""The scripted model as an HTTP server: it checks, answers, meters, and fails when told to."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from statecomp.testing.provider.dialects import CHAT, MESSAGES, RESPONSES, Dialect, openai_error
from statecomp.testing.provider.marked import MarkedMeter
from statecomp.testing.provider.meter import Meter, Spent
from statecomp.testing.provider.refusals import STRICT, Refused, Strictness
from statecomp.testing.provider.turns import Body, Fixed, Script, Turn, next_step
from statecomp.tokens import ESTIMATE, TokenCounter

REMEMBERED = 20_000
HELD_S = 0.01
STREAM = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class ScriptedFault:
    """How the next request goes wrong: an error, a page that is no JSON, a delay, a cut stream.

    `cut_after` is the number of events that still arrive before the connection breaks; with
    `hold_after` the stream pauses there until `release` is set.
    """

    status: int = 0
    page: str = ""
    delay_s: float = 0.0
    cut_after: int | None = None
    hold_after: int | None = None
    release: Event = field(default_factory=Event)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived, and what became of it; `refusal` is empty where it was valid.

    `answer` are the bytes of a turn, as they were sent or would have been without a fault.
    """

    path: str
    headers: Mapping[str, str]
    raw: bytes
    status: int
    refusal: str = ""
    spent: Spent | None = None
    answer: bytes = b""

    @property
    def body(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.raw)
        return parsed


class ConnectionBroken(Exception):
    """Raised in the middle of a stream, so that the server drops the connection."""


class ScriptedUpstream:
    """A provider; `received` holds what it was sent, `faults` what it will do wrong next."""

    def __init__(
        self,
        script: Sequence[Turn] | Script,
        *,
        rules: Strictness = STRICT,
        count: TokenCounter = ESTIMATE,
        delay_s: float = 0.0,
        pace_s: float = 0.0,
    ) -> None:
        """`delay_s` passes before an answer begins, `pace_s` behind each of its events."""
        self.script = Fixed(tuple(script)) if isinstance(script, Sequence) else script
        self.rules = rules
        self.delay_s = delay_s
        self.pace_s = pace_s
        self.received: deque[Received] = deque(maxlen=REMEMBERED)
        self.faults: deque[ScriptedFault] = deque()
        self.finished = 0  # streams that were read to their end
        self._meter = Meter(count)
        self._marked = MarkedMeter(count)
        self._stored: dict[str, list[Any]] = {}  # response id -> the conversation so far
        self.app = Starlette(
            routes=[
                Route(CHAT.path, self._chat, methods=["POST"]),
                Route(RESPONSES.path, self._responses, methods=["POST"]),
                Route(MESSAGES.path, self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count_tokens, methods=["POST"]),
                Route("/{path:path}", self._mirror, methods=["GET", "POST", "PUT", "DELETE"]),
            ]
        )

    @property
    def refusals(self) -> list[str]:
        return [received.refusal for received in self.received if received.refusal]

    def requests(self, path: str = "") -> list[Received]:
        """Requests that were answered with a turn, oldest first."""
        return [r for r in self.received if r.spent is not None and path in ("", r.path)]

    async def _chat(self, request: Request) -> Response:
        return await self._answer(request, CHAT)

    async def _responses(self, request: Request) -> Response:
        return await self._answer(request, RESPONSES)

    async def _messages(self, request: Request) -> Response:
        return await self._answer(request, MESSAGES)

    async def _answer(self, request: Request, dialect: Dialect) -> Response:
        raw = await request.body()
        fault = self.faults.popleft() if self.faults else ScriptedFault()
        if delay_s := fault.delay_s or self.delay_s:
            await asyncio.sleep(delay_s)
        if fault.status:
            return self._fail(request, raw, dialect, fault)
        try:
            body = self._checked(request, raw, dialect)
        except Refused as refused:
            self._note(request, raw, refused.status, str(refused))
            return JSONResponse(dialect.error(refused), refused.status)
        step = min(next_step(dialect.call_ids(body)), self.script.last)
        turn = self.script.turn(body, step)
        spent = self._spend(body, dialect, turn)
        whole = dialect.reply(body, step, turn, spent)
        if dialect is RESPONSES and body.get("store", True):
            self._stored[whole["id"]] = [*_items(body["input"]), *whole["output"]]
        streams = bool(body.get("stream"))
        parts = list(dialect.events(whole, body)) if streams else [JSONResponse(whole).body]
        headers = {"x-request-id": f"req_{len(self.received) + 1:06d}", **fault.headers}
        self._note(request, raw, 200, spent=spent, answer=b"".join(map(bytes, parts)))
        if streams:
            events = self._stream([bytes(part) for part in parts], fault)
            return StreamingResponse(events, media_type=STREAM, headers=headers)
        return JSONResponse(whole, headers=headers)

    def _checked(self, request: Request, raw: bytes, dialect: Dialect) -> Body:
        """The body, valid under every rule; raises Refused."""
        if not ({"authorization", "x-api-key"} & set(request.headers)):
            raise Refused("You didn't provide an API key.", 401)
        if len(raw) > self.rules.max_bytes:
            raise Refused("Request exceeds the maximum size", 413)
        try:
            body = json.loads(raw)
        except ValueError as error:
            raise Refused("We could not parse the JSON body of your request.") from error
        if not isinstance(body, dict) or not body.get("model"):
            raise Refused("you must provide a model parameter")
        if previous := body.get("previous_response_id"):
            if previous not in self._stored:
                raise Refused(f"Previous response with id '{previous}' not found.")
            body["input"] = [*self._stored[previous], *_items(body.get("input"))]
        dialect.check(body, request.headers, self.rules)
        return body

    def _spend(self, body: Body, dialect: Dialect, turn: Turn) -> Spent:
        words = (text for call in turn.calls for text in (call.name, call.arguments))
        output = self._meter.words(turn.said, turn.thought, *words)
        if dialect is MESSAGES:
            return replace(self._marked.read(body), output=output)
        head = [body.get(name) for name in dialect.head]
        return replace(self._meter.read(head, _items(body[dialect.key])), output=output)

    def _fail(
        self, request: Request, raw: bytes, dialect: Dialect, fault: ScriptedFault
    ) -> Response:
        self._note(request, raw, fault.status)
        headers = dict(fault.headers)
        if fault.page:
            return Response(fault.page, fault.status, headers, "text/html")
        error = dialect.error(Refused("scripted failure", fault.status))
        return JSONResponse(error, fault.status, headers)

    async def _stream(self, events: list[bytes], fault: ScriptedFault) -> AsyncIterator[bytes]:
        for number, data in enumerate(events):
            if number == fault.cut_after:
                raise ConnectionBroken
            while number == fault.hold_after and not fault.release.is_set():
                await asyncio.sleep(HELD_S)
            yield data
            await asyncio.sleep(self.pace_s)
        self.finished += 1

    async def _count_tokens(self, request: Request) -> Response:
        raw = await request.body()
        try:
            body = self._checked(request, raw, MESSAGES)
        except Refused as refused:
            self._note(request, raw, refused.status, str(refused))
            return JSONResponse(MESSAGES.error(refused), refused.status)
        self._note(request, raw, 200)
        return JSONResponse({"input_tokens": MarkedMeter().read(body).input})

    async def _mirror(self, request: Request) -> Response:
        """Any other path: what arrived, told back."""
        raw = await request.body()
        self._note(request, raw, 200)
        if request.url.path.endswith("/missing"):
            return JSONResponse(openai_error(Refused("Unknown request URL", 404)), 404)
        told = {"method": request.method, "path": request.url.path, "query": request.url.query}
        return JSONResponse({**told, "body": raw.decode("utf-8", "replace")})

    def _note(
        self,
        request: Request,
        raw: bytes,
        status: int,
        refusal: str = "",
        spent: Spent | None = None,
        answer: bytes = b"",
    ) -> None:
        headers, path = dict(request.headers), request.url.path
        self.received.append(Received(path, headers, raw, status, refusal, spent, answer))


def _items(given: Any) -> list[Any]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given or ())
