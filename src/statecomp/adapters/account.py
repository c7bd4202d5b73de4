"""What an adapter saved: the account that the proxy keeps, with a running sum beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Lock

from statecomp.config.places import open_store
from statecomp.controller.prices import PriceBook
from statecomp.ledger.audit import Entry, Request, Sums
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.sqlite import MEMORY
from statecomp.method import Method
from statecomp.proxy.account.accountant import Accountant
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.horizons import Horizons
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.tenants import TenantCompressors
from statecomp.strategy import View

CLOSING_S = 5.0


@dataclass(frozen=True, slots=True)
class Savings(Sums):
    """Over all requests of one adapter; what was saved may be negative, and is shown as that."""

    @property
    def tokens(self) -> int:
        return self.saved_tokens

    @property
    def dollars(self) -> float:
        return self.saved_dollars

    def __str__(self) -> str:
        share = self.tokens / self.raw_tokens if self.raw_tokens else 0.0
        return (
            f"{self.tokens:,} of {self.raw_tokens:,} tokens ({share:.0%}) and ${self.dollars:.4f} "
            f"saved in {self.requests} requests, {self.commits} commits"
        )


@dataclass
class AdapterTally:
    """Sums up what the accountant tells; `progress` hears of every commit."""

    progress: Callable[[str], object] | None = None
    savings: Savings = Savings()
    _lock: Lock = field(default_factory=Lock)

    def add(self, request: Request, entries: Sequence[Entry]) -> None:
        # What was only observed went out as it came.
        acted = request.mode != "observe"
        with self._lock:
            so_far = self.savings
            self.savings = replace(
                so_far,
                requests=so_far.requests + 1,
                raw_tokens=so_far.raw_tokens + request.raw_tokens,
                sent_tokens=so_far.sent_tokens
                + (request.sent_tokens if acted else request.raw_tokens),
                raw_dollars=so_far.raw_dollars + request.raw_dollars,
                sent_dollars=so_far.sent_dollars
                + (request.sent_dollars if acted else request.raw_dollars),
                commits=so_far.commits + (len(entries) if acted else 0),
            )
        if entries and self.progress is not None:
            self.progress(f"statecomp: {self.savings}")


class Books:
    """The ledger, the engines that commit to it and the account; opened at the first request.

    A process that was forked opens its own: neither threads nor databases survive a fork.
    """

    def __init__(
        self,
        method: Method,
        settings: ProxySettings,
        prices: PriceBook,
        store: str,
        tally: AdapterTally,
    ) -> None:
        self.tally = tally
        self.pid = os.getpid()
        # Without a store it is all forgotten with the process.
        self.ledger: Ledger = open_store(store or MEMORY, os.environ)
        self.engines = TenantCompressors(settings, method, self.ledger)
        self.horizons = Horizons(self.ledger)
        self._accountant = Accountant(
            self.ledger,
            Metrics(),
            prices,
            most_waiting=settings.limits.records,
            count=method.count,
            told=tally.add,
        )

    def finish(self, exchange: Exchange) -> None:
        decided: Future[View | None] = Future()
        decided.set_result(exchange.checkpoint.view if exchange.checkpoint else None)
        self._accountant.finish(replace(exchange, decision=decided))

    def flush(self) -> None:
        self._accountant.flush()

    def close(self) -> None:
        """Write what is waiting; what comes later is not recorded."""
        if self.pid == os.getpid():
            self._accountant.close(CLOSING_S)
            self.ledger.close()
