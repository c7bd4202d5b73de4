"""The ledger in a database: the commit log and the account of it behind one door."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock

from statecomp.history.interaction import JsonObject
from statecomp.ledger import reading, retention, writing
from statecomp.ledger.audit import (
    Entry,
    EntryState,
    LedgerFailed,
    Regret,
    Request,
    Session,
    Told,
    Totals,
)
from statecomp.ledger.commits import CommitLog
from statecomp.ledger.database import Connection, Database
from statecomp.ledger.log import LogMemory, SqlLog
from statecomp.ledger.nearby import NearbyFile
from statecomp.ledger.pages import Known, Mask, Pages
from statecomp.ledger.retention import RetentionLimits

SWEEP_EVERY = 4096
"""Requests: to add up what is stored takes a second for each gigabyte."""
SWEEP_EVERY_S = 600.0


class Ledger:
    """Commits that are re-applied for good, and the account of them, in a database.

    Safe to share between threads and processes.  Every method may raise LedgerFailed; a transaction
    is written whole or not at all.
    """

    def __init__(self, database: Database, mask: Mask, limits: RetentionLimits) -> None:
        self._database = database
        self._memory = LogMemory()
        self._pages = Pages(mask)
        self._limits = limits
        self._lock = Lock()
        self._records = 0
        self._swept_s = time.monotonic()

    def commits(self, tenant: str) -> CommitLog:
        """The commit log of one tenant; tenants never see each other's commits."""
        return SqlLog(self._database, self._memory, tenant)

    def copied_to(self, nearby: NearbyFile) -> None:
        """What is taken back here is taken back there."""
        self._memory.tell_epoch = nearby.at_epoch

    def record(
        self,
        session: Session,
        request: Request,
        entries: Sequence[Entry] = (),
        regrets: Sequence[Regret] = (),
        messages: Sequence[JsonObject] = (),
    ) -> None:
        """One request in one transaction; `messages` is the raw history, stored as what is new."""
        self.record_all([Told(session, request, entries, regrets, messages)])

    def record_all(self, told: Sequence[Told]) -> None:
        """Several, in this order; they may share a transaction."""
        # Where writers do not wait for each other, two that hold several sessions each could.
        at_once = len(told) if self._database.dialect.one_writer else 1
        for place in range(0, len(told), max(1, at_once)):
            self._record(told[place : place + at_once])
        if self._sweep_is_due(len(told)):
            self.sweep()

    def _record(self, told: Sequence[Told]) -> None:
        rows, news = list[writing.RequestRows](), dict[str, tuple[Known, Known]]()
        for one in told:
            name = one.session.id
            before = seen = self._pages.seen(name)
            if one.messages:
                seen = self._pages.of_history(name, one.messages, one.outside)
            rows.append(writing.recorded(self._pages, one, seen))
            if len(seen.secrets) > len(before.secrets):
                news[name] = news.get(name, (before.secrets,))[0], seen.secrets

        def work(connection: Connection) -> None:
            writing.write(connection, rows)
            for name, (old, known) in news.items():
                writing.mask_again(connection, self._pages, name, known, known.keys() - old.keys())

        self._database.write(work)

    def sessions(self, limit: int = 100, *, tenant: str = "") -> Sequence[Session]:
        """The latest first; of one tenant, or of all."""
        return self._database.read(lambda c: reading.sessions(c, limit, tenant))

    def session(self, name: str) -> Session | None:
        return self._database.read(lambda c: reading.session(c, name))

    def requests(self, session: str, *, after: int = 0) -> Sequence[Request]:
        """Those with a number above `after`, in order."""
        return self._database.read(lambda c: reading.requests(c, session, after))

    def last_number(self, session: str) -> int:
        """The highest number of a request, 0 where there is none."""
        return self._database.look(lambda c: reading.last_number(c, session))

    def entries(self, session: str) -> Sequence[Entry]:
        return self._database.read(lambda c: reading.entries(c, session))

    def entry(self, commit: str, *, tenant: str = "") -> Entry | None:
        """By commit id, or a beginning of it that only one commit has; of one tenant, or of all."""
        return self._database.read(lambda c: reading.entry(c, commit, tenant))

    def regrets(self, session: str) -> Sequence[Regret]:
        return self._database.read(lambda c: reading.regrets(c, session))

    def totals(self, *, tenant: str = "") -> Totals:
        return self._database.read(lambda c: reading.totals(c, tenant))

    def record_dollars(self, since_s: float, *, tenant: str = "", session: str = "") -> float:
        """What models that write records have cost since then."""
        return self._database.read(lambda c: reading.record_dollars(c, since_s, tenant, session))

    def messages(self, session: str) -> Sequence[JsonObject]:
        """The last raw history of a session, secrets masked."""
        return self._database.read(lambda c: reading.messages(c, session))

    def undo(self, commit: str, reason: str = "undone by the user", *, tenant: str = "") -> bool:
        """From the next request on the span is raw again, and is not taken again.

        Two tenants with one history have one commit each, of the same id: `tenant` says whose.
        """
        return self._take_back(commit, tenant, "undone", reason)

    def suspect(self, commit: str, reason: str, *, tenant: str = "") -> bool:
        """Like `undo`, for a commit whose request a provider refused; of one tenant, or of all."""
        return self._take_back(commit, tenant, "suspect", reason)

    def purge(self, *, session: str = "", before_s: float | None = None) -> int:
        """Deletes sessions with all they hold, or everything; how many sessions there were."""
        lock = self._database.dialect.lock_sessions
        count = self._database.write(lambda c: retention.purge(c, session, before_s, lock))
        self._tidy()
        return count

    def sweep(self) -> None:
        """Hold the limits, as `record` does now and then; what fails now is done the next time."""
        used = self._memory.take_used()
        try:
            if retention.sweep(self._database, self._limits, time.time(), used):
                self._tidy()
        except LedgerFailed:
            return

    def close(self) -> None:
        """Says which commits were used, so that they do not count as idle."""
        used = self._memory.take_used()
        try:
            if used:
                self._database.write(lambda c: retention.mark_used(c, used, time.time()))
        except LedgerFailed:
            pass  # they stay as young as they were
        finally:
            self._database.close()

    def _take_back(self, commit: str, tenant: str, state: EntryState, reason: str) -> bool:
        told = self._pages.text(reason, {})
        return self._database.write(lambda c: retention.take_back(c, commit, tenant, state, told))

    def _sweep_is_due(self, more: int) -> bool:
        with self._lock:
            self._records += more
            late = time.monotonic() - self._swept_s > SWEEP_EVERY_S
            if self._records < SWEEP_EVERY and not late:
                return False
            self._records, self._swept_s = 0, time.monotonic()
            return True

    def _tidy(self) -> None:
        """Give the room of what was deleted back, now or, if someone is writing, the next time."""
        tidy = self._database.dialect.tidy
        try:
            self._database.look(lambda c: [c.execute(statement) for statement in tidy])
        except LedgerFailed:
            return
