"""Who may speak to the proxy at all: the right host name, no strange page, the token.

A page in a browser can send requests to this machine.  Its origin gives it away; where DNS was
bent to point its own name here, the Host header does.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from statecomp.proxy.faults import Fault
from statecomp.proxy.sessions import has_credential, tenant_of, view_token, viewer_of
from statecomp.proxy.settings import MEGABYTE, ProxySettings, is_loopback
from statecomp.proxy.stream import ClientGone
from statecomp.proxy.upstream import COOKIE, keys_in, route_of

OPEN_PATHS = ("/healthz",)
PAGES = "/statecomp"
OWN_PAGE = PAGES + "/own"
"""Tells whoever sends a key where the pages of that key's tenant are."""
MOST_WHOLE = 64 * MEGABYTE
TOO_LONG = "the answer is too long for a client of HTTP/1.0; use HTTP/1.1"
VIEWER = "statecomp.viewer"
"""In the scope of a request: the tenant whose account may be shown; empty for all."""


@dataclass(frozen=True)
class Guard:
    """An ASGI app in front of another; what it refuses goes no further."""

    app: ASGIApp
    settings: ProxySettings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # from a server that speaks it; ours does not
            await send({"type": "websocket.close", "code": 1008, "reason": "HTTP only"})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope.get("http_version") == "1.0":
            send = _Whole(send)
        headers = {**dict(scope["headers"]), **keys_in(scope["query_string"])}
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        in_path, raw = _taken_apart(raw)
        path = unquote(raw.decode("latin-1")) if in_path else scope["path"]
        try:
            self._check_host(headers)
            self._check_origin(headers, path)
            given = self._given(headers, path, in_path)
            viewer = self._check_token(headers, path, given)
            self._check_forwarded(raw, scope["query_string"])
            _check_plain(headers)
        except Fault as fault:
            await answer(send, fault, route_of(path).protocol)
            return
        if path == OWN_PAGE:
            await _tell(send, f"/t/{view_token(viewer, self.settings.salt)}{PAGES}/\n")
            return
        if in_path and is_page(path):
            await self._to_page(send, raw, given)
            return
        scope = {**scope, VIEWER: viewer}
        if in_path:
            scope = {**scope, "path": path, "raw_path": raw}
        await self.app(scope, receive, send)

    def _check_host(self, headers: Mapping[bytes, bytes]) -> None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._ours(_name(host)):
            raise Fault(403, "this host name is not one of the proxy's; see --allow-host")

    def _check_origin(self, headers: Mapping[bytes, bytes], path: str) -> None:
        """Programs send no origin; editors send schemes of their own, which may not see pages."""
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not origin:
            if is_page(path) and headers.get(b"sec-fetch-site") == b"cross-site":
                raise Fault(403, "a page of another site may not use the proxy")
            return
        scheme, _, rest = origin.partition("://")
        if scheme in ("http", "https"):
            fine = self._ours(_name(rest))
        else:
            fine = origin != "null" and not is_page(path)
        same = origin.endswith("://" + headers.get(b"host", b"").decode("latin-1"))
        if not fine or (is_page(path) and not same):
            raise Fault(403, "a page of another site may not use the proxy")

    def _given(self, headers: Mapping[bytes, bytes], path: str, in_path: str) -> str:
        given = in_path or headers.get(b"x-statecomp-token", b"").decode("latin-1")
        if not given and is_page(path):
            given = _cookie(headers.get(b"cookie", b"")).decode("latin-1")
        return given

    def _check_token(self, headers: Mapping[bytes, bytes], path: str, given: str) -> str:
        """Whose pages this opens: those of one tenant, or, empty, of all.

        Where no token is asked for, whoever reaches this machine's own address is its user.
        """
        settings = self.settings
        own = tenant_of(headers, settings.salt) if has_credential(headers) else ""
        if path == OWN_PAGE and not own:
            raise Fault(400, "send the key your agent uses, as it does, to be told your own pages")
        if not settings.token or path in OPEN_PATHS:
            return own if path == OWN_PAGE else ""
        if settings.admin_token and _same(given, settings.admin_token):
            return own if path == OWN_PAGE else ""
        if _same(given, settings.token):
            if is_page(path) and not own:
                raise Fault(403, f"this token opens no pages; {OWN_PAGE} says where yours are")
            return own
        viewer = viewer_of(given, settings.salt) if is_page(path) else ""
        if not viewer:
            raise Fault(401, "the x-statecomp-token header, or /t/TOKEN in the URL, is needed")
        return viewer

    def _check_forwarded(self, raw: bytes, query: bytes) -> None:
        """What is left of the address goes upstream, and the token must not, however written."""
        address = unquote(unquote((raw + b"?" + query).decode("latin-1")))
        if any(token in address for token in self.settings.tokens):
            raise Fault(400, "the token stands in the wrong place; write /t/TOKEN/ before the path")

    def _ours(self, name: str) -> bool:
        if is_loopback(name) or name in self.settings.hosts or name == self.settings.host:
            return True
        # No name was bent where there is no name; the token does the rest.
        return bool(self.settings.token) and _is_address(name)

    async def _to_page(self, send: Send, path: bytes, token: str) -> None:
        """A token in the address of a page would stay in the history of the browser.

        The path as it was sent: what is encoded in it must not end the header.
        """
        cookie = b"%s=%s; Path=%s; HttpOnly; SameSite=Strict" % (
            COOKIE,
            token.encode(),
            PAGES.encode(),
        )
        # A path that began with two slashes would be read as another host.
        where = b"/" + path.lstrip(b"/")
        headers = [(b"location", where), (b"set-cookie", cookie), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


async def _tell(send: Send, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


class _Whole:
    """An answer with its length, once it is whole: clients of HTTP/1.0 know no chunks."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message = {}
        self._parts: list[bytes] = []
        self._left = MOST_WHOLE

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if any(name.lower() == b"content-length" for name, _ in message["headers"]):
                await self._send(message)
            else:
                self._start = message
            return
        if not self._start:
            await self._send(message)
            return
        self._parts.append(message.get("body", b""))
        self._left -= len(self._parts[-1])
        if self._left < 0:
            self._parts.clear()
            await answer(self._send, Fault(502, TOO_LONG), "")
            raise ClientGone
        if not message.get("more_body", False):
            body = b"".join(self._parts)
            length = (b"content-length", str(len(body)).encode())
            await self._send({**self._start, "headers": [*self._start["headers"], length]})
            await self._send({"type": "http.response.body", "body": body})


def _check_plain(headers: Mapping[bytes, bytes]) -> None:
    """Clients that prefer a websocket go on over plain HTTP when they are told so."""
    if headers.get(b"upgrade", b"").strip().lower() == b"websocket":
        raise Fault(426, "websockets are not served here; send the request over plain HTTP")


def is_page(path: str) -> bool:
    return path == PAGES or path.startswith(PAGES + "/")


async def answer(send: Send, fault: Fault, protocol: str) -> None:
    body = fault.body(protocol)
    headers = [*fault.headers(), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": fault.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _name(host: str) -> str:
    """The host without its port, lower case; empty where it cannot be read."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _taken_apart(raw: bytes) -> tuple[str, bytes]:
    """The token that stood before the path (`/t/TOKEN/...`: SDKs set only a URL), and the path.

    Of the path as it was sent, because that is what goes on.
    """
    if not raw.startswith(b"/t/"):
        return "", raw
    token, _, rest = raw[3:].partition(b"/")
    return token.decode("latin-1") or "?", b"/" + rest


def _cookie(value: bytes) -> bytes:
    for part in value.split(b";"):
        name, _, content = part.strip().partition(b"=")
        if name == COOKIE:
            return content
    return b""
