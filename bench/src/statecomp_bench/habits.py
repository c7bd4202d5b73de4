"""How scripted agents differ: what they put into words, repeat, trust and re-read.

Each habit is a share between 0 and 1; whether it shows at a given fact or step is drawn from the
seed and the name of that fact or step, so that the same run is the same under every strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from statecomp.errors import BadInput


@dataclass(frozen=True, slots=True)
class Habits:
    """`restate`: a fresh value is put into words.  `quote`: so is a fresh rule.

    `trust`: an earlier artefact without a trace is taken as done.  `recheck`: a document is read
    again when its rule is out of sight.  `reread`: a source is looked at once more before writing.
    `parallel`: independent neighbours are called together.  `carries`: values collected for a goal
    are repeated until it is reached.  `patience`: how often a value is fetched again for one goal.
    `lines`: how much of a long file is looked at.
    """

    restate: float = 0.5
    quote: float = 0.35
    trust: float = 0.92
    recheck: float = 0.3
    reread: float = 0.05
    parallel: float = 0.15
    carries: bool = True
    patience: int = 3
    lines: tuple[int, int] = (60, 140)


VARIANTS: Mapping[str, Habits] = {
    "": Habits(),
    "forgetful": Habits(
        restate=0.15, quote=0.1, trust=0.75, recheck=0.1, reread=0.15, carries=False
    ),
    "hasty": Habits(
        restate=0.3,
        quote=0.2,
        trust=1.0,
        recheck=0.0,
        reread=0.0,
        parallel=0.4,
        patience=1,
        lines=(30, 60),
    ),
    "thorough": Habits(
        restate=0.9,
        quote=0.8,
        trust=0.85,
        recheck=0.8,
        reread=0.2,
        parallel=0.1,
        patience=4,
        lines=(120, 220),
    ),
}


def habits_named(variant: str) -> Habits:
    if variant not in VARIANTS:
        known = ", ".join(name for name in VARIANTS if name)
        raise BadInput(f"is unknown; known are {known}", field=f"scripted variant {variant!r}")
    return VARIANTS[variant]


@lru_cache(maxsize=65536)
def draw(seed: int, *names: str) -> float:
    """A number in [0, 1) that belongs to a seed and a name."""
    return Random(f"{seed}/{'/'.join(names)}").random()
