"""Sessions of a ledger as runs to learn from: the last raw history of each, secrets masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from statecomp.annotation.records import Reading
from statecomp.errors import StateCompError
from statecomp.history.trajectory import Trajectory
from statecomp.learning.outcomes import SessionAccount, StepOutcome, outcomes
from statecomp.learning.watch import product
from statecomp.ledger.audit import Session
from statecomp.ledger.own import Account

SHORTEST = 6
"""Interactions a session must have: shorter ones hold hardly a pair with k >= i+2."""
MOST_SESSIONS = 2_000


@dataclass(frozen=True)
class Lived:
    """One session: what was said, and what became of what was replaced."""

    session: Session
    run: Trajectory
    reading: Reading
    outcomes: tuple[StepOutcome, ...]
    told: SessionAccount

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def client(self) -> str:
        return self.run.domain


@dataclass(frozen=True)
class UsableSessions:
    """The sessions that can be learned from, oldest first, and how many cannot, by reason."""

    lived: tuple[Lived, ...]
    left_out: dict[str, int]


def sessions_of(ledger: Account, names: Sequence[str] = ()) -> UsableSessions:
    """All of them, or those named."""
    lived: list[Lived] = []
    left_out: dict[str, int] = {}
    for session in sorted(ledger.sessions(MOST_SESSIONS), key=lambda s: (s.last_s, s.id)):
        if names and session.id not in names:
            continue
        one = _lived(ledger, session)
        if isinstance(one, Lived):
            lived.append(one)
        else:
            left_out[one] = left_out.get(one, 0) + 1
    return UsableSessions(tuple(lived), left_out)


def _lived(ledger: Account, session: Session) -> Lived | str:
    messages = tuple(ledger.messages(session.id))
    if not messages:
        return "its messages are no longer kept"
    run = Trajectory(
        session.id,
        messages,
        session.protocol,
        domain=product(session.client) or "unknown",
        # Sessions on the same task must not be parted by a split, so they share its name.
        group=session.title or session.id,
        source="ledger",
    )
    try:
        reading = Reading.of(run)
    except StateCompError:
        return "it cannot be read as a history"
    if reading.last < SHORTEST:
        return f"it has fewer than {SHORTEST} steps"
    told = SessionAccount.of(ledger, session.id)
    steps = {step.number: step for step in reading.interactions}
    return Lived(session, run, reading, tuple(outcomes(told, steps)), told)
