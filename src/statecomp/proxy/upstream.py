"""Where a request goes on to, and which of its headers go with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

from statecomp.proxy.faults import Fault
from statecomp.proxy.settings import ProxySettings
from statecomp.wire.providers import provider_at, provider_by, provider_named

Headers: TypeAlias = list[tuple[bytes, bytes]]

# RFC 9110, 7.6.1: these belong to one connection and end with it.
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
NOT_FORWARDED = HOP_BY_HOP | {b"host", b"content-length", b"expect"}
OWN = b"x-statecomp-"
QUERY_KEYS = frozenset(
    b"key api_key api-key apikey access_token token auth subscription-key sig".split()
)
COOKIE = b"statecomp-token"
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


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
    provider = provider_at(path)
    if provider is None:
        return Route(path, "", upstream)
    return Route(path, provider.name, upstream, provider.is_count(path))


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
        speaks = provider_named(route.protocol) if route.protocol else provider_by(headers)
        base = speaks.home
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
    """The upstream's headers without those of that connection; length and encoding stay true.

    And without those that no server may send: ours would send no answer at all.
    """
    given = [(name.lower(), value) for name, value in headers]
    dropped = HOP_BY_HOP | _named_by_connection(given)
    return [
        (name, value) for name, value in given if name not in dropped and not _CONTROL.search(value)
    ]


def keys_in(query: bytes) -> dict[bytes, bytes]:
    """Credentials that came in the address, named as no header is."""
    pairs = (field.replace(b"+", b" ").partition(b"=") for field in query.split(b"&"))
    given = ((unquote_to_bytes(name).lower(), unquote_to_bytes(value)) for name, _, value in pairs)
    return {b"?" + name: value for name, value in given if name in QUERY_KEYS}


def with_added(headers: Headers, added: Mapping[str, str]) -> Headers:
    """Headers of a rewritten body, which goes out as plain text, whatever it came packed in.

    Lists such as `anthropic-beta` are made longer.
    """
    result = [(name, value) for name, value in headers if name != b"content-encoding"]
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
