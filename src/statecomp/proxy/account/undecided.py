"""Requests whose decision is not known yet, in the order they were answered in.

They are recorded in that order: each is numbered after the one before it in its session, and billed
by what that one left in the cache.  So what is answered behind a decision that takes long waits
with it; but no more of it than there is room for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock

from statecomp.proxy.account.exchange import Exchange

MOST_BYTES = 64 << 20
TOKEN_BYTES, BESIDE_BYTES = 10, 4000
"""What a request holds for each token of its history, and beside it, about."""


class Undecided:
    """Sessions in which a decision is under way; what needs none, or has it, goes on at once.

    Where there is no room the oldest go on `early`, before their decision is known.
    """

    def __init__(
        self, most: int, go: Callable[[Exchange], None], early: Callable[[Exchange], None]
    ) -> None:
        self._most = most
        self._go, self._early = go, early
        self._lines: dict[str, deque[Exchange]] = {}
        self._count = self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return self._count

    def enter(self, exchange: Exchange) -> None:
        with self._lock:
            self._lines.setdefault(exchange.session, deque()).append(exchange)
            self._count, self._bytes = self._count + 1, self._bytes + _weight(exchange)
        if exchange.decision is None:
            self._advance(exchange.session)
        else:
            exchange.decision.add_done_callback(lambda _: self._advance(exchange.session))
        self._make_room(self._most, MOST_BYTES)

    def clear(self) -> None:
        """All of them go on, whatever is known."""
        self._make_room(0, 0)

    def _advance(self, session: str) -> None:
        with self._lock:
            self._move(session)

    def _make_room(self, most: int, most_bytes: int) -> None:
        with self._lock:
            while self._lines and (self._count > most or self._bytes > most_bytes):
                session = min(self._lines, key=lambda name: self._lines[name][0].when_s)
                self._early(self._taken(session))
                self._move(session)

    def _move(self, session: str) -> None:
        """Those of a session that are decided, up to the first that is not."""
        while (line := self._lines.get(session)) and _is_decided(line[0]):
            self._go(self._taken(session))

    def _taken(self, session: str) -> Exchange:
        exchange = self._lines[session].popleft()
        self._count, self._bytes = self._count - 1, self._bytes - _weight(exchange)
        if not self._lines[session]:
            del self._lines[session]
        return exchange


def _is_decided(exchange: Exchange) -> bool:
    return exchange.decision is None or exchange.decision.done()


def _weight(exchange: Exchange) -> int:
    return BESIDE_BYTES + TOKEN_BYTES * exchange.raw_tokens
