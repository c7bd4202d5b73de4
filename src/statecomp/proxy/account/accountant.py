"""The account of what went through, written down off the way of the answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Full, Queue
from threading import Event, Thread
from time import monotonic
from typing import TypeAlias

from statecomp.checkpoint import first_change
from statecomp.controller.prices import PriceBook
from statecomp.history.history import History
from statecomp.ledger.audit import Entry, Regret, Request, Told
from statecomp.ledger.ledger import Ledger
from statecomp.proxy.account.bills import Biller, Cached, Prefix
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.account.families import Families
from statecomp.proxy.account.notes import NOT_YET, note_of
from statecomp.proxy.account.regret import RegretMeter
from statecomp.proxy.account.rows import (
    decided,
    entries_of,
    grid_of,
    outcome_of,
    outside_of,
    records_of,
    session_row,
)
from statecomp.proxy.account.undecided import Undecided
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.sessions import title_of
from statecomp.recent import LruCache
from statecomp.strategy import View
from statecomp.tokens import ESTIMATE, TokenCounter

LOG = logging.getLogger("statecomp.proxy")
SESSIONS = 256
AT_ONCE, GATHER_S = 32, 0.02
"""Requests that are written down together, and how long the first one waits for others."""


@dataclass
class _Run:
    """What the account of the next request of a session needs of this one."""

    number: int
    started_s: float
    cached: Cached = field(default_factory=Cached)
    note: str = ""
    title: str = ""
    parent: str = ""
    stored: Prefix = ()  # whose messages are in the ledger already


@dataclass
class _Early:
    """A request that is recorded before its decision is known, and how it was."""

    exchange: Exchange
    told: Told | None = None


_Work: TypeAlias = Callable[[], Told | None]


def _untold(request: Request, entries: Sequence[Entry]) -> None:
    """Nobody beside the ledger wants to know."""


class Accountant:
    """A single writer with a bounded queue; what the ledger cannot take is counted and left.

    `told` hears of each request before the ledger does.
    """

    def __init__(
        self,
        ledger: Ledger,
        metrics: Metrics,
        prices: PriceBook,
        *,
        most_waiting: int,
        count: TokenCounter = ESTIMATE,
        told: Callable[[Request, Sequence[Entry]], None] = _untold,
    ) -> None:
        self._told = told
        self._ledger = ledger
        self._metrics = metrics
        self._biller = Biller(prices, count)
        self._regrets = RegretMeter()
        self._families = Families(ledger)
        self._runs: LruCache[str, _Run] = LruCache(SESSIONS)
        # When a decision ends, those behind it come all at once.
        self._undecided = Undecided(most_waiting // 2, self._decided, self._undecided_yet)
        self._queue: Queue[_Work | None] = Queue(most_waiting)
        self._said_at = -1e9
        self._closing = Event()
        self._thread = Thread(target=self._serve, name="statecomp-account", daemon=True)
        self._thread.start()

    def finish(self, exchange: Exchange) -> None:
        """Record it once its decision is known too, or where that takes long, before it is."""
        self._undecided.enter(exchange)

    def _decided(self, exchange: Exchange) -> None:
        self._put(partial(self._whole, exchange))

    def _undecided_yet(self, exchange: Exchange) -> None:
        """What is decided later is told of it then; only the decision keeps it until that."""
        early = _Early(exchange)
        self._put(partial(self._before_its_decision, early))
        if exchange.decision is not None:
            exchange.decision.add_done_callback(lambda _: self._put(partial(self._late, early)))

    def _put(self, work: _Work) -> None:
        try:
            self._queue.put_nowait(work)
        except Full:
            self._metrics.add("statecomp_ledger_dropped_total")

    def close(self, patience_s: float) -> None:
        """Write what is waiting, then end."""
        self._closing.set()
        self._undecided.clear()
        try:
            self._queue.put(None, timeout=patience_s)
        except Full:
            return
        self._thread.join(patience_s)

    def flush(self) -> None:
        """Wait until everything handed in so far was written."""
        self._queue.join()

    @property
    def waiting(self) -> int:
        return self._queue.qsize() + len(self._undecided)

    def _serve(self) -> None:
        ended = False
        while not ended:
            batch = self._gathered()
            ended = None in batch
            try:
                self._write([work for work in batch if work is not None])
            finally:
                for _ in batch:
                    self._queue.task_done()

    def _gathered(self) -> list[_Work | None]:
        """What has come, after a moment for more: each transaction takes turns from requests."""
        batch = [self._queue.get()]
        if batch[0] is not None:
            self._closing.wait(GATHER_S)
        while len(batch) < AT_ONCE and not self._queue.empty():
            batch.append(self._queue.get())
        return batch

    def _write(self, waiting: Sequence[_Work]) -> None:
        """Together where that goes; else each alone, so that one takes no other with it."""
        told = [one for work in waiting if (one := self._told_of(work)) is not None]
        if len(told) > 1:
            try:
                self._ledger.record_all(told)
            except Exception:  # noqa: BLE001  which of them it is will be seen
                LOG.debug("some requests could not be recorded together")
            else:
                return
        for one in told:
            try:
                self._ledger.record_all([one])
            except Exception as error:  # noqa: BLE001  the account must never stop a request
                self._failed(error)
                if (run := self._runs.get(one.session.id)) is not None:
                    run.stored = ()  # its history comes with its next request

    def _told_of(self, work: _Work) -> Told | None:
        try:
            return work()
        except Exception as error:  # noqa: BLE001  the account must never stop a request
            self._failed(error)
            return None

    def _failed(self, error: Exception) -> None:
        self._metrics.add("statecomp_ledger_failures_total")
        if monotonic() - self._said_at > 60:
            self._said_at = monotonic()
            LOG.error("the ledger could not record a request (%s)", type(error).__name__)

    def _whole(self, exchange: Exchange) -> Told | None:
        view = decided(exchange)
        told = self._account(exchange, view)
        if told is not None:
            self._count(exchange, view, told.entries)
        return told

    def _before_its_decision(self, early: _Early) -> Told | None:
        exchange = early.exchange
        if exchange.decision is None or exchange.decision.done():
            return self._whole(exchange)
        note = exchange.note or NOT_YET
        early.told = self._account(replace(exchange, decision=None, note=note), None)
        return early.told

    def _late(self, early: _Early) -> Told | None:
        """A request that is told again takes its own place."""
        exchange, told = early.exchange, early.told
        raw = exchange.checkpoint.raw if exchange.checkpoint else None
        if told is None or raw is None:
            return None
        view = decided(exchange)
        entries = entries_of(exchange, view, raw) if view else []
        self._count(exchange, view, entries)
        if view is None:
            return None
        dollars = self._biller.records(exchange, view)
        request = replace(
            told.request,
            sent_dollars=told.request.sent_dollars + dollars,
            record_dollars=dollars,
            grid=grid_of(raw, _shown(exchange, raw), view.scores),
            note=note_of(exchange, view, ""),
        )
        return replace(told, request=request, entries=entries, regrets=(), stored=True)

    def _count(self, exchange: Exchange, view: View | None, entries: Sequence[Entry]) -> None:
        self._metrics.add("statecomp_decisions_total", outcome=outcome_of(exchange, view))
        if entries:
            self._metrics.add("statecomp_commits_total", len(entries), mode=_mode(exchange))
        for outcome in records_of(view) if view else ():
            self._metrics.add("statecomp_record_outcomes_total", outcome=outcome)
        for call in view.side_calls if view else ():
            self._metrics.add("statecomp_record_calls_total", kind=call.kind)
        if view and (dollars := self._biller.records(exchange, view)):
            self._metrics.add("statecomp_record_dollars_total", dollars)

    def _account(self, exchange: Exchange, view: View | None) -> Told | None:
        raw = exchange.checkpoint.raw if exchange.checkpoint else None
        if not exchange.session or raw is None:
            return None
        run = self._runs.get(exchange.session) or self._resumed(exchange)
        run.number += 1
        run.title = run.title or title_of(raw)
        run.parent = run.parent or self._families.parent_of(exchange, raw)
        request = self._request(exchange, run, raw, view)
        regrets = self._look_for_regrets(exchange, run.number, raw)
        entries = entries_of(exchange, view, raw) if view else []
        self._runs.put(exchange.session, run)
        for regret in regrets:
            self._metrics.add("statecomp_regrets_total", mode=_mode(exchange), kind=regret.kind)
        self._told(request, entries)
        stored, run.stored = run.stored == run.cached.raw, run.cached.raw
        row = session_row(exchange, title=run.title, parent=run.parent, started_s=run.started_s)
        return Told(row, request, entries, regrets, raw.messages, stored, outside_of(raw))

    def _resumed(self, exchange: Exchange) -> _Run:
        """A session of an earlier process goes on counting where it stood."""
        number = self._ledger.last_number(exchange.session)
        known = self._ledger.session(exchange.session) if number else None
        if known is None:
            return _Run(number, exchange.when_s)
        return _Run(number, known.started_s, title=known.title, parent=known.parent)

    def _request(self, exchange: Exchange, run: _Run, raw: History, view: View | None) -> Request:
        checkpoint = exchange.checkpoint
        assert checkpoint is not None
        shown = _shown(exchange, raw)
        before = run.cached.raw
        dollars = self._biller.bill(exchange, run.cached, raw, shown, view)
        run.note = note_of(exchange, view, run.note if before == run.cached.raw else "")
        changed = checkpoint.rewritten and shown is not raw
        return Request(
            session=exchange.session,
            number=run.number,
            when_s=exchange.when_s,
            protocol=exchange.protocol,
            model=exchange.model,
            mode=exchange.mode,
            raw_tokens=exchange.raw_tokens,
            sent_tokens=exchange.view_tokens,
            outside_tokens=run.cached.outside.tokens,
            raw_dollars=dollars[0],
            sent_dollars=dollars[1],
            record_dollars=dollars[2],
            usage=exchange.usage,
            status=exchange.status,
            first_change=first_change(raw.messages, checkpoint.messages) if changed else None,
            grid=grid_of(raw, shown, view.scores if view else {}),
            note=run.note,
        )

    def _look_for_regrets(self, exchange: Exchange, number: int, raw: History) -> list[Regret]:
        assert exchange.checkpoint is not None
        if exchange.engine is None:
            return []
        found = self._regrets.look(exchange.tenant, raw, exchange.engine.replay)
        went = exchange.mode == "observe" or not exchange.sent_raw
        self._regrets.sent(exchange.tenant, raw, exchange.checkpoint.applied if went else ())
        return [Regret(exchange.session, number, one.commit, one.kind, one.detail) for one in found]


def _shown(exchange: Exchange, raw: History) -> History:
    """The history as it was sent; in observe mode, as it would have been."""
    view = exchange.checkpoint.view if exchange.checkpoint else None
    as_it_came = exchange.sent_raw and exchange.mode != "observe"
    return raw if view is None or as_it_came else view.history


def _mode(exchange: Exchange) -> str:
    return "observe" if exchange.mode == "observe" else "compress"
