"""A commit log that answers from memory while its store cannot.

What was sent before must be sent again, byte for byte, also while the database is away; and no
request waits for a store that hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from threading import Lock, get_ident
from time import monotonic
from typing import TypeVar

from statecomp.errors import StateCompError
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit, CommitLog
from statecomp.recent import Recent

STATES = 4096
SLOW_S = 0.01
PATIENCE_S = 0.5
"""A question that is open for longer, or failed, keeps the next ones away for a while."""
REST_S = 5.0

Answer = TypeVar("Answer")


class RememberingLog:
    """The store's word where it answers; what it said last where it does not."""

    def __init__(self, store: CommitLog, failed: Callable[[], None] = lambda: None) -> None:
        self._store = store
        self._failed = failed
        self._known: Recent[str, tuple[int, tuple[Commit, ...]]] = Recent(STATES)
        self._order = count()
        self._asked: dict[int, float] = {}  # thread -> since when it waits for the store
        self._away_until = 0.0
        self._slow_until = 0.0
        self._lock = Lock()

    @property
    def slow(self) -> bool:
        """Whether the store took long, or failed, not long ago."""
        return monotonic() < max(self._slow_until, self._away_until)

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        try:
            found = self._ask(lambda: self._store.find(ids))
        except LedgerFailed:
            known = sorted(held for at in set(ids) if (held := self._known.get(at)))
            return [commit for _, commits in known for commit in commits]
        by_state: dict[str, list[Commit]] = {}
        for commit in found:
            by_state.setdefault(commit.at, []).append(commit)
        # Also what is there no longer: an undone commit must not come back from memory.
        gone = [at for at in ids if at not in by_state and self._known.get(at)]
        for at, commits in (*by_state.items(), *((at, []) for at in gone)):
            self._known.put(at, (next(self._order), tuple(commits)))
        return found

    def append(self, at: str, commits: Sequence[Commit]) -> Sequence[Commit]:
        standing = self._ask(lambda: self._store.append(at, commits))
        self._known.put(at, (next(self._order), tuple(standing)))
        return standing

    def held(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Raises where the store does not answer: then nothing may be taken."""
        return self._ask(lambda: self._store.held(ids))

    def refused(self, sources: Sequence[str]) -> bool:
        return self._ask(lambda: self._store.refused(sources))

    def refuse(self, sources: Sequence[str], reason: str) -> None:
        self._ask(lambda: self._store.refuse(sources, reason))

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        now, thread = monotonic(), get_ident()
        with self._lock:
            hangs = any(now - since > PATIENCE_S for since in self._asked.values())
            if hangs or now < self._away_until:
                raise LedgerFailed("the ledger does not answer; it is asked again in a moment")
            self._asked[thread] = now
        try:
            return question()
        except Exception as error:
            self._away_until = monotonic() + REST_S
            self._failed()
            if isinstance(error, StateCompError):
                raise
            raise LedgerFailed(f"the ledger failed ({type(error).__name__})") from error
        finally:
            if monotonic() - now > SLOW_S:
                self._slow_until = monotonic() + REST_S
            with self._lock:
                self._asked.pop(thread, None)
