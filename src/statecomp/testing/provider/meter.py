"""Usage as a provider reports it: tokens, and how many of them its prefix cache held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from statecomp.recent import LruCache
from statecomp.testing.provider.refusals import chain
from statecomp.tokens import ESTIMATE, TokenCounter, count_message

PREFIXES = 100_000


@dataclass(frozen=True, slots=True)
class Spent:
    """`cached` were read from the cache and `written` to it; both are part of `input`."""

    input: int
    cached: int
    written: int
    output: int


class Meter:
    """Counts requests against a cache of every prefix seen; each message is counted once."""

    def __init__(self, count: TokenCounter = ESTIMATE) -> None:
        self._count = count
        self._tokens: LruCache[str, int] = LruCache(PREFIXES)  # prefix -> its tokens
        self._cached: LruCache[str, bool] = LruCache(PREFIXES)

    def read(self, head: Any, messages: Sequence[Any]) -> Spent:
        """Usage where a provider caches every request whole and charges nothing for writing."""
        total = cached = 0
        for place, prefix in enumerate(chain(head, list(messages))):
            known = self._tokens.get(prefix)
            if known is None:
                known = total + self._cost(head if place == 0 else messages[place - 1])
                self._tokens.put(prefix, known)
            total = known
            # A prefix names all that is in it, so the last one found is the longest.
            cached = total if self._cached.get(prefix) else cached
            self._cached.put(prefix, value=True)
        return Spent(total, cached, 0, 0)

    def _cost(self, value: Any) -> int:
        return count_message(value if isinstance(value, Mapping) else {"head": value}, self._count)

    def words(self, *texts: str) -> int:
        return sum(self._count(text) for text in texts)
