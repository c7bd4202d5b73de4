"""Committed replacements, and the log that lets them be re-applied for good.

A client re-sends its raw history with every call, so a commit must be found again by content and
give the same bytes each time.  Originals are not in the log: online they are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple, Protocol

from statecomp.recent import LruCache

MAX_REFUSED = 4096
MAX_SENT = 16_384


@dataclass(frozen=True, slots=True)
class Commit:
    """One span that was replaced: where it was decided, what it stood for, what stands there now.

    `at` is the id of the last interaction that was answered then.  The commit holds for every
    history that contains `at`, that is, for every continuation of the state it was decided in.

    A chapter is a commit `over` others: it stands for all their sources, and they stand no more.
    Who wrote its record, where a model was asked, is told to the account; no log remembers it.
    """

    id: str
    at: str
    sources: tuple[str, ...]
    first: int
    last: int
    text: str
    source_tokens: int
    summary_tokens: int
    over: tuple[str, ...] = ()
    by: str = field(default="", repr=False, compare=False)

    @property
    def claims(self) -> tuple[str, ...]:
        """What no other commit of the run may claim: its sources, or the commits it is over."""
        return self.over or self.sources


ENTRY_BYTES, NAME_BYTES = 400, 96
"""What an entry of a memory, and the name of a source, take beside their texts."""


def bytes_of(commits: Sequence[Commit]) -> int:
    """What an entry with these commits takes in memory, about."""
    return ENTRY_BYTES + sum(
        ENTRY_BYTES + len(c.text) + NAME_BYTES * len(c.sources) for c in commits
    )


class Claim(NamedTuple):
    """Where a source was taken: the state, and how many things stood in the run up to it."""

    at: str
    depth: int


def is_free(claims: Sequence[Claim], chain: Sequence[str]) -> bool:
    """Whether all claims on some sources are those of other branches than this chain's.

    A claim from further down than the chain reaches may be of this very run, decided later and
    written first; then the source is not free.
    """
    states = set(chain)
    return all(chain and depth <= len(chain) and at not in states for at, depth in claims)


class CommitLog(Protocol):
    """Append-only; two workers agree, because the first word stands.

    The first transaction at a state wins, and in one run the first commit over a source.  What
    once went out for a history is what goes out for it again.
    """

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        """Commits decided at any of these states, in the order they were decided."""
        ...

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        """Record one transaction, all or nothing; returns what now stands at that state.

        `chain` are the ids of the run up to and with `at`; without it no source may be taken that
        was taken anywhere.
        """
        ...

    def sent(self, seen: str) -> Sequence[str] | None:
        """The commits in the history that ends here, as it first went out; None: it did not."""
        ...

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        """Write down what goes out for a history, before it does; returns what went out first."""
        ...

    def held(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Interactions that may not be taken, with the reason: what an undone commit stood for."""
        ...

    def refused(self, sources: Sequence[str]) -> bool:
        """Whether this very span was proposed before and its summary refused."""
        ...

    def refuse(self, sources: Sequence[str], reason: str) -> None:
        """Remember that no acceptable summary of this span could be had; asking again costs."""
        ...


class MemoryLog:
    """A commit log for the life of a process."""

    def __init__(self) -> None:
        self._by_state: dict[str, tuple[int, tuple[Commit, ...]]] = {}
        self._claims: dict[str, list[Claim]] = {}
        self._sent: LruCache[str, tuple[str, ...]] = LruCache(MAX_SENT)
        self._refused: LruCache[tuple[str, ...], str] = LruCache(MAX_REFUSED)
        self._lock = Lock()

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        known = self._by_state
        found = sorted(known[state] for state in set(ids) if state in known)
        return [commit for _, commits in found for commit in commits]

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        sources = {name for commit in commits for name in commit.claims}
        with self._lock:
            taken = [claim for source in sources for claim in self._claims.get(source, ())]
            if commits and at not in self._by_state and is_free(taken, chain):
                self._by_state[at] = (len(self._by_state), tuple(commits))
                for source in sources:
                    self._claims.setdefault(source, []).append(Claim(at, len(chain)))
            return self._by_state.get(at, (0, ()))[1]

    def sent(self, seen: str) -> Sequence[str] | None:
        return self._sent.get(seen)

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        with self._lock:
            first = self._sent.get(seen)
            return self._sent.put(seen, tuple(commits)) if first is None else first

    def held(self, ids: Sequence[str]) -> Mapping[str, str]:
        return {}

    def refused(self, sources: Sequence[str]) -> bool:
        return self._refused.get(tuple(sources)) is not None

    def refuse(self, sources: Sequence[str], reason: str) -> None:
        self._refused.put(tuple(sources), reason)

    def states(self) -> list[str]:
        """The states something was decided at, in the order of the decisions."""
        return list(self._by_state)
