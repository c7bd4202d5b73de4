"""How long a run still goes on: expected remaining requests, learned from recorded runs.

A hazard is the chance that the request being made is the last of its run.  It is estimated for
ranges of request numbers (the Kaplan-Meier product over a range is a power of one number), so that
the estimate is a dozen figures a person can read, and it needs nothing but the request's number.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from statecomp.errors import BadInput

LEAST_RUNS = 25
"""Runs that must end in a range before its hazard is believed."""


@dataclass(frozen=True)
class Survival:
    """`hazards[j]` holds from request number `starts[j]` up to the next start, the last for good.

    `about` says where the figures come from.
    """

    starts: tuple[int, ...]
    hazards: tuple[float, ...]
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.starts, self.starts[1:], strict=False))
        if not self.starts or len(self.starts) != len(self.hazards) or not rising:
            raise BadInput("must rise, one for each hazard", field="starts")
        if not all(0.0 < hazard <= 1.0 for hazard in self.hazards):
            raise BadInput("must lie in (0, 1]", field="hazards")

    def remaining(self, number: int) -> float:
        """Requests to expect when request `number` is made, this one counted."""
        place = max(0, bisect_right(self.starts, number) - 1)
        edges = (number, *self.starts[place + 1 :])
        expected, reached = 0.0, 1.0
        for hazard, start, stop in zip(self.hazards[place:], edges, edges[1:], strict=False):
            gone_through = (1.0 - hazard) ** (stop - start)
            expected += reached * (1.0 - gone_through) / hazard
            reached *= gone_through
        return expected + reached / self.hazards[-1]


def fit(lengths: Iterable[int], *, known_from: int = 1) -> Survival:
    """The hazards of runs that made so many requests each.

    `known_from` is the shortest run the recordings could hold.  Recordings picked for their length
    show that no run ends before that, which is not so; and where hardly a run is left they show
    what one or two of them did.  At both ends the hazard over all requests between is taken.
    """
    ends = Counter(length for length in lengths if length >= known_from)
    going = total = ends.total()
    if total < LEAST_RUNS:
        raise BadInput(f"holds {total} such runs; {LEAST_RUNS} are needed", field="lengths")
    pooled = total / sum(n * (length - known_from + 1) for length, n in ends.items())
    starts, hazards = ([1], [pooled]) if known_from > 1 else ([], [])
    start, ended, at_risk = known_from, 0, 0
    for number in range(known_from, max(ends) + 1):
        ended, at_risk = ended + ends[number], at_risk + going
        going -= ends[number]
        if ended >= LEAST_RUNS:
            starts.append(start)
            hazards.append(ended / at_risk)
            start, ended, at_risk = number + 1, 0, 0
        if going < LEAST_RUNS:
            break
    about = {"runs": total, "requests": sum(n * length for length, n in ends.items())}
    return Survival((*starts, start), (*hazards, pooled), {**about, "known_from": known_from})


def parse_survival(text: str, source: str = "survival.toml") -> Survival:
    try:
        document = tomllib.loads(text)
        starts = tuple(int(start) for start in document["starts"])
        hazards = tuple(float(hazard) for hazard in document["hazards"])
        return Survival(starts, hazards, document.get("about", {}))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"is not a survival estimate: {error!r}", file=source) from error
    except BadInput as problem:
        raise problem.at(file=source) from problem


def shipped_survival() -> Survival:
    place = files("statecomp.controller").joinpath("survival.toml")
    return parse_survival(place.read_text("utf-8"))


def survival_toml(survival: Survival) -> str:
    """The file `parse_survival` reads."""
    hazards = ", ".join(f"{hazard:.4f}" for hazard in survival.hazards)
    about = (f"{key} = {_toml(value)}\n" for key, value in survival.about.items())
    return f"starts = {list(survival.starts)}\nhazards = [{hazards}]\n\n[about]\n{''.join(about)}"


def _toml(value: object) -> str:
    return str(value) if isinstance(value, int) else '"' + str(value).replace('"', "'") + '"'
