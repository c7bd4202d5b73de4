"""A router of one's own: the user's sessions beside what the shipped router learned from.

The newest sessions are kept apart, and say whether a router that learned from the older ones does
better on them than the shipped one.  Only then is one made of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.pipeline import Annotator
from statecomp.errors import BadInput
from statecomp.features.evidence import NAMES
from statecomp.learning import supervision
from statecomp.learning.compare import USUAL, RouterComparison, compare, judged_on
from statecomp.learning.habits import Habits, habits_of
from statecomp.learning.lessons import Heard, Lessons, lessons, unheard
from statecomp.learning.sessions import Lived
from statecomp.method import Method
from statecomp.router import cross
from statecomp.router.bundle import Bundle
from statecomp.router.committee import Committee
from statecomp.router.pairs import Pairs
from statecomp.router.pipeline import MEANING
from statecomp.router.shipped import open_bundle
from statecomp.router.supervision import must_fit

FEWEST: Final = 6
"""Sessions of different tasks: with fewer, nothing is left to judge by."""
HELD_OUT: Final = 1 / 3
MEMBERS: Final = Committee(parts=5)


@dataclass(frozen=True)
class Readers:
    """Who labels beside the rules: a chat for labels, forecasts that were made before."""

    annotator: Annotator | None = None
    forecasts: Forecasts | None = None


@dataclass(frozen=True)
class Learned:
    """A router, how it did beside the shipped one on sessions that it had not seen, and what else
    these sessions tell."""

    bundle: Bundle
    comparison: RouterComparison
    lessons: Lessons
    sessions: int
    held_out: int
    habits: Habits


def learn(
    lived: Sequence[Lived],
    readers: Readers = Readers(),
    *,
    learner: Committee = MEMBERS,
    method: Method = USUAL,
    heard: Heard = unheard,
) -> Learned:
    """`lived` are in the order they happened in; `method` is how they are replayed."""
    older, newer = parted(lived)
    if readers.forecasts is not None:
        must_fit(readers.forecasts, [one.reading for one in lived])
    shipped = open_bundle()
    heard(f"labelling {len(lived)} sessions")
    taught = lessons(lived, shipped, readers.annotator, readers.forecasts)
    own = taught.pairs.checked("the pairs of your sessions")
    held = judged_on(own, newer)
    trusted = readers.annotator is not None
    heard(f"learning from {len(older)} sessions, to be judged on {len(newer)} newer ones")
    trial = trained(own.of_runs(one.id for one in older), learner, trusted=trusted)
    comparison = compare(shipped, trial, newer, held, taught.labels, heard, method)
    if comparison.better:
        heard("learning from all sessions")
        trial = trained(own, learner, trusted=trusted)
    habits = habits_of(lived)
    return Learned(trial, comparison, taught, len(lived), len(newer), habits)


def parted(lived: Sequence[Lived]) -> tuple[list[Lived], list[Lived]]:
    """Older and newer sessions; those of one task stay together."""
    tasks = [*dict.fromkeys(one.run.group for one in lived)]
    if len(tasks) < FEWEST:
        problem = f"tasks that can be learned from: {len(tasks)}, and {FEWEST}"
        raise BadInput(f"{problem} are needed, so that some are left to judge by; use it longer")
    newest = {*tasks[-max(2, round(len(tasks) * HELD_OUT)) :]}
    older = [one for one in lived if one.run.group not in newest]
    return older, [one for one in lived if one.run.group in newest]


def trained(own: Pairs, learner: Committee, *, trusted: bool) -> Bundle:
    """Beside the shipped supervision; labels set by rules are learned from, and tune nothing."""
    known, experts = supervision.shipped()
    mixed = replace(own, groups=tuple(f"own {group}" for group in own.groups))
    less = frozenset(known.runs) - experts | (frozenset() if trusted else frozenset(own.runs))
    chosen = cross.choose(
        known,
        mixed,
        {"committee": replace(learner, untrusted=less)},
        cross.Choice(calibration="beta"),
    )
    return Bundle(
        router=chosen.router,
        features=NAMES,
        threshold=chosen.threshold,
        calibration=chosen.calibration,
        labels=MEANING,
        created_from=f"{len(own.runs)} own sessions, {len(own):,} pairs, beside the shipped "
        f"supervision: {len(known.runs)} runs, {len(known):,} pairs",
    )
