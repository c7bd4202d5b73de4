"""What else a ledger tells of a client: how long its sessions last, and what a return cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from statecomp.controller.horizon import Horizon
from statecomp.learning.refetch import RefetchPrice, reread_in
from statecomp.learning.sessions import Lived


@dataclass(frozen=True, slots=True)
class ClientHabit:
    """One client: `replaced` steps were, `returns` of them were come back for, at this `price`."""

    client: str
    lengths: tuple[int, ...]
    replaced: int
    returns: int
    price: RefetchPrice

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
            "reread": round(self.price.part, 3),
            "refetch_tokens": round(self.price.tokens),
        }


Habits = tuple[ClientHabit, ...]


def habits_of(lived: Sequence[Lived]) -> Habits:
    clients = sorted({one.client for one in lived})
    return tuple(_habit(name, [one for one in lived if one.client == name]) for name in clients)


def _habit(client: str, lived: Sequence[Lived]) -> ClientHabit:
    fates = [outcome.fate for one in lived for outcome in one.outcomes]
    again = [
        part
        for one in lived
        for part in reread_in(one.told, {step.number: step for step in one.reading.interactions})
    ]
    return ClientHabit(
        client=client,
        lengths=tuple(sorted(one.session.totals.requests for one in lived)),
        replaced=len(fates),
        returns=fates.count("returned"),
        price=RefetchPrice.of(again),
    )
