"""Bytes in both directions, as they come: nothing is rebuilt, nothing is held.

What a provider billed is read off an answer that passes by.  An answer is never held whole: of a
stream only the lines that speak of usage are looked at, of a plain answer no more than a few
megabytes are kept until its end.
"""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Receive, Send

from statecomp.proxy.client import Answer, BrokenOff
from statecomp.proxy.faults import Fault
from statecomp.proxy.settings import Limits
from statecomp.proxy.upstream import returned
from statecomp.tokens.usage import Usage
from statecomp.wire.providers import usage_in

LONGEST = 4 << 20
QUICK = 256 * 1024
"""Bytes that are read in ten or twenty milliseconds, whatever stands in them."""
MUCH = 2 * QUICK
"""Bytes of lines that tell of usage, in one piece of an answer; an honest one has a few hundred."""
_USAGE = re.compile(rb'"usage"[ \t\r\n]*:[ \t\r\n]*')
_TELLS = re.compile(rb'"usage"[ \t]*:[ \t]*\{')
MOST_UNPACKED = 64 << 20
"""No answer that tells its usage is longer; reading on would only cost time."""


class ClientGone(Exception):
    """The client went away; nobody waits for the rest."""


async def read_body(receive: Receive, declared: bytes, limits: Limits) -> bytes:
    """The whole request body; raises Fault where it is too large or too slow."""
    if declared.isdigit() and int(declared) > limits.body_bytes:
        raise _too_large(limits)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_s):
            async for part in incoming(receive):
                size += len(part)
                if size > limits.body_bytes:
                    raise _too_large(limits)
                parts.append(part)
    except TimeoutError:
        raise Fault(408, f"the request did not arrive within {limits.body_s:g} s") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(limits: Limits) -> Fault:
    return Fault(413, f"the request is larger than {limits.body_bytes:,} bytes")


