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

    Seen in 150 hand-offs that large language models finished (lab log):

    understands  a value or rule of a record counts in other words than its own, where it stands
                 nowhere in its own (`scripted.meaning`); records by a language model, which word
                 everything anew, cost readers nothing.  So does what it filled into a call of its
                 own that is in sight, and a newer list of which little is left is read again before
                 an older one is trusted (`scripted.recalling`; both assumed, no reading tells).
                 Nor does it look up for a note what a record tells it, whoever's words it is in
    batch, ahead what is missed comes back in one turn, with what the next steps will need; of 108
                 readers 55 made two calls for all that was left, 18 three, 9 one, and what was left
                 were ten to twenty steps
    selects      one program runs the sources of what is missed and prints the lines that say it
                 (`scripted.programs`), once; then they are read.  240 of 267 calls were programs.
                 It goes on with what it finds, loops over sources that are alike
                 (`scripted.loops`), and asks all of them for what it misses in any
                 (`scripted.lookups`): look-ups "were often broader than needed"
    reread       a source is looked at once more before writing: of 16 readers with the whole
                 history one did
    recheck,     a document is read again when its rule is out of sight; who `weighs` does so the
    weighs       more surely the less a record of it shows ("re-reads when a record looks thin")
    trust        an earlier artefact without a trace is taken as done (assumed: readings are too few
                 to say how often one is made again)
    insists      what happens once is tried again, for once: 3 of 24 readers who missed such a thing
    finishes     all that is left to read is one program and all that is left to do another; who
                 takes over works so, agents in recordings take about one step a turn
    opens        who finishes so opens a document in a call of its own: 27 of their 267 calls, one
                 in four hand-offs, were no programs
    checks       and looks at the result in a call of its own: 8 of 108 did, the others had their
                 program print it

    Of every agent: `restate`, a fresh value is put into words, `quote`, so is a fresh rule.
    `parallel`: independent neighbours are called together.  `stride`: how many steps are taken in
    one turn where all is known.  `carries`: who must search again for one goal notes what it has.
    `patience`: how often a value is fetched again for one goal.  `lines`: how much of a long file
    is looked at.
    """

    restate: float = 0.5
    quote: float = 0.35
    trust: float = 1.0
    recheck: float = 0.97
    weighs: bool = True
    understands: bool = True
    reread: float = 0.0
    batch: int = 24
    ahead: int = 10
    selects: bool = True
    parallel: float = 0.15
    stride: int = 1
    insists: float = 0.125
    finishes: bool = False
    opens: float = 0.25
    checks: float = 0.07
    carries: bool = True
    patience: int = 3
    lines: tuple[int, int] = (60, 140)


EVERYTHING = 1000
BRITTLE = Habits(
    trust=0.92,
    recheck=0.3,
    weighs=False,
    understands=False,
    reread=0.05,
    insists=1.0,
    batch=1,
    ahead=0,
    selects=False,
)
"""Finds values by exact wording, breaks rules out of sight, asks for one value at a time."""

VARIANTS: Mapping[str, Habits] = {
    "": Habits(),
    "reader": Habits(batch=EVERYTHING, ahead=EVERYTHING, stride=EVERYTHING, finishes=True),
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
