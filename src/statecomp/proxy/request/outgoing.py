"""What goes out: bodies as bytes, and thinking that went stale outside a rewrite.

Thinking made behind a rewritten prefix is signed over that prefix.  When the raw history goes out
again (an undone commit, a lost ledger, a bypass, another proxy), it is stale there for good, and
every further request of the run would be refused.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.proxy.bodies.documents import Unreadable, parsed, read_bytes
from statecomp.proxy.client import Answer, BrokenOff
from statecomp.proxy.upstream import Headers, with_added
from statecomp.wire.providers import provider_named

STALE = 400
LONGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it goes out; `body` is None where nobody has read it yet."""

    content: bytes
    headers: Headers
    body: Mapping[str, Any] | None = None


def asking(going: Outgoing, protocol: str) -> Outgoing | None:
    """The same request, asking for stale thinking to be dropped.

    None where its provider has no word for that, where it asks already, where no thinking could be
    stale, and where the client forbids it.
    """
    drop = provider_named(protocol).drop_stale
    if drop is None:
        return None
    try:
        body = going.body if going.body is not None else parsed(going.content)
        messages = body.get("messages")
        if not isinstance(messages, list | tuple):
            return None
        readable = [message for message in messages if isinstance(message, Mapping)]
        adapted = drop(body, readable, 0)
        if adapted.body is body:
            return None
        news = {name: value for name, value in adapted.body.items() if value is not body.get(name)}
        document = read_bytes(going.content, "messages")
        content = document.written({**document.body, **news})
    except (Unreadable, InvalidHistory, ValueError):
        return None
    headers = with_added(going.headers, adapted.headers)
    return replace(going, content=content, headers=headers, body=adapted.body)


async def read_refusal(answer: Answer) -> tuple[Answer, str]:
    """The same answer, not lost by reading, and the beginning of its text."""
    begun: list[bytes] = []
    size, broken = 0, None
    try:
        async for piece in answer.pieces:
            begun.append(piece)
            size += len(piece)
            if size > LONGEST:
                break
    except BrokenOff as error:
        broken = error
    again = replace(answer, pieces=_rejoined(begun, answer.pieces, broken))
    return again, _text(b"".join(begun), answer.header(b"content-encoding"))


async def _rejoined(
    begun: Sequence[bytes], rest: AsyncIterator[bytes], broken: BrokenOff | None
) -> AsyncIterator[bytes]:
    for piece in begun:
        yield piece
    if broken is not None:
        raise broken
    async for piece in rest:
        yield piece


def can_go_stale(protocol: str) -> bool:
    """Whether this provider refuses thinking that was made behind another prefix."""
    return bool(protocol) and provider_named(protocol).drop_stale is not None


def blames_thinking(text: str) -> bool:
    """Whether a refusal may be about stale thinking; one that cannot be read may."""
    return not text or "thinking" in text.lower()


def _text(content: bytes, encoding: str) -> str:
    encoding = encoding.strip().lower()
    if encoding in ("gzip", "deflate"):
        try:
            content = zlib.decompressobj(wbits=47).decompress(content, LONGEST)
        except zlib.error:
            return ""
    elif encoding not in ("", "identity"):
        return ""
    return content.decode("utf-8", "replace")
