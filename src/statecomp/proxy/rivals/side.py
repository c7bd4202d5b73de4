"""One conversation under one of two routers, as if that one had decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from statecomp.controller.circumstances import Circumstances
from statecomp.history.history import History
from statecomp.learning.outcomes import QUIET, meant
from statecomp.ledger.audit import Regret
from statecomp.ledger.commits import MemoryLog
from statecomp.method import Method
from statecomp.proxy.account.bills import Biller, Cached
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.account.regret import RegretMeter
from statecomp.proxy.rivals.fates import Fate, SideSums


@dataclass
class RivalSide:
    """`fates` are of the steps it replaced, by id; what was replaced stays so.

    It has a commit log of its own, in memory: nothing of what it decides is ever sent.
    """

    method: Method
    protocol: str
    fates: dict[str, Fate] = field(default_factory=dict)
    _since: dict[str, int] = field(default_factory=dict)
    _log: MemoryLog = field(default_factory=MemoryLog)
    _cached: Cached = field(default_factory=Cached)
    _regrets: RegretMeter = field(default_factory=RegretMeter)

    def __post_init__(self) -> None:
        self._engine = self.method.engine(self.protocol, log=self._log)

    def see(
        self, exchange: Exchange, raw: History, now: Circumstances, sums: SideSums, biller: Biller
    ) -> None:
        """Decide at this state, and count what that would have saved and lost."""
        self._look_back(exchange, raw)
        view = self._engine.prepare(raw, now)
        shown = view.history
        replaced = {source for summary in shown.summaries for source in summary.sources}
        sums.expected += self._take(raw, replaced, view.scores)
        applied = [
            c for c in self._log.find([s.id for s in raw.segments]) if {*c.sources} <= replaced
        ]
        self._regrets.sent(exchange.tenant, raw, tuple(applied))
        sent = replace(exchange, sent_raw=False)
        raw_dollars, sent_dollars, _ = biller.bill(sent, self._cached, raw, shown, view)
        sums.requests += 1
        sums.raw_tokens += raw.tokens
        sums.sent_tokens += shown.tokens
        sums.raw_dollars += raw_dollars
        sums.sent_dollars += sent_dollars

    def _take(self, raw: History, replaced: set[str], scores: Mapping[str, float]) -> float:
        """Steps replaced from here on; how many of them their scores expect back."""
        new = [step for step in raw.interactions if step.id in replaced - {*self.fates}]
        for step in new:
            self.fates[step.id] = "open"
            self._since[step.id] = raw.checkpoint
        return sum(1.0 - scores.get(step.id, 1.0) for step in new)

    def _look_back(self, exchange: Exchange, raw: History) -> None:
        """Which steps that it had replaced the newest ones wanted, and which nobody did so far."""
        commits = {commit.id: commit for commit in self._log.find([s.id for s in raw.segments])}
        for found in self._regrets.look(exchange.tenant, raw, self._engine.replay):
            span = [s for s in raw.interactions if s.id in commits[found.commit].sources]
            regret = Regret(exchange.session, 0, found.commit, found.kind, found.detail)
            for step in meant(span, regret):
                self.fates[step.id] = "wanted"
        for name, fate in self.fates.items():
            if fate == "open" and raw.checkpoint - self._since[name] >= QUIET:
                self.fates[name] = "quiet"
