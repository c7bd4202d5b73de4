"""The way to the upstreams: bytes go out as given, and come back as they came."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload
from yarl import URL

from statecomp.proxy.faults import Fault
from statecomp.proxy.settings import Limits, ProxySettings
from statecomp.proxy.upstream import Headers

KEPT_S = 60.0
"""Agents think between two requests; a new connection costs them a handshake each time."""
LONGEST_HEADER = 256 * 1024
MOST_HEADERS = 1024
LAST_STATUS = 599
# What the client did not send is not sent.
HARMLESS = ("GET", "HEAD", "OPTIONS")
NOT_ADDED = ("accept", "accept-encoding", "content-type", "user-agent")


class BrokenOff(Exception):
    """The upstream ended its answer before the end, or fell silent in it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An open answer; `pieces` raises BrokenOff, and `close` lets go of what is not read."""

    status: int
    headers: Headers
    pieces: AsyncIterator[bytes]
    close: Callable[[], None]

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def header(self, name: bytes) -> str:
        values = (value for known, value in self.headers if known.lower() == name)
        return next(values, b"").decode("latin-1")


class Client:
    """One pool for all tenants, so it keeps no cookies and follows nothing."""

    def __init__(self, settings: ProxySettings) -> None:
        self._limits = settings.limits
        self._proxy_for = lru_cache(256)(_proxy_for if settings.trust_env else lambda url: None)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_S, ssl=_trusted()),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=NOT_ADDED,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(
                connect=self._limits.connect_s, sock_read=self._limits.silence_s
            ),
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
            max_headers=MOST_HEADERS,
            trace_configs=[_tracing()],
        )

    async def close(self) -> None:
        await self._session.close()

    async def send(
        self,
        method: str,
        url: str,
        headers: Headers,
        content: bytes | AsyncIterator[bytes],
        on_sent: Callable[[], None] = lambda: None,
    ) -> Answer:
        """The open answer; raises Fault where there is none.  `on_sent` hears when all is out."""
        way = _Way()

        def out() -> None:
            way.is_out = True
            on_sent()

        try:
            try:
                return await self._once(method, url, headers, content, out, way)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                # An upstream may close a connection just as it is used again; a new one tells.
                # What it may have taken is not sent again: it would be done, and billed, twice.
                if way.is_new or not isinstance(content, bytes):
                    raise
                if way.is_out and method not in HARMLESS:
                    raise
                return await self._once(method, url, headers, content, out, way)
        except aiohttp.ConnectionTimeoutError as error:
            raise Fault(504, "the upstream could not be reached in time") from error
        except TimeoutError as error:
            raise Fault(504, "the upstream gave no answer in time") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            kind = type(error).__name__
            raise Fault(502, f"the connection to the upstream failed ({kind})") from error

    async def _once(
        self,
        method: str,
        url: str,
        headers: Headers,
        content: bytes | AsyncIterator[bytes],
        on_sent: Callable[[], None],
        way: _Way,
    ) -> Answer:
        where = URL(url, encoded=True)
        response = await self._session.request(
            method,
            where,
            headers=[(name.decode("latin-1"), _text(value)) for name, value in headers],
            data=_Body(content, on_sent, self._limits) if content else None,
            allow_redirects=False,
            proxy=self._proxy_for(where.origin()),
            trace_request_ctx=way,
        )
        if not content:
            on_sent()
        if not HTTPStatus.OK <= response.status <= LAST_STATUS:
            response.close()
            raise Fault(502, f"the upstream answered with a status of no answer: {response.status}")
        pieces = _pieces(response)
        return Answer(response.status, list(response.raw_headers), pieces, response.close)


@dataclass
class _Way:
    """What is known of how a request went out."""

    is_new: bool = False
    is_out: bool = False  # all of it is written, so an upstream may have taken it


class _Body(Payload):
    """A request body, written as it is; an upstream that does not take it is not waited for."""

    def __init__(
        self,
        content: bytes | AsyncIterator[bytes],
        on_sent: Callable[[], None],
        limits: Limits,
    ) -> None:
        super().__init__(content)
        self._on_sent = on_sent
        self._patience_s = limits.body_s
        if isinstance(content, bytes):
            self._size = len(content)

    async def write(self, writer: AbstractStreamWriter) -> None:
        if isinstance(self._value, bytes):
            await self._put(writer, self._value)
        else:
            self._consumed = True  # it comes from the client, once
            async for piece in self._value:
                await self._put(writer, piece)
        self._on_sent()

    async def _put(self, writer: AbstractStreamWriter, piece: bytes) -> None:
        async with asyncio.timeout(self._patience_s):
            await writer.write(piece)
            await writer.drain()

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        raise TypeError("a request body is bytes")


async def _pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except (aiohttp.ClientError, OSError) as error:
        raise BrokenOff from error


def _text(value: bytes) -> str:
    """What is written as the same bytes; only what is not UTF-8 becomes it."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _tracing() -> aiohttp.TraceConfig:
    async def created(session: aiohttp.ClientSession, ctx: SimpleNamespace, params: Any) -> None:
        ctx.trace_request_ctx.is_new = True

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_start.append(created)
    return tracing


def _proxy_for(origin: URL) -> str | None:
    """What HTTPS_PROXY and the like say; NO_PROXY has the last word."""
    proxies = getproxies()
    named = proxies.get(origin.scheme) or proxies.get("all")
    return None if not named or proxy_bypass(origin.host or "") else named


def _trusted() -> ssl.SSLContext:
    """SSL_CERT_FILE, else what this machine trusts with certifi's list: slim images have none."""
    context = ssl.create_default_context()
    if not os.environ.get("SSL_CERT_FILE"):
        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context
