"""One engine for each tenant and protocol: tenants share neither commits nor what was parsed.

Each has a commit log that answers from memory while its store cannot: what was sent before must be
sent again, byte for byte, also while the database is away; and no request waits for a store that
hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from threading import Lock, get_ident, local
from time import monotonic
from typing import Any, TypeVar

from statecomp.compressor import StateComp
from statecomp.controller.judging import Judge
from statecomp.errors import StateCompError
from statecomp.ledger.audit import Ledger, LedgerFailed
from statecomp.ledger.commits import Commit, CommitLog, bytes_of
from statecomp.llm.side import SideAccount
from statecomp.method import Method
from statecomp.proxy.judging.processes import Judges
from statecomp.proxy.settings import ProxySettings
from statecomp.recent import LruCache, Weighed
from statecomp.traces.secrets import Masker
from statecomp.wire.incremental import ConversationCache

OBSERVED = "observed-"
"""Before a tenant's name where nothing is rewritten: what would be done is never done later."""
STATES = 4096
SLOW_S = 0.1
"""A local file answers in far less, however many threads wait for the processor meanwhile."""
AT_ONCE_S = 1.0
"""How long a request waits for a store behind a network, which answers in a few milliseconds but
where the whole machine is slow; less, and two workers of a busy one would send other bytes."""
PATIENCE_S = 2.0
"""A question that is open for longer, or failed, keeps the next ones away for a while."""
REST_S = 5.0
ASKING = 8
OWED_AT_ONCE = 64
"""Of what went out while the store was away, so much is written down behind one answer of it."""

Answer = TypeVar("Answer")


def secrets_among(texts: Iterable[str]) -> Callable[[str], bool]:
    """Whether a text holds a secret, by itself or because one of these gives it away."""
    masker, known = Masker(), dict[str, str]()
    for text in texts:
        masker.learn(text, known)
    return lambda text: masker.masked(text, known) != text


def _names_weight(names: Sequence[str]) -> int:
    return 300 + 80 * len(names)


def _here(judge: Judge) -> Judge:
    return judge


