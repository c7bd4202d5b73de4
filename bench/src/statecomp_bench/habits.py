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
    """Habits seen in language models, and those every agent must have.

    Seen in 42 hand-offs that a large language model finished (lab log):

    understands  a value or rule of a record counts in other words than its own (`meaning`); records
                 by a language model, which word everything anew, cost readers nothing
    batch, ahead what is missed comes back in one turn, with what the next steps will need; readers
                 made 1.8 to 3.8 calls for all that was left, whatever they had to look up
    selects      it searches files for the lines it misses instead of reading them; 1,000 to 3,000
                 tokens were read again in all
    recheck,     a document is read again when its rule is out of sight; who `weighs` does so the
    weighs       more surely the less a record of it shows ("re-reads when a record looks thin")
    trust        an earlier artefact without a trace is taken as done (assumed: readings are too few
                 to say how often one is made again)

    Of every agent: `restate`, a fresh value is put into words, `quote`, so is a fresh rule.
    `reread`: a source is looked at once more before writing.  `parallel`: independent neighbours
    are called together.  `stride`: how many steps are taken in one turn where all is known; readers
    take all, agents in recordings about one.  `carries`: values collected for a goal are repeated
    until it is reached.  `patience`: how often a value is fetched again for one goal.  `lines`: how
    much of a long file is looked at.
    """

    restate: float = 0.5
    quote: float = 0.35
    trust: float = 1.0
    recheck: float = 0.97
    weighs: bool = True
    understands: bool = True
    reread: float = 0.05
    batch: int = 8
    ahead: int = 4
    selects: bool = True
    parallel: float = 0.15
    stride: int = 1
    carries: bool = True
    patience: int = 3
    lines: tuple[int, int] = (60, 140)


BRITTLE = Habits(
    trust=0.92, recheck=0.3, weighs=False, understands=False, batch=1, ahead=0, selects=False
)
"""Finds values by exact wording, breaks rules out of sight, asks for one value at a time."""

VARIANTS: Mapping[str, Habits] = {
    "": Habits(),
    "literal": BRITTLE,
    "forgetful": Habits(
        restate=0.15, quote=0.1, trust=0.75, recheck=0.8, reread=0.15, ahead=0, carries=False
    ),
    "hasty": Habits(
        restate=0.3,
        quote=0.2,
        trust=1.0,
        recheck=0.6,
        reread=0.0,
        parallel=0.4,
        patience=1,
        lines=(30, 60),
    ),
    "thorough": Habits(
        restate=0.9,
        quote=0.8,
        trust=0.85,
        recheck=1.0,
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
