"""Committed replacements, and the log that lets them be re-applied for good.

A client re-sends its raw history with every call, so a commit must be found again by content and
give the same bytes each time.  Originals are not in the log: online they are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from statecomp.recent import Recent

MAX_REFUSED = 4096


@dataclass(frozen=True, slots=True)
class Commit:
    """One span that was replaced: where it was decided, what it stood for, what stands there now.

    `at` is the id of the last interaction that was answered then.  The commit holds for every
    history that contains `at`, that is, for every continuation of the state it was decided in.
    """

    id: str
    at: str
    sources: tuple[str, ...]
    first: int
    last: int
    text: str
    source_tokens: int
    summary_tokens: int


class CommitLog(Protocol):
    """Append-only; the first transaction at a state wins, so two workers agree."""

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        """Commits decided at any of these states, in the order they were decided."""
        ...

    def append(self, at: str, commits: Sequence[Commit]) -> Sequence[Commit]:
        """Record one transaction, all or nothing; returns what now stands at that state."""
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
        self._refused: Recent[tuple[str, ...], str] = Recent(MAX_REFUSED)
        self._lock = Lock()

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        known = self._by_state
        found = sorted(known[state] for state in set(ids) if state in known)
        return [commit for _, commits in found for commit in commits]

    def append(self, at: str, commits: Sequence[Commit]) -> Sequence[Commit]:
        if not commits:
            return self.find([at])
        with self._lock:
            decided = (len(self._by_state), tuple(commits))
            return self._by_state.setdefault(at, decided)[1]

    def held(self, ids: Sequence[str]) -> Mapping[str, str]:
        return {}

    def refused(self, sources: Sequence[str]) -> bool:
        return self._refused.get(tuple(sources)) is not None

    def refuse(self, sources: Sequence[str], reason: str) -> None:
        self._refused.put(tuple(sources), reason)

    def states(self) -> list[str]:
        """The states something was decided at, in the order of the decisions."""
        return list(self._by_state)
