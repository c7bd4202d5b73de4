"""What else a ledger tells of a client: how long its sessions last, and what a return cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from statecomp.controller.economics import REREAD
from statecomp.controller.horizon import Horizon
from statecomp.learning.sessions import Lived

FEWEST_RETURNS = 5
"""With fewer the part that is read again stays what the product assumes."""


@dataclass(frozen=True, slots=True)
class ClientHabit:
    """One client.  `reread` is the part of a replaced step that a return reads again, `extra` the
    requests it took; `replaced` steps were, `returns` of them were come back for."""

    client: str
    lengths: tuple[int, ...]
    replaced: int
    returns: int
    reread: float
    refetch_tokens: float

    def horizon(self) -> Horizon:
        return Horizon.of(self.lengths)

    def as_json(self) -> dict[str, Any]:
        expected = self.horizon()
        return {
            "client": self.client,
            "sessions": len(self.lengths),
            "median_requests": median(self.lengths) if self.lengths else None,
            "still_to_come": {str(n): round(expected.remaining(n), 1) for n in (1, 10, 30, 100)},
            "replaced": self.replaced,
            "returns": self.returns,
            "reread": round(self.reread, 3),
            "refetch_tokens": round(self.refetch_tokens),
        }


Habits = tuple[ClientHabit, ...]


def habits_of(lived: Sequence[Lived]) -> Habits:
    clients = sorted({one.client for one in lived})
    return tuple(_habit(name, [one for one in lived if one.client == name]) for name in clients)


def _habit(client: str, lived: Sequence[Lived]) -> ClientHabit:
    found = [(one, outcome) for one in lived for outcome in one.outcomes]
    returns = [(one, outcome) for one, outcome in found if outcome.fate == "returned"]
    parts = [*_read_again((one, outcome.number, outcome.needed) for one, outcome in returns)]
    enough = len(parts) >= FEWEST_RETURNS
    return ClientHabit(
        client=client,
        lengths=tuple(sorted(one.session.totals.requests for one in lived)),
        replaced=sum(outcome.fate != "open" for _, outcome in found),
        returns=len(returns),
        reread=fmean(share for share, _ in parts) if enough else REREAD,
        refetch_tokens=fmean(tokens for _, tokens in parts) if parts else 0.0,
    )


def _read_again(returns: Iterable[tuple[Lived, int, int]]) -> Iterable[tuple[float, float]]:
    """Of each return the part of the step that was read again, and the tokens that took."""
    for one, number, needed in returns:
        steps = {step.number: step for step in one.reading.interactions}
        if number in steps and needed in steps and steps[number].tokens:
            again = steps[needed].tokens
            yield min(1.0, again / steps[number].tokens), float(again)
