"""How long real outputs and their lines are: draws from the quantiles in `measured.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random

MARKS = (0.1, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Shape:
    """What 10, 25, 50, 75 and 95 percent of the outputs of one kind stay below."""

    share: float
    lines: tuple[int, ...]
    chars: tuple[int, ...]
    blank: float

    def length(self, rng: Random) -> int:
        """Characters of one line."""
        return _drawn(rng, self.chars)

    def height(self, rng: Random) -> int:
        """Lines of one output."""
        return _drawn(rng, self.lines)


@cache
def shapes() -> Mapping[str, Shape]:
    text = files(__package__).joinpath("measured.toml").read_text("utf-8")
    return {
        name: Shape(row["share"], tuple(row["lines"]), tuple(row["chars"]), row["blank"])
        for name, row in tomllib.loads(text).items()
    }


def _drawn(rng: Random, quantiles: Sequence[int]) -> int:
    """A draw from the measured distribution, straight between its marks."""
    place = rng.uniform(MARKS[0], MARKS[-1])
    upper = next(n for n, mark in enumerate(MARKS) if place <= mark)
    low, high = max(0, upper - 1), upper
    span = MARKS[high] - MARKS[low]
    share = (place - MARKS[low]) / span if span else 0.0
    return round(quantiles[low] + share * (quantiles[high] - quantiles[low]))
