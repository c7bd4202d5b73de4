"""What it costs a client to get back what was replaced: learned from the calls it made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Final

from statecomp.controller.economics import REREAD
from statecomp.history.interaction import Interaction
from statecomp.learning.outcomes import SessionAccount, outcomes

PRIOR: Final = 5.0
"""What the product assumes counts as so many returns: a few of a client's own move it a little."""


@dataclass(frozen=True, slots=True)
class Reread:
    """One call made again: tokens of the step that was replaced, and of the one that read anew."""

    replaced: int
    again: int

    @property
    def part(self) -> float:
        """Of the replaced step; what was read beyond it had not been replaced."""
        return min(1.0, self.again / max(1, self.replaced))


@dataclass(frozen=True, slots=True)
class RefetchPrice:
    """`part` of a replaced step is read again, from 0 to 1; `tokens` a return took on average."""

    returns: int
    part: float = REREAD
    tokens: float = 0.0

    @classmethod
    def of(cls, found: Sequence[Reread]) -> RefetchPrice:
        if not found:
            return cls(0)
        part = (PRIOR * REREAD + sum(one.part for one in found)) / (PRIOR + len(found))
        return cls(len(found), part, fmean(one.again for one in found))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "part": round(self.part, 3), "tokens": round(self.tokens)}


def reread_in(told: SessionAccount, steps: Mapping[int, Interaction]) -> Iterator[Reread]:
    """Every step of a session that was read again; `steps` are all of the session.

    Who merely used a name that was gone had not read anything again.
    """
    repeated = [regret for regret in told.regrets if regret.kind == "repeated call"]
    if not repeated:
        return
    for one in outcomes(replace(told, regrets=repeated), steps):
        known = one.number in steps and one.needed in steps
        if one.fate == "returned" and known and steps[one.number].tokens:
            yield Reread(steps[one.number].tokens, steps[one.needed].tokens)
