"""A commit log that answers from memory while its store cannot.

What was sent before must be sent again, byte for byte, also while the database is away; and no
request waits for a store that hangs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from itertools import count
from threading import Lock, get_ident
from time import monotonic
from typing import Any, TypeVar

from statecomp.errors import StateCompError
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit, CommitLog, bytes_of
from statecomp.recent import LruCache, Weighed

LOG = logging.getLogger("statecomp.proxy")
FROM_MEMORY = "the ledger does not answer in time: requests go out from memory for a moment"
STATES = 4096
SLOW_S = 0.1
"""A local file answers in far less, however many threads wait for the processor meanwhile."""
AT_ONCE_S = 2.0
"""How long a request waits for a store behind a network, which answers in a few milliseconds but
where the whole machine is slow; less, and two workers of a busy one would send other bytes."""
PATIENCE_S = 2.0
"""A question that is open for longer, or failed, keeps the next ones away for a while."""
REST_S = 5.0
OWED_AT_ONCE = 64
"""Of what went out while the store was away, so much is written down behind one answer of it."""

Answer = TypeVar("Answer")


def _names_weight(names: Sequence[str]) -> int:
    return 300 + 80 * len(names)


class _Kind:
    """How questions of one kind fare: what a request reads, what it writes, what is decided."""

    def __init__(self) -> None:
        self.away_until = 0.0
        self._asked: dict[int, float] = {}  # thread -> since when it waits for the store
        self._lock = Lock()

    @contextmanager
    def asking(self) -> Iterator[None]:
        thread = get_ident()
        with self._lock:
            self._asked[thread] = monotonic()
        try:
            yield
        except Exception:
            self.away_until = monotonic() + REST_S
            raise
        finally:
            with self._lock:
                self._asked.pop(thread, None)

    def must_answer(self) -> None:
        now = monotonic()
        with self._lock:
            hangs = any(now - since > PATIENCE_S for since in self._asked.values())
        if hangs or now < self.away_until:
            raise LedgerFailed("the ledger does not answer; it is asked again in a moment")


class RememberingLog:
    """The store's word where it answers; what it said last where it does not.

    With threads that `ask` for it, a store behind a network is not waited for longer than a moment:
    what it says later is learned when it comes, and until then nobody else waits.  What went out
    meanwhile is written down once it answers.
    """

    def __init__(
        self,
        store: CommitLog,
        failed: Callable[[], None] = lambda: None,
        ask: Executor | None = None,
    ) -> None:
        self._store = store
        self._failed = failed
        self._threads = ask
        self._known: Weighed[str, tuple[int, tuple[Commit, ...]]] = Weighed(
            STATES, lambda entry: bytes_of(entry[1])
        )
        self._sent: Weighed[str, Sequence[str]] = Weighed(STATES, _names_weight)
        self._owed: LruCache[str, Sequence[str]] = LruCache(STATES)  # sent, and not written down
        self._order = count()
        self._given_up: Future[Any] | None = None  # a question nobody waits for any more
        # A store that is too busy to write still reads, and one whose commits wait for each other
        # still writes down what goes out: who could not would send other bytes.
        self._reads, self._writes, self._decides = _Kind(), _Kind(), _Kind()
        self._slow_until = 0.0

    @property
    def slow(self) -> bool:
        """Whether the store took long to find something, or failed, not long ago.

        Writing may take long, for a disk that syncs, and holds up nobody who reads.
        """
        return monotonic() < max(self._slow_until, self._reads.away_until)

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        asked = monotonic()
        try:
            return self._in_time(lambda: self._found(ids))
        except (LedgerFailed, TimeoutError):
            known = sorted(held for at in set(ids) if (held := self._known.get(at)))
            return [commit for _, commits in known for commit in commits]
        finally:
            if monotonic() - asked > SLOW_S:
                self._slow_until = monotonic() + REST_S

    def _in_time(self, work: Callable[[], Answer]) -> Answer:
        """Raises TimeoutError where the store takes its time, and LedgerFailed while it does."""
        if self._threads is None:
            return work()
        self._reads.must_answer()
        if self._given_up is not None and not self._given_up.done():
            raise LedgerFailed("the ledger has not answered yet; it is not asked meanwhile")
        asked = self._threads.submit(work)
        try:
            return asked.result(AT_ONCE_S)
        except TimeoutError:
            self._given_up = asked
            self._tell()
            raise

    def _tell(self) -> None:
        """Once for each rest of the store: in the metrics, and to whoever reads the log."""
        self._failed()
        LOG.warning(FROM_MEMORY)

    def _found(self, ids: Sequence[str]) -> Sequence[Commit]:
        found = self._ask(self._reads, lambda: self._store.find(ids))
        by_state: dict[str, list[Commit]] = {}
        for commit in found:
            by_state.setdefault(commit.at, []).append(commit)
        # Also what is there no longer: an undone commit must not come back from memory.
        gone = self._known.get_all(at for at in ids if at not in by_state)
        news: dict[str, Sequence[Commit]] = {**dict.fromkeys(gone, ()), **by_state}
        if news:
            order = self._order
            self._known.put_all({at: (next(order), tuple(new)) for at, new in news.items()})
        return found

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        standing = self._ask(self._decides, lambda: self._store.append(at, commits, chain))
        self._known.put(at, (next(self._order), tuple(standing)))
        return standing

    def sent(self, seen: str) -> Sequence[str] | None:
        known, owed = self._sent.get(seen), self._owed.get(seen)
        if known is not None and owed is None:
            return known
        try:
            return self._in_time(lambda: self._settled(seen, owed))
        except (LedgerFailed, TimeoutError):
            return owed

    def _settled(self, seen: str, owed: Sequence[str] | None) -> Sequence[str] | None:
        """The store's word; what it was not told yet may not be the first that went out."""
        if owed is None:
            first = self._ask(self._reads, lambda: self._store.sent(seen))
        else:
            first = self._ask(self._writes, lambda: self._store.send(seen, owed))
            self._owed.pop(seen)
        return first if first is None else self._sent.put(seen, first)

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        """A store that is away keeps no request from going out; it is told when it is back."""

        def write() -> Sequence[str]:
            return self._ask(self._writes, lambda: self._store.send(seen, commits))

        try:
            first = self._sent.put(seen, self._in_time(write))
        except (LedgerFailed, TimeoutError):
            if (known := self._sent.get(seen)) is not None:
                return known
            self._owed.put(seen, commits)
            return self._sent.put(seen, commits)
        if self.owes:
            self.catch_up()
        return first

    def catch_up(self) -> Future[None] | None:
        """Write down what went out while the store was away; nobody has to wait for that."""
        if self._threads is not None:
            return self._threads.submit(self._write_owed)
        self._write_owed()
        return None

    def _write_owed(self) -> None:
        for seen, owed in self._owed.items(OWED_AT_ONCE):
            try:
                self._settled(seen, owed)
            except LedgerFailed:
                return

    @property
    def owes(self) -> bool:
        return len(self._owed) > 0

    def held(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Raises where the store does not answer: then nothing may be taken."""
        return self._ask(self._decides, lambda: self._store.held(ids))

    def refused(self, sources: Sequence[str]) -> bool:
        return self._ask(self._decides, lambda: self._store.refused(sources))

    def refuse(self, sources: Sequence[str], reason: str) -> None:
        self._ask(self._decides, lambda: self._store.refuse(sources, reason))

    def _ask(self, kind: _Kind, question: Callable[[], Answer]) -> Answer:
        self._reads.must_answer()
        kind.must_answer()
        try:
            with kind.asking():
                return question()
        except Exception as error:
            self._tell()
            if isinstance(error, StateCompError):
                raise
            raise LedgerFailed(f"the ledger failed ({type(error).__name__})") from error
