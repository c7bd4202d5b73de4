"""A request as it arrived, and how far it has come since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.types import Scope

from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.upstream import Headers, Route, forwarded, keys_in, route_of, target


@dataclass(frozen=True, slots=True)
class Arrived:
    """What a request asks for, where it goes, and of its headers those that go with it.

    `headers` are all of them, with the credentials that came in the address.
    """

    method: str
    route: Route
    url: str = field(repr=False)
    headers: Mapping[bytes, bytes] = field(repr=False)
    forwarded: Headers = field(repr=False)

    @classmethod
    def of(cls, scope: Scope, route: Route, settings: ProxySettings) -> Arrived:
        """Raises Fault where it asks for an upstream that nobody configured."""
        query: bytes = scope["query_string"]
        headers = {**dict(scope["headers"]), **keys_in(query)}
        url = target(settings, route, headers)
        if query:
            url += "?" + query.decode("latin-1")
        return cls(scope["method"], route, url, headers, forwarded(scope["headers"]))

    @property
    def carries_history(self) -> bool:
        return bool(self.route.protocol) and self.method == "POST"


def route_in(scope: Scope) -> Route:
    return route_of((scope.get("raw_path") or scope["path"].encode()).decode("latin-1"))


@dataclass
class RequestProgress:
    """How far a request has come.

    A step that learns something puts a new value in the place of the one before, so that whatever
    ends a request, what is known by then is accounted for.
    """

    exchange: Exchange
