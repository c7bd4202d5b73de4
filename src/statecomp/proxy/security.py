"""Who may speak to the proxy at all: the right host name, no strange page, the token.

A page in a browser can send requests to this machine.  Its origin gives it away; where DNS was
bent to point its own name here, the Host header does.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from statecomp.proxy.faults import Fault
from statecomp.proxy.settings import ProxySettings, is_loopback
from statecomp.proxy.upstream import COOKIE, route_of

OPEN_PATHS = ("/healthz",)
PAGES = "/statecomp"


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
        headers = dict(scope["headers"])
        path, in_path = self._taken_apart(scope["path"])
        try:
            self._check_host(headers)
            self._check_origin(headers, path)
            self._check_token(headers, path, in_path)
            _check_plain(headers)
        except Fault as fault:
            await answer(send, fault, route_of(path).protocol)
            return
        if in_path and is_page(path):
            await self._to_page(send, path)
            return
        if in_path:
            scope = {**scope, "path": path, "raw_path": _raw_rest(scope)}
        await self.app(scope, receive, send)

    def _taken_apart(self, path: str) -> tuple[str, str]:
        """The path, and the token that stood before it (`/t/TOKEN/...`): SDKs set only a URL."""
        if not path.startswith("/t/"):
            return path, ""
        token, slash, rest = path[3:].partition("/")
        return slash + rest or "/", token or "?"

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

    def _check_token(self, headers: Mapping[bytes, bytes], path: str, in_path: str) -> None:
        if not self.settings.token or path in OPEN_PATHS:
            return
        given = in_path or headers.get(b"x-statecomp-token", b"").decode("latin-1")
        if not given and is_page(path):
            given = _cookie(headers.get(b"cookie", b"")).decode("latin-1")
        if not hmac.compare_digest(given.encode(), self.settings.token.encode()):
            raise Fault(401, "the x-statecomp-token header, or /t/TOKEN in the URL, is needed")

    def _ours(self, name: str) -> bool:
        if is_loopback(name) or name in self.settings.hosts or name == self.settings.host:
            return True
        # No name was bent where there is no name; the token does the rest.
        return bool(self.settings.token) and _is_address(name)

    async def _to_page(self, send: Send, path: str) -> None:
        """A token in the address of a page would stay in the history of the browser."""
        cookie = b"%s=%s; Path=%s; HttpOnly; SameSite=Strict" % (
            COOKIE,
            self.settings.token.encode(),
            PAGES.encode(),
        )
        # A path that began with two slashes would be read as another host.
        where = b"/" + path.encode().lstrip(b"/")
        headers = [(b"location", where), (b"set-cookie", cookie), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


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


def _raw_rest(scope: Scope) -> bytes:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return b"/" + raw[3:].partition(b"/")[2]


def _cookie(value: bytes) -> bytes:
    for part in value.split(b";"):
        name, _, content = part.strip().partition(b"=")
        if name == COOKIE:
            return content
    return b""
