"""After a refused rewrite: how long a session, and an upstream, is sent what came.

A refusal costs a request that is sent twice.  An upstream that refuses one record will likely
refuse the next, so the next ones go out raw, twice as many after each further refusal; one that
refused in several sessions is left alone for a while by all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import urlsplit

from statecomp.recent import LruCache

MOST_REQUESTS = 64
SEVERAL = 3
"""Sessions in which an upstream must refuse, with no rewrite accepted in between."""
LEAST_S, MOST_S = 60.0, 3600.0


@dataclass
class _Session:
    left: int = 0
    length: int = 0


@dataclass
class _Upstream:
    sessions: set[str] = field(default_factory=set)
    rest_s: float = 0.0
    until_s: float = float("-inf")


@dataclass
class Backoff:
    """Upstreams are told apart by the beginning of their address."""

    clock: Callable[[], float] = monotonic
    _sessions: LruCache[tuple[str, str], _Session] = field(default_factory=lambda: LruCache(16_384))
    _upstreams: LruCache[str, _Upstream] = field(default_factory=lambda: LruCache(256))

    def why(self, session: str, url: str) -> str:
        """Why a rewrite would rest now; empty where it may go out."""
        upstream = _origin(url)
        known = self._upstreams.get(upstream)
        if known is not None and (left_s := known.until_s - self.clock()) > 0:
            return (
                f"rewrites rest: this upstream refused them in {SEVERAL} sessions; they are tried"
                f" again in {_duration(left_s)}"
            )
        own = self._sessions.get((upstream, session))
        if own is None or not own.left:
            return ""
        times = f"{own.left} requests" if own.left > 1 else "1 request"
        return (
            f"rewrites rest: the upstream refused one in this session; {times}, this one counted,"
            " go out as they came"
        )

    def rested(self, session: str, url: str) -> None:
        """A request with a rewrite went out raw."""
        own = self._sessions.get((_origin(url), session))
        if own is not None and own.left:
            own.left -= 1

    def refused(self, session: str, url: str) -> None:
        upstream = _origin(url)
        own = self._sessions.get((upstream, session)) or self._sessions.put(
            (upstream, session), _Session()
        )
        own.left = own.length = min(MOST_REQUESTS, max(1, own.length * 2))
        known = self._upstreams.get(upstream) or self._upstreams.put(upstream, _Upstream())
        if len(known.sessions) < SEVERAL:
            known.sessions.add(session)
        if len(known.sessions) == SEVERAL:
            known.rest_s = min(MOST_S, max(LEAST_S, known.rest_s * 2))
            known.until_s = self.clock() + known.rest_s

    def accepted(self, session: str, url: str) -> None:
        """A rewrite was taken: the next refusal is met with half the patience."""
        upstream = _origin(url)
        if own := self._sessions.get((upstream, session)):
            own.left, own.length = 0, own.length // 2
        if known := self._upstreams.get(upstream):
            known.sessions.clear()
            known.rest_s, known.until_s = 0.0, float("-inf")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(1.0, seconds):.0f} s"
