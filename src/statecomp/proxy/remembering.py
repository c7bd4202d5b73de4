"""A commit log that answers from memory while its store cannot.

What was sent before must be sent again, byte for byte, also while the database is away; and no
request waits for a store that hangs.  What other workers of this machine sent, and those that were
killed, is in a file beside (`ledger/nearby.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from statecomp.errors import StateCompError
from statecomp.ledger.audit import LedgerFailed
from statecomp.ledger.commits import Commit, CommitLog, bytes_of
from statecomp.ledger.nearby import Nearby
from statecomp.proxy.answering import REST_S, Answering
from statecomp.proxy.turns import in_turns
from statecomp.recent import LruCache, Weighed

LOG = logging.getLogger("statecomp.proxy")
FROM_MEMORY = "the ledger does not answer in time: requests go out from memory for a moment"
STATES = 4096
SLOW_S = 0.1
"""A local file answers in far less, however many threads wait for the processor meanwhile."""
AT_ONCE_S = 2.0
"""How long a request waits for a store behind a network, which answers in a few milliseconds but
where the whole machine is slow; less, and two workers of a busy one would send other bytes."""
OWED_AT_ONCE = 64
"""Of what went out while the store was away, so much is written down behind one answer of it."""

Answer = TypeVar("Answer")


class _Known(NamedTuple):
    """What stands at a state; `epoch` is that of the file beside when it was put there too."""

    order: int
    commits: tuple[Commit, ...]
    epoch: int


def _is_as_known(
    news: Mapping[str, Sequence[Commit]], known: Mapping[str, _Known], epoch: int
) -> bool:
    """Whether nothing is new: the same commits in the same order."""
    if len(known) < len(news):
        return False
    held = [known[at] for at in news]
    same = all(
        one.epoch == epoch and one.commits == tuple(new)
        for one, new in zip(held, news.values(), strict=True)
    )
    return same and held == sorted(held)


def _names_weight(names: Sequence[str]) -> int:
    return 300 + 80 * len(names)


class RememberingLog:
    """The store's word where it answers; what it said last where it does not.

    With threads that `ask` for it, a store behind a network is not waited for longer than a moment:
    what it says later is learned when it comes, and until then nobody else waits.  What went out
    meanwhile is written down once it answers.

    Before anything goes out it is said in the file `nearby`, and what was said there first goes
    out: two workers of a machine agree whether the store answers one, both or none of them.
    """

    def __init__(
        self,
        store: CommitLog,
        failed: Callable[[], None] = lambda: None,
        ask: Executor | None = None,
        nearby: Nearby | None = None,
    ) -> None:
        self._store = store
        self._nearby = nearby
        self._inherits = nearby is not None  # perhaps, from a worker that was killed
        self._failed = failed
        self._threads = ask
        self._known: Weighed[str, _Known] = Weighed(STATES, lambda entry: bytes_of(entry.commits))
        self._sent: Weighed[str, Sequence[str]] = Weighed(STATES, _names_weight)
        self._owed: LruCache[str, Sequence[str]] = LruCache(STATES)  # sent, and not written down
        self._order = count()
        self._given_up: Future[Any] | None = None  # a question nobody waits for any more
        # A store that is too busy to write still reads, and one whose commits wait for each other
        # still writes down what goes out: who could not would send other bytes.
        self._reads, self._writes, self._decides = Answering(), Answering(), Answering()
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
            return self._remembered(ids)
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
        if not in_turns(asked, AT_ONCE_S):
            self._given_up = asked
            self._tell()
            raise TimeoutError
        return asked.result()

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
        gone = self._known.get_all(ids).keys() - by_state.keys()
        self._learn({**dict.fromkeys(gone, ()), **by_state})
        return found

    def _learn(self, news: Mapping[str, Sequence[Commit]]) -> None:
        """For this process, and what is new for those beside it too."""
        if not news:
            return
        known, nearby = self._known.get_all(news), self._nearby
        epoch = nearby.epoch if nearby is not None else 0
        if _is_as_known(news, known, epoch):
            return
        now = {at: _Known(next(self._order), tuple(new), epoch) for at, new in news.items()}
        self._known.put_all(now)
        unsaid = {
            at: entry.commits
            for at, entry in now.items()
            if at not in known or known[at][1:] != entry[1:]
        }
        if nearby is not None and unsaid:
            self._beside(lambda: nearby.keep(unsaid))

    def _remembered(self, ids: Sequence[str]) -> Sequence[Commit]:
        known, nearby = self._known.get_all(set(ids)), self._nearby
        found = [commit for entry in sorted(known.values()) for commit in entry.commits]
        others = [at for at in dict.fromkeys(ids) if at not in known]
        if nearby is not None and others:
            states = self._beside(lambda: nearby.find(others)) or {}
            found += [commit for at in others for commit in states.get(at, ())]
        return found

    def _beside(self, work: Callable[[], Answer]) -> Answer | None:
        """What the file beside says; where it cannot be used, this process has its own memory."""
        try:
            return work()
        except LedgerFailed as error:
            LOG.warning("the file beside the ledger is not used: %s", error)
            return None

    def append(
        self, at: str, commits: Sequence[Commit], chain: Sequence[str] = ()
    ) -> Sequence[Commit]:
        standing = self._ask(self._decides, lambda: self._store.append(at, commits, chain))
        self._learn({at: standing})
        return standing

    def sent(self, seen: str) -> Sequence[str] | None:
        known, owed = self._sent.get(seen), self._owed.get(seen)
        if known is not None and owed is None:
            return known
        try:
            return self._in_time(lambda: self._settled(seen, owed))
        except (LedgerFailed, TimeoutError):
            return owed if owed is not None else self._said(seen)

    def _said(self, seen: str) -> Sequence[str] | None:
        nearby = self._nearby
        return None if nearby is None else self._beside(lambda: nearby.said(seen))

    def _settled(self, seen: str, owed: Sequence[str] | None) -> Sequence[str] | None:
        """The store's word; what it was not told yet may not be the first that went out."""
        first = None
        if owed is None:
            first = self._ask(self._reads, lambda: self._store.sent(seen))
            owed = self._said(seen) if first is None else None
        if owed is not None:
            going = owed
            first = self._ask(self._writes, lambda: self._store.send(seen, going))
            self._written(seen, first)
        return first if first is None else self._sent.put(seen, first)

    def _written(self, seen: str, first: Sequence[str]) -> None:
        self._sent.put(seen, first)
        self._owed.pop(seen)
        if (nearby := self._nearby) is not None:
            self._beside(lambda: nearby.settle(seen, first))

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        """A store that is away keeps no request from going out; it is told when it is back."""
        nearby, said = self._nearby, None
        if nearby is not None:
            said = self._beside(lambda: nearby.first(seen, commits))
        going = commits if said is None else said

        def write() -> Sequence[str]:
            first = self._ask(self._writes, lambda: self._store.send(seen, going))
            self._written(seen, first)
            return first

        try:
            first = self._in_time(write)
        except (LedgerFailed, TimeoutError):
            if (known := self._sent.get(seen)) is not None:
                return known
            self._owed.put(seen, going)
            return self._sent.put(seen, going)
        if self.owes or self._inherits:
            self.catch_up()
        return first

    def catch_up(self) -> Future[None] | None:
        """Write down what went out while the store was away; nobody has to wait for that."""
        if self._threads is not None:
            return self._threads.submit(self._write_owed)
        self._write_owed()
        return None

    def _write_owed(self) -> None:
        try:
            for seen, owed in self._debts():
                self._settled(seen, owed)
        except LedgerFailed:
            return

    def _debts(self) -> Iterable[tuple[str, Sequence[str]]]:
        """Its own, and once those of a worker that was killed."""
        nearby, inherited = self._nearby, dict[str, tuple[str, ...]]()
        if self._inherits and nearby is not None:
            inherited = self._beside(lambda: nearby.owed(OWED_AT_ONCE)) or {}
            self._inherits = len(inherited) == OWED_AT_ONCE
        return [*self._owed.items(OWED_AT_ONCE), *inherited.items()]

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

    def _ask(self, kind: Answering, question: Callable[[], Answer]) -> Answer:
        self._reads.must_answer()
        kind.must_answer()
        try:
            return kind.ask(question)
        except Exception as error:
            self._tell()
            if isinstance(error, StateCompError):
                raise
            raise LedgerFailed(f"the ledger failed ({type(error).__name__})") from error
