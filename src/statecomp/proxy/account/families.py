"""Who started whom: the sub-agents of a client's run, told from the agent they work for."""

from __future__ import annotations

from dataclasses import dataclass, field

from statecomp.history.history import History
from statecomp.ledger.audit import Session
from statecomp.ledger.ledger import Ledger
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.sessions import opening_of
from statecomp.recent import LruCache

REMEMBERED = 1024
LATEST = 50
"""Sessions that are looked through for the beginning of a run that an earlier process saw."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The agent that a run began with; without a session where nobody has seen it."""

    session: str
    member: str = ""
    opening: str = ""


@dataclass
class Families:
    """A sub-agent shares the run of its parent, and is called otherwise by its client or told
    otherwise who it is.  The same agent with another task (a compacted history) is none.
    """

    ledger: Ledger
    _heads: LruCache[str, _Head] = field(default_factory=lambda: LruCache(REMEMBERED))

    def parent_of(self, exchange: Exchange, raw: History) -> str:
        """The session a sub-agent was started from; empty for any other."""
        kin = exchange.kin
        if not kin.family or not kin.tools:
            return ""
        head = self._heads.get(kin.family) or self._known(exchange)
        mine = _Head(exchange.session, kin.member, opening_of(raw))
        if not kin.told and head.session in ("", exchange.session):
            self._heads.put(kin.family, mine)
            return ""
        other = kin.member != head.member or mine.opening != head.opening
        return head.session if kin.told or (head.opening and other) else ""

    def _known(self, exchange: Exchange) -> _Head:
        """As an earlier process left it: without its opening, which only its next request shows."""
        found = [s for s in self.ledger.sessions(LATEST) if self._begins(s, exchange)]
        first = min(found, key=lambda session: session.started_s, default=None)
        return self._heads.put(exchange.kin.family, _Head(first.id if first else ""))

    @staticmethod
    def _begins(session: Session, exchange: Exchange) -> bool:
        return (
            session.family == exchange.kin.family
            and session.tenant == exchange.tenant
            and not session.parent
        )