class ThreadAccount(local, SideAccount):
    """Side calls by the thread that made them: decisions run side by side in one engine."""


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
        self._asked: dict[int, float] = {}  # thread -> since when it waits for the store
        self._given_up: Future[Any] | None = None  # a question nobody waits for any more
        self._away_until = 0.0
        self._slow_until = 0.0
        self._lock = Lock()

    @property
    def slow(self) -> bool:
        """Whether the store took long to find something, or failed, not long ago.

        Writing may take long, for a disk that syncs, and holds up nobody who reads.
        """
        return monotonic() < max(self._slow_until, self._away_until)

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

    def _soon(self, question: Callable[[], Answer]) -> Answer:
        return self._in_time(lambda: self._ask(question))

    def _in_time(self, work: Callable[[], Answer]) -> Answer:
        """Raises TimeoutError where the store takes its time, and LedgerFailed while it does."""
        if self._threads is None:
            return work()
        self._must_answer()
        if self._given_up is not None and not self._given_up.done():
            raise LedgerFailed("the ledger has not answered yet; it is not asked meanwhile")
        asked = self._threads.submit(work)
        try:
            return asked.result(AT_ONCE_S)
        except TimeoutError:
            self._given_up = asked
            raise

    def _found(self, ids: Sequence[str]) -> Sequence[Commit]:
        found = self._ask(lambda: self._store.find(ids))
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
        standing = self._ask(lambda: self._store.append(at, commits, chain))
        self._known.put(at, (next(self._order), tuple(standing)))
        return standing

    def sent(self, seen: str) -> Sequence[str] | None:
        known = self._sent.get(seen)
        if known is None:
            try:
                known = self._soon(lambda: self._store.sent(seen))
            except (LedgerFailed, TimeoutError):
                return None
            if known is not None:
                self._sent.put(seen, known)
        return known

    def send(self, seen: str, commits: Sequence[str]) -> Sequence[str]:
        """A store that is away keeps no request from going out; it is told when it is back."""
        try:
            first = self._sent.put(seen, self._soon(lambda: self._store.send(seen, commits)))
        except (LedgerFailed, TimeoutError):
            if (known := self._sent.get(seen)) is not None:
                return known
            self._owed.put(seen, commits)
            return self._sent.put(seen, commits)
        if len(self._owed):
            self.catch_up()
        return first

    def catch_up(self) -> None:
        """Write down what went out while the store was away; nobody waits for that."""
        if self._threads is None:
            self._write_owed()
        else:
            self._threads.submit(self._write_owed)

    def _write_owed(self) -> None:
        for seen, commits in self._owed.take(OWED_AT_ONCE):
            try:
                self._sent.put(seen, self._ask(partial(self._store.send, seen, commits)))
            except LedgerFailed:
                self._owed.put(seen, commits)

    def held(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Raises where the store does not answer: then nothing may be taken."""
        return self._ask(lambda: self._store.held(ids))

    def refused(self, sources: Sequence[str]) -> bool:
        return self._ask(lambda: self._store.refused(sources))

    def refuse(self, sources: Sequence[str], reason: str) -> None:
        self._ask(lambda: self._store.refuse(sources, reason))

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        self._must_answer()
        thread = get_ident()
        with self._lock:
            self._asked[thread] = monotonic()
        try:
            return question()
        except Exception as error:
            self._away_until = monotonic() + REST_S
            self._failed()
            if isinstance(error, StateCompError):
                raise
            raise LedgerFailed(f"the ledger failed ({type(error).__name__})") from error
        finally:
            with self._lock:
                self._asked.pop(thread, None)

    def _must_answer(self) -> None:
        now = monotonic()
        with self._lock:
            hangs = any(now - since > PATIENCE_S for since in self._asked.values())
        if hangs or now < self._away_until:
            raise LedgerFailed("the ledger does not answer; it is asked again in a moment")


@dataclass
class TenantCompressors:
    settings: ProxySettings
    method: Method
    ledger: Ledger
    ledger_failed: Callable[[], None] = lambda: None
    judges: Judges | None = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._engines: LruCache[tuple[str, str], StateComp] = LruCache(self.settings.limits.engines)
        limits = self.settings.limits
        self._shelf = ConversationCache(limits.conversations, limits.conversation_tokens)
        self._logs: LruCache[tuple[str, str], RememberingLog] = LruCache(limits.engines)
        self._asking: Executor | None = None
        if not self.settings.local_store:
            self._asking = ThreadPoolExecutor(ASKING, thread_name_prefix="statecomp-ask")

    @property
    def slow(self) -> bool:
        """Whether the store, which is one for all, took long for anybody not long ago."""
        return any(log.slow for log in self._logs.values())

    def of(self, tenant: str, protocol: str) -> StateComp:
        key = (tenant, protocol)
        engine = self._engines.get(key)
        if engine is not None:
            return engine
        with self._lock:
            return self._engines.get(key) or self._engines.put(key, self._new(tenant, protocol))

    def close(self) -> None:
        for log in self._logs.values():
            log.catch_up()
        if self._asking is not None:
            self._asking.shutdown(wait=False, cancel_futures=True)
        if self.judges is not None:
            self.judges.close()

    def _judged(self, key: tuple[str, str]) -> tuple[Method, Callable[[Judge], Judge]]:
        """Where a model writes records, which it is asked for from here, others only score."""
        method, judges = self.method, self.judges
        if judges is None:
            return method, _here
        if method.writes_at_once:
            return method, judges.judging(key)
        return replace(method, scorer=lambda: judges.scorer(key, method.scorer())), _here

    def _new(self, tenant: str, protocol: str) -> StateComp:
        account = ThreadAccount()
        observes = self.settings.mode == "observe"
        store = self.ledger.commits(OBSERVED + tenant if observes else tenant)
        log = RememberingLog(store, self.ledger_failed, self._asking)
        key = (tenant, protocol)
        method, judged_by = self._judged(key)
        return method.engine(
            protocol,
            log=self._logs.put(key, log),
            account=account,
            shelf=self._shelf,
            secrets=secrets_among,
            mark_key=self.settings.salt,
            judged_by=judged_by,
        )
