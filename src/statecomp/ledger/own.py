"""A ledger as one tenant sees it: its own sessions and commits, and nothing of anybody else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from statecomp.history.interaction import JsonObject
from statecomp.ledger.audit import Entry, LedgerFailed, Regret, Request, Session, Totals
from statecomp.ledger.ledger import Ledger

Found = TypeVar("Found")


@dataclass(frozen=True)
class Account:
    """What one tenant may read and take back; the rest of a ledger is the proxy's business."""

    ledger: Ledger
    tenant: str

    def sessions(self, limit: int = 100) -> Sequence[Session]:
        return self.ledger.sessions(limit, tenant=self.tenant)

    def session(self, name: str) -> Session | None:
        found = self.ledger.session(name)
        return found if found is not None and found.tenant == self.tenant else None

    def requests(self, session: str, *, after: int = 0) -> Sequence[Request]:
        return self._own(session, lambda: self.ledger.requests(session, after=after))

    def entries(self, session: str) -> Sequence[Entry]:
        return self._own(session, lambda: self.ledger.entries(session))

    def entry(self, commit: str) -> Entry | None:
        return self.ledger.entry(commit, tenant=self.tenant)

    def regrets(self, session: str) -> Sequence[Regret]:
        return self._own(session, lambda: self.ledger.regrets(session))

    def totals(self) -> Totals:
        return self.ledger.totals(tenant=self.tenant)

    def record_dollars(self, since_s: float) -> float:
        return self.ledger.record_dollars(since_s, tenant=self.tenant)

    def messages(self, session: str) -> Sequence[JsonObject]:
        return self._own(session, lambda: self.ledger.messages(session))

    def undo(self, commit: str, reason: str = "undone by the user") -> bool:
        return self.ledger.undo(commit, reason, tenant=self.tenant)

    def purge(self, *, session: str = "", before_s: float | None = None) -> int:
        if not session or self.session(session) is None:
            raise LedgerFailed("only sessions of your own can be deleted, one by one")
        return self.ledger.purge(session=session, before_s=before_s)

    def close(self) -> None:
        self.ledger.close()

    def _own(self, session: str, read: Callable[[], Sequence[Found]]) -> Sequence[Found]:
        return read() if self.session(session) is not None else ()


@dataclass(frozen=True)
class WholeAccount(Account):
    """The account of all; a commit is still taken back for the one tenant it is shown of."""

    tenant: str = ""

    def session(self, name: str) -> Session | None:
        return self.ledger.session(name)

    def purge(self, *, session: str = "", before_s: float | None = None) -> int:
        return self.ledger.purge(session=session, before_s=before_s)

    def undo(self, commit: str, reason: str = "undone by the user") -> bool:
        entry = self.entry(commit)
        session = self.session(entry.session) if entry and entry.session else None
        return self.ledger.undo(commit, reason, tenant=session.tenant if session else "")


def account_of(ledger: Ledger, tenant: str) -> Account:
    """The account of one tenant, or, without one, of all."""
    return Account(ledger, tenant) if tenant else WholeAccount(ledger)
