"""Bytes in both directions, as they come: nothing is rebuilt, nothing is held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from starlette.types import Receive, Send

from statecomp.proxy.faults import Fault
from statecomp.proxy.settings import Limits
from statecomp.proxy.upstream import returned
from statecomp.proxy.usage import UsageReader


class ClientGone(Exception):
    """The client went away; nobody waits for the rest."""


async def read_body(receive: Receive, declared: bytes, limits: Limits) -> bytes:
    """The whole request body; raises Fault where it is too large or too slow."""
    too_large = Fault(413, f"the request is larger than {limits.body_bytes:,} bytes")
    if declared.isdigit() and int(declared) > limits.body_bytes:
        raise too_large
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_s):
            async for part in incoming(receive):
                size += len(part)
                if size > limits.body_bytes:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise Fault(408, f"the request did not arrive within {limits.body_s:g} s") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def incoming(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        if part := message.get("body", b""):
            yield part


async def relay(response: httpx.Response, send: Send, usage: UsageReader | None) -> bool:
    """The answer to the client, piece by piece; false where the upstream broke off.

    A client that reads slowly is waited for in `send`, and so the upstream is read no faster.
    """
    headers = returned(response.headers.raw)
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    try:
        async for chunk in response.aiter_raw():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            if usage is not None:
                usage.feed(chunk)
    except httpx.HTTPError:
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
