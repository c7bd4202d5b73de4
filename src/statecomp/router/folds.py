"""Grouped evaluation: which runs a router learns from, is tuned on, and is judged on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from statecomp.errors import BadInput

EVEN_PARTS = (3, 1, 1)
"""Five rotations; every run is tested exactly once."""
PAPER_PARTS = (200, 50, 50)
"""Six rotations test every run once; the paper runs the first five of them (`count=5`)."""


class FoldRun(NamedTuple):
    """What a fold must know of a run; runs of one group are attempts at one task."""

    name: str
    group: str
    domain: str


class Fold(NamedTuple):
    """Names of runs.  No run, and by group no task, is in two parts."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]


def rotations(
    runs: Sequence[FoldRun],
    *,
    parts: tuple[int, int, int] = EVEN_PARTS,
    count: int | None = None,
    by_group: bool = True,
    seed: int = 0,
) -> list[Fold]:
    """One fold for each block of runs: that block is the test, the blocks after it validate.

    `parts` are proportions of train, validation and test, the first two multiples of the third;
    they are met to a run without groups, and as nearly as whole groups allow with them.  All
    rotations together test every run exactly once; `count` asks for the first few only.
    """
    train, validation, test = parts
    if min(parts) < 1 or train % test or validation % test:
        raise BadInput(f"must be multiples of the last of them, not {parts}", field="parts")
    number, tuning = sum(parts) // test, validation // test
    if count is not None and not 1 <= count <= number:
        raise BadInput(f"must lie between 1 and {number}, not {count}", field="count")
    blocks = _blocks(runs, number, by_group=by_group, seed=seed)
    return [_fold(blocks, turn, tuning) for turn in range(number if count is None else count)]


def learning_more(
    folds: Sequence[Fold], runs: Sequence[FoldRun], more: Sequence[FoldRun], *, seed: int = 0
) -> list[Fold]:
    """The folds of `runs` with `more` runs to learn from, which none is tuned or judged on.

    Another run of a task that a fold is tuned or judged on is left out of it.  New tasks are dealt
    over the folds, and each leaves out its share, so that every task has a fold that never saw it.
    """
    new = sorted({(run.domain, run.group) for run in more} - {(r.domain, r.group) for r in runs})
    Random(seed).shuffle(new)
    new.sort(key=lambda task: task[0])  # stable: each domain is dealt evenly, and stays shuffled
    share = {group: place % len(folds) for place, (_, group) in enumerate(new)}
    wider = []
    for turn, fold in enumerate(folds):
        apart = {*fold.validation, *fold.test}
        closed = {run.group for run in runs if run.name in apart}
        closed |= {group for group, own in share.items() if own == turn}
        added = sorted(run.name for run in more if run.group not in closed)
        wider.append(fold._replace(train=(*fold.train, *added)))
    return wider


def unseen_by(folds: Sequence[Fold], runs: Iterable[FoldRun]) -> dict[str, int]:
    """For each task the first fold that neither learned from a run of it nor was tuned on one."""
    tasks: dict[str, set[str]] = {}
    for run in runs:
        tasks.setdefault(run.group, set()).add(run.name)
    seen = [{*fold.train, *fold.validation} for fold in folds]
    found = {}
    for group, names in tasks.items():
        free = [turn for turn, known in enumerate(seen) if not names & known]
        if not free:
            raise BadInput(f"every fold has seen task {group!r}")
        found[group] = free[0]
    return found


def _fold(blocks: Sequence[Sequence[str]], turn: int, tuning: int) -> Fold:
    turned = [*blocks[turn:], *blocks[:turn]]
    return Fold(
        train=tuple(name for block in turned[1 + tuning :] for name in block),
        validation=tuple(name for block in turned[1 : 1 + tuning] for name in block),
        test=tuple(turned[0]),
    )


def _blocks(runs: Sequence[FoldRun], number: int, *, by_group: bool, seed: int) -> list[list[str]]:
    """Blocks of about equal size and alike in domains; independent of the order of `runs`."""
    units = _units(runs, by_group=by_group)
    if len(units) < number:
        things = "tasks" if by_group else "runs"
        raise BadInput(
            f"the labelled {things} are {len(units)}, and {number} are needed, so that some are "
            f"held out; label runs of more {things}"
        )
    Random(seed).shuffle(units)
    # Large groups first, while there is still room to level them, and each domain dealt evenly;
    # sorting is stable, so what is alike stays shuffled.
    units.sort(key=lambda unit: (-len(unit), unit[0].domain))
    blocks: list[list[str]] = [[] for _ in range(number)]
    domains: list[Counter[str]] = [Counter() for _ in range(number)]
    for unit in units:
        inside = Counter(run.domain for run in unit)
        # The block that holds least of these domains, then the emptiest; single runs look at the
        # size first, since they can meet it exactly.
        loads = [
            (sum(domains[b][d] * n for d, n in inside.items()), len(blocks[b]))
            for b in range(number)
        ]
        place = min(range(number), key=lambda b: loads[b] if by_group else loads[b][::-1])
        blocks[place].extend(run.name for run in unit)
        domains[place].update(inside)
    return blocks


def _units(runs: Iterable[FoldRun], *, by_group: bool) -> list[list[FoldRun]]:
    """What must stay together, in an order that depends on names alone."""
    units: dict[str, list[FoldRun]] = {}
    names: set[str] = set()
    for run in sorted(runs):
        if run.name in names:
            raise BadInput(f"run {run.name!r} is listed twice")
        names.add(run.name)
        units.setdefault(run.group if by_group else run.name, []).append(run)
    return [units[key] for key in sorted(units)]
