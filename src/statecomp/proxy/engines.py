"""One engine for each tenant and protocol: tenants share neither commits nor what was parsed.

Each has a commit log that answers from memory while its store cannot: what was sent before must be
sent again, byte for byte, also while the database is away; and no request waits for a store that
hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from threading import Lock, get_ident, local
from time import monotonic
from typing import TypeVar

from statecomp.compressor import StateComp
from statecomp.errors import StateCompError
from statecomp.ledger.audit import Ledger, LedgerFailed
from statecomp.ledger.commits import Commit, CommitLog
from statecomp.llm.client import Usage
from statecomp.llm.side import SideAccount, SideCall
from statecomp.method import Method
from statecomp.proxy.settings import ProxySettings
from statecomp.recent import Recent
from statecomp.traces.secrets import Masker
from statecomp.wire.incremental import Shelf

OBSERVED = "observed-"
"""Before a tenant's name where nothing is rewritten: what would be done is never done later."""
STATES = 4096
SLOW_S = 0.1
"""A local file answers in far less, however many threads wait for the processor meanwhile."""
PATIENCE_S = 0.5
"""A question that is open for longer, or failed, keeps the next ones away for a while."""
REST_S = 5.0

Answer = TypeVar("Answer")


def holds_secret(text: str) -> bool:
    return Masker().text(text) != text


class ThreadAccount(SideAccount):
    """Side calls by the thread that made them: decisions run side by side in one engine."""

    def __init__(self) -> None:
        self._mine = local()

    def charge(self, kind: str, usage: Usage) -> None:
        self._calls().append(SideCall(kind, usage.input_tokens, usage.output_tokens))

    def settle(self) -> tuple[SideCall, ...]:
        settled = tuple(self._calls())
        self._calls().clear()
        return settled

    def _calls(self) -> list[SideCall]:
        if not hasattr(self._mine, "calls"):
            self._mine.calls = []
        calls: list[SideCall] = self._mine.calls
        return calls


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
        """Whether the store took long to find something, or failed, not long ago.

        Writing may take long, for a disk that syncs, and holds up nobody who reads.
        """
        return monotonic() < max(self._slow_until, self._away_until)

    def find(self, ids: Sequence[str]) -> Sequence[Commit]:
        asked = monotonic()
        try:
            found = self._ask(lambda: self._store.find(ids))
        except LedgerFailed:
            known = sorted(held for at in set(ids) if (held := self._known.get(at)))
            return [commit for _, commits in known for commit in commits]
        finally:
            if monotonic() - asked > SLOW_S:
                self._slow_until = monotonic() + REST_S
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
            with self._lock:
                self._asked.pop(thread, None)


@dataclass
class Engines:
    settings: ProxySettings
    method: Method
    ledger: Ledger
    ledger_failed: Callable[[], None] = lambda: None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._engines: Recent[tuple[str, str], StateComp] = Recent(self.settings.limits.engines)
        limits = self.settings.limits
        self._shelf = Shelf(limits.conversations, limits.conversation_tokens)
        self._logs: Recent[tuple[str, str], RememberingLog] = Recent(limits.engines)

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

    def _new(self, tenant: str, protocol: str) -> StateComp:
        account = ThreadAccount()
        observes = self.settings.mode == "observe"
        store = self.ledger.commits(OBSERVED + tenant if observes else tenant)
        log = RememberingLog(store, self.ledger_failed)
        return self.method.engine(
            protocol,
            log=self._logs.put((tenant, protocol), log),
            account=account,
            shelf=self._shelf,
            secret=holds_secret,
        )