async def incoming(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        if part := message.get("body", b""):
            yield part


@dataclass
class Upload:
    """A body that goes on as it comes; what is received behind it tells that the client left.

    It may be as long as it likes, but a client that says nothing for `silence_s` is `late`.
    """

    receive: Receive
    silence_s: float
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    broken: bool = False
    late: bool = False

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            async for part in incoming(self._heard):
                yield part
        except ClientGone:
            self.broken = True
            raise
        self.ended.set()

    async def _heard(self) -> Any:
        try:
            async with asyncio.timeout(self.silence_s):
                return await self.receive()
        except TimeoutError:
            self.late = True
            raise

    async def after(self) -> Any:
        await self.ended.wait()
        return await self.receive()


async def relay(answer: Answer, send: Send, usage: UsageReader | None) -> bool:
    """The answer to the client, piece by piece; false where the upstream broke off.

    A client that reads slowly is waited for in `send`, and so the upstream is read no faster.
    """
    headers = returned(answer.headers)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    try:
        async for chunk in answer.pieces:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if usage is not None:
                usage.feed(chunk)
    except BrokenOff:
        # Not ended: the server then drops the connection, and the client sees what we saw.
        return False
    await send({"type": "http.response.body", "body": b""})
    return True


@asynccontextmanager
async def while_connected(receive: Receive) -> AsyncIterator[None]:
    """Runs the block; ends it as ClientGone when the client goes away."""
    work = asyncio.current_task()
    assert work is not None
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        work.cancel()

    watcher = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not gone:
            raise
        raise ClientGone from None
    finally:
        watcher.cancel()
        if gone:
            work.uncancel()


@dataclass
class UsageReader:
    """Fed with the bytes of one answer; `usage` is what they said so far."""

    content_type: str = ""
    encoding: str = ""
    usage: Usage = field(default_factory=Usage)
    _rest: bytearray = field(default_factory=bytearray)
    _skipping: bool = False
    _members: int = 64
    _room: int = MOST_UNPACKED

    def __post_init__(self) -> None:
        self._streams = "event-stream" in self.content_type
        encoding = self.encoding.strip().lower()
        self._unzip = zlib.decompressobj(wbits=47) if encoding in ("gzip", "deflate") else None
        # Brotli and Zstandard would need more than the standard library: then usage is unknown.
        self._blind = encoding not in ("", "identity", "gzip", "deflate")

    def feed(self, chunk: bytes) -> None:
        if self._blind:
            return
        if self._unzip is not None:
            chunk = self._plain(chunk)
        if self._streams:
            self._feed_lines(chunk)
        elif len(self._rest) + len(chunk) <= LONGEST:
            self._rest += chunk
        else:
            self._blind = True
            self._rest.clear()

    def finish(self) -> Usage:
        """The usage of a whole answer."""
        if self._rest and not self._blind:
            self._look(bytes(self._rest))
        self._rest.clear()
        return self.usage

    def _plain(self, chunk: bytes) -> bytes:
        """What a chunk says unpacked; a gzip answer may have several members."""
        parts: list[bytes] = []
        left = LONGEST
        try:
            while chunk and self._members and left:
                assert self._unzip is not None
                parts.append(self._unzip.decompress(chunk, left))
                left -= len(parts[-1])
                chunk = self._unzip.unused_data
                if self._unzip.eof:
                    self._unzip = zlib.decompressobj(wbits=47)
                    self._members -= 1
        except zlib.error:
            self._blind = True
            return b""
        self._room -= sum(map(len, parts))
        # A bomb is not worth its usage.
        bomb = bool(self._unzip and self._unzip.unconsumed_tail) or self._room < 0
        self._blind = bomb or bool(chunk)
        return b"" if self._blind else b"".join(parts)

    def _feed_lines(self, chunk: bytes) -> None:
        """The lines that are whole now; of a line too long to keep, nothing is kept."""
        behind = chunk.rfind(b"\n") + 1
        if behind:
            start = chunk.find(b"\n") if self._skipping else 0
            self._look_through(bytes(self._rest) + chunk[start:behind])
            self._rest.clear()
            self._skipping = False
        if self._skipping or len(self._rest) + len(chunk) - behind > LONGEST:
            self._skipping = True
            self._rest.clear()
        else:
            self._rest += chunk[behind:]

    def _look_through(self, lines: bytes) -> None:
        """At those that tell of usage, as many as are read in a moment."""
        place, left = 0, MUCH
        while left > 0 and (found := _TELLS.search(lines, place)):
            start, place = lines.rfind(b"\n", 0, found.start()) + 1, lines.index(b"\n", found.end())
            self._look(lines[start:place].removeprefix(b"data:"))
            left -= 100 + min(place - start, QUICK)

    def _look(self, text: bytes) -> None:
        try:
            value = json.loads(text) if len(text) <= QUICK else _only_usage(text)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            self.usage = later(self.usage, value)


def _only_usage(text: bytes) -> dict[str, Any]:
    """What a text says of its usage that would take too long to read; it must say it once."""
    found = _USAGE.search(text) if text.count(b'"usage"') == 1 else None
    if found is None:
        return {}
    told = text[found.end() : found.end() + QUICK].decode("utf-8", "replace")
    return {"usage": json.JSONDecoder().raw_decode(told)[0]}


def later(before: Usage, value: Mapping[str, Any]) -> Usage:
    """What is known after one more object: a whole answer, or an event of a stream."""
    for holder in (value.get("message"), value.get("response"), value):
        found = holder.get("usage") if isinstance(holder, Mapping) else None
        if isinstance(found, Mapping):
            return _merged(before, found)
    return before


def _merged(before: Usage, found: Mapping[str, Any]) -> Usage:
    """A later event speaks of what is new in it: Anthropic gives the input first, then output."""
    read = usage_in(found)
    source = read if read.input > before.input else before
    output = read.output or before.output
    # Both are part of the input, whatever an upstream says.
    cached = min(source.cached, source.input)
    written = min(source.written, source.input - cached)
    return Usage(source.input, cached, written, output)
