"""One engine for each tenant and protocol: tenants share neither commits nor what was parsed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, local

from statecomp.compressor import StateComp
from statecomp.controller.economics import Economics
from statecomp.ledger.audit import Ledger
from statecomp.llm.client import Usage
from statecomp.llm.side import SideAccount, SideCall
from statecomp.proxy.memory import RememberingLog
from statecomp.proxy.settings import Method, ProxySettings
from statecomp.recent import Recent
from statecomp.traces.secrets import Masker
from statecomp.wire.incremental import Shelf

OBSERVED = "observed-"
"""Before a tenant's name where nothing is rewritten: what would be done is never done later."""


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


@dataclass
class Engines:
    settings: ProxySettings
    method: Method
    ledger: Ledger
    economics: Economics | None = None
    ledger_failed: Callable[[], None] = lambda: None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._engines: Recent[tuple[str, str], StateComp] = Recent(self.settings.limits.engines)
        limits = self.settings.limits
        self._shelf = Shelf(limits.conversations, limits.conversation_tokens)
        self._log: RememberingLog | None = None

    @property
    def slow(self) -> bool:
        """Whether the store, which is one for all, took long not long ago."""
        return self._log is not None and self._log.slow

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
        self._log = RememberingLog(store, self.ledger_failed)
        return StateComp(
            self.method.scorer(),
            summarizer=self.method.summarizer(account),
            gates=self.method.gates,
            protocol=protocol,
            placement=self.method.placement,
            count=self.method.count,
            log=self._log,
            account=account,
            economics=self.economics,
            shelf=self._shelf,
            secret=holds_secret,
        )
