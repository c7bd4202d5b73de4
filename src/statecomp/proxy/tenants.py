"""One engine for each tenant and protocol: tenants share neither commits nor what was parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from threading import Lock, local

from statecomp.compressor import StateComp
from statecomp.controller.judging import Judge
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.nearby import NearbyFile
from statecomp.llm.side import SideAccount
from statecomp.method import Method
from statecomp.proxy.judging.processes import Judges
from statecomp.proxy.remembering import RememberingLog
from statecomp.proxy.settings import ProxySettings
from statecomp.recent import LruCache
from statecomp.traces.secrets import Masker
from statecomp.wire.conversations import ConversationCache

OBSERVED = "observed-"
"""Before a tenant's name where nothing is rewritten: what would be done is never done later."""
ASKING = 8
CATCH_UP_S = 5.0
"""At the end, for what the store was not told yet."""


def secrets_among(texts: Iterable[str]) -> Callable[[str], bool]:
    """Whether a text holds a secret, by itself or because one of these gives it away.

    Or as much of one as is left where a record cut it.
    """
    masker, known = Masker(parts=set()), dict[str, str]()
    for text in texts:
        masker.learn(text, known)
    return lambda text: masker.masked(text, known) != text or masker.tells_part(text)


class ThreadAccount(local, SideAccount):
    """Side calls by the thread that made them: decisions run side by side in one engine."""


@dataclass
class TenantCompressors:
    settings: ProxySettings
    method: Method
    ledger: Ledger
    ledger_failed: Callable[[], None] = lambda: None
    judges: Judges | None = None
    unchanging: bool = False  # messages are ours alone once they were read
    nearby: NearbyFile | None = None  # beside a store behind a network
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._engines: LruCache[tuple[str, str], StateComp] = LruCache(self.settings.limits.engines)
        limits = self.settings.limits
        self._shelf = ConversationCache(
            limits.conversations, limits.conversation_tokens, unchanging=self.unchanging
        )
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
        last = [log.catch_up() for log in self._logs.values() if log.owes]
        wait([writing for writing in last if writing is not None], CATCH_UP_S)
        if self._asking is not None:
            self._asking.shutdown(wait=False, cancel_futures=True)
        if self.judges is not None:
            self.judges.close()

    def _judged(self, key: tuple[str, str]) -> tuple[Method, Callable[[Judge], Judge] | None]:
        """Where a model writes records, which it is asked for from here, others only score."""
        method, judges = self.method, self.judges
        if judges is None:
            return method, None
        if method.writes_at_once:
            return method, judges.judging(key)
        return replace(method, scorer=lambda: judges.scorer(key, method.scorer())), None

    def _new(self, tenant: str, protocol: str) -> StateComp:
        account = ThreadAccount()
        observes = self.settings.mode == "observe"
        owner = OBSERVED + tenant if observes else tenant
        nearby = self.nearby.of(owner) if self.nearby is not None else None
        log = RememberingLog(self.ledger.commits(owner), self.ledger_failed, self._asking, nearby)
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
