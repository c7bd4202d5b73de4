"""Where a request goes on to, and which of its headers go with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeAlias

import httpx

from statecomp.proxy.faults import Fault
from statecomp.proxy.settings import ANTHROPIC, OPENAI, Limits, ProxySettings

Headers: TypeAlias = list[tuple[bytes, bytes]]

# RFC 9110, 7.6.1: these belong to one connection and end with it.
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
NOT_FORWARDED = HOP_BY_HOP | {b"host", b"content-length", b"expect"}
OWN = b"x-statecomp-"
COOKIE = b"statecomp-token"
KEPT_S = 60.0
"""Agents think between two requests; a new connection costs them a handshake each time."""


@dataclass(frozen=True, slots=True)
class Route:
    """What a path asks for; without a protocol it is passed on unread.

    `counts` is a request for a token count, which must be of the history that would be sent.
    """

    path: str
    protocol: str = ""
    upstream: str = ""
    counts: bool = False


def route_of(path: str) -> Route:
    """`/u/NAME/v1/messages` and the like, taken apart."""
    upstream = ""
    if path.startswith("/u/"):
        upstream, slash, rest = path[3:].partition("/")
        path = slash + rest
    end = path.removesuffix("/count_tokens").removesuffix("/input_tokens")
    counts = end != path
    if path.endswith("/chat/completions"):
        return Route(path, "openai-chat", upstream)
    if end.endswith("/responses"):
        return Route(path, "openai-responses", upstream, counts)
    # Not any path that ends so: the messages of a stored thread are no history of ours.
    if end == "/messages" or end.endswith("/v1/messages"):
        return Route(path, "anthropic", upstream, counts)
    return Route(path, "", upstream)


def target(settings: ProxySettings, route: Route, headers: Mapping[bytes, bytes]) -> str:
    """The address to forward to; a client chooses among configured names, never an address."""
    name = route.upstream or headers.get(b"x-statecomp-upstream", b"").decode("latin-1")
    if name:
        if name not in settings.upstreams:
            raise Fault(404, "no upstream of that name is configured")
        base = settings.upstreams[name]
    elif settings.upstream:
        base = settings.upstream
    else:
        speaks = route.protocol == "anthropic" or (
            not route.protocol and (b"anthropic-version" in headers or b"x-api-key" in headers)
        )
        base = ANTHROPIC if speaks else OPENAI
    base = base.rstrip("/")
    if base.endswith("/v1") and (route.path + "/").startswith("/v1/"):
        base = base.removesuffix("/v1")
    return base + (route.path if route.path.startswith("/") else "/" + route.path)


def forwarded(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The client's headers without those of this connection and those meant for us."""
    given = list(headers)
    dropped = NOT_FORWARDED | _named_by_connection(given)
    kept: Headers = []
    for name, value in given:
        if name == b"cookie":
            value = _without_our_cookie(value)
            if not value:
                continue
        if name not in dropped and not name.startswith(OWN):
            kept.append((name, value))
    return kept


def returned(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The upstream's headers without those of that connection; length and encoding stay true."""
    given = [(name.lower(), value) for name, value in headers]
    dropped = HOP_BY_HOP | _named_by_connection(given)
    return [(name, value) for name, value in given if name not in dropped]


def with_added(headers: Headers, added: Mapping[str, str]) -> Headers:
    """Headers a rewritten body needs; lists such as `anthropic-beta` are made longer."""
    result = list(headers)
    for name, value in ((n.lower().encode(), v.encode()) for n, v in added.items()):
        present = [v for n, v in result if n == name]
        if any(value in (part.strip() for part in v.split(b",")) for v in present):
            continue
        if present:
            result = [(n, v) for n, v in result if n != name]
        result.append((name, b",".join((*present, value))))
    return result


def _named_by_connection(headers: Iterable[tuple[bytes, bytes]]) -> set[bytes]:
    return {
        part.strip().lower()
        for name, value in headers
        if name == b"connection"
        for part in value.split(b",")
    }


def _without_our_cookie(value: bytes) -> bytes:
    parts = (part.strip() for part in value.split(b";"))
    return b"; ".join(part for part in parts if not part.startswith(COOKIE + b"="))


def open_client(settings: ProxySettings) -> httpx.AsyncClient:
    """One pool for all tenants, so it keeps no cookies and follows nothing."""
    nothing = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(
        cookies=nothing,
        follow_redirects=False,
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=64, keepalive_expiry=KEPT_S
        ),
        timeout=_timeout(settings.limits),
        trust_env=settings.trust_env,
    )


def _timeout(limits: Limits) -> httpx.Timeout:
    return httpx.Timeout(
        limits.silence_s, connect=limits.connect_s, write=limits.body_s, pool=limits.connect_s
    )


@dataclass
class _Way:
    """What is known of how a request went out; `trace` is the hook of httpx."""

    on_sent: Callable[[], None] | None
    is_new: bool = False

    async def trace(self, event: str, info: Any) -> None:
        if event == "connection.connect_tcp.started":
            self.is_new = True
        elif event == "http11.send_request_body.complete" and self.on_sent is not None:
            self.on_sent()


async def sent(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    headers: Headers,
    content: bytes | AsyncIterator[bytes],
    on_sent: Callable[[], None] | None = None,
) -> httpx.Response:
    """The open answer; raises Fault where there is none.  `on_sent` hears when all is written."""
    way = _Way(on_sent)
    try:
        request = httpx.Request(
            method, url, headers=headers, content=content, extensions={"trace": way.trace}
        )
        try:
            return await client.send(request, stream=True, auth=None)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            # An upstream may close a connection just as it is used again; a new one tells.
            if way.is_new or not isinstance(content, bytes):
                raise
            return await client.send(request, stream=True, auth=None)
    except httpx.ConnectTimeout as error:
        raise Fault(504, "the upstream could not be reached in time") from error
    except httpx.TimeoutException as error:
        raise Fault(504, "the upstream gave no answer in time") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        kind = type(error).__name__
        raise Fault(502, f"the connection to the upstream failed ({kind})") from error
