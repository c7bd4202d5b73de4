"""What a router learns from: one row for each interaction i at each checkpoint k."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from statecomp.annotation.labels import Labels
from statecomp.errors import BadInput
from statecomp.router.folds import FoldRun

Floats = NDArray[np.float64]
Features = NDArray[np.float32]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int32]

ROWS_AT_ONCE = 65_536  # rows looked at together, so a check needs no second copy of the features


@dataclass(frozen=True)
class Pairs:
    """Pairs (i, k) of several runs; `run` points into `runs`, which says what is known of each."""

    x: Features  # (pairs, width)
    ready: Flags  # (pairs,)
    run: Numbers  # (pairs,)
    number: Numbers  # (pairs,)
    checkpoint: Numbers  # (pairs,)
    runs: tuple[str, ...]
    groups: tuple[str, ...]
    domains: tuple[str, ...]
    lengths: tuple[int, ...]
    foreseen: Floats | None = None  # (pairs,)  P(READY) by who knew the past alone; NaN: not said

    def __len__(self) -> int:
        return len(self.run)

    @property
    def width(self) -> int:
        return int(self.x.shape[1])

    @property
    def age(self) -> Numbers:
        """k - i: one for the newest interaction."""
        return self.checkpoint - self.number  # (pairs,)

    def catalogue(self) -> list[FoldRun]:
        """What folds are made of."""
        rows = zip(self.runs, self.groups, self.domains, strict=True)
        return [FoldRun(name, group, domain) for name, group, domain in rows]

    def of_runs(self, names: Iterable[str]) -> Pairs:
        """The pairs of these runs; the runs keep the order they have here."""
        wanted = set(names)
        if unknown := wanted.difference(self.runs):
            raise BadInput(f"there are no pairs of run {min(unknown)!r}")
        places = [place for place, name in enumerate(self.runs) if name in wanted]
        moved = np.full(len(self.runs), -1, np.int32)  # (runs,)
        moved[places] = np.arange(len(places), dtype=np.int32)
        rows = np.flatnonzero(moved[self.run] >= 0)  # (kept,)
        return replace(
            self.at(rows),
            run=moved[self.run[rows]],
            runs=tuple(self.runs[place] for place in places),
            groups=tuple(self.groups[place] for place in places),
            domains=tuple(self.domains[place] for place in places),
            lengths=tuple(self.lengths[place] for place in places),
        )

    def without_tasks_of(self, names: Iterable[str]) -> Pairs:
        """The pairs of all runs but those that share a task with one of these."""
        wanted = set(names)
        runs = [*zip(self.runs, self.groups, strict=True)]
        closed = {group for name, group in runs if name in wanted}
        return self.of_runs(name for name, group in runs if group not in closed)

    def where(self, rows: Flags) -> Pairs:
        """The rows of a mask; the runs stay listed, also those left without a row."""
        return self.at(np.flatnonzero(rows))

    def at(self, rows: NDArray[np.intp]) -> Pairs:
        """These rows, in this order; the runs stay listed."""
        return Pairs(
            x=self.x[rows],
            ready=self.ready[rows],
            run=self.run[rows],
            number=self.number[rows],
            checkpoint=self.checkpoint[rows],
            runs=self.runs,
            groups=self.groups,
            domains=self.domains,
            lengths=self.lengths,
            foreseen=None if self.foreseen is None else self.foreseen[rows],
        )

    def settled(self) -> Pairs:
        """The pairs with k >= i+2: at k = i+1 the agent has yet to act on what it saw."""
        return self.where(self.age >= 2)

    def checked(self, part: str = "the pairs") -> Pairs:
        """These pairs, fit to learn from; otherwise one sentence on what is wrong with `part`."""
        self._check_shapes(part)
        check_finite(self.x, part)
        if len(self) == 0:
            raise BadInput(f"{part} hold no rows")
        if bool(self.ready.all()) or not bool(self.ready.any()):
            only = "READY" if self.ready[0] else "KEEP"
            raise BadInput(f"{part} hold {only} only; learning needs both classes")
        return self

    def _check_shapes(self, part: str) -> None:
        if self.x.ndim != 2:
            raise BadInput(f"the features of {part} are not a table of rows and columns")
        columns = (self.x, self.ready, self.run, self.number, self.checkpoint)
        if len({len(column) for column in columns}) > 1:
            counts = ", ".join(str(len(column)) for column in columns)
            raise BadInput(f"the columns of {part} differ in length ({counts})")
        if len({len(self.runs), len(self.groups), len(self.domains), len(self.lengths)}) > 1:
            raise BadInput(f"{part} do not give a group, a domain and a length for each run")
        if len(set(self.runs)) < len(self.runs):
            raise BadInput(f"{part} name a run twice")
        if len(self) and not 0 <= int(self.run.min()) <= int(self.run.max()) < len(self.runs):
            raise BadInput(f"{part} hold rows of a run that is not listed")
        if bool((self.checkpoint <= self.number).any()):
            raise BadInput(f"{part} hold a checkpoint that is not after its interaction")


def joined(one: Pairs, other: Pairs) -> Pairs:
    """The pairs of both; no run may be in both."""
    both = (one, other)
    foreseen = None
    if any(part.foreseen is not None for part in both):
        gaps = (np.full(len(p), np.nan) if p.foreseen is None else p.foreseen for p in both)
        foreseen = np.concatenate([*gaps])  # (pairs,)
    return Pairs(
        x=np.concatenate([part.x for part in both]),
        ready=np.concatenate([part.ready for part in both]),
        run=np.concatenate([one.run, other.run + len(one.runs)]).astype(np.int32),
        number=np.concatenate([part.number for part in both]),
        checkpoint=np.concatenate([part.checkpoint for part in both]),
        runs=one.runs + other.runs,
        groups=one.groups + other.groups,
        domains=one.domains + other.domains,
        lengths=one.lengths + other.lengths,
        foreseen=foreseen,
    )


def check_finite(x: NDArray[np.floating], part: str, names: Sequence[str] = ()) -> None:
    """Refuses NaN and infinity, naming the first place where one stands."""
    for start in range(0, len(x), ROWS_AT_ONCE):
        finite = np.isfinite(x[start : start + ROWS_AT_ONCE])  # (some, width)
        if not finite.all():
            row, column = (int(place) for place in np.argwhere(~finite)[0])
            feature = names[column] if names else f"number {column + 1}"
            value = x[start + row, column]
            raise BadInput(f"feature {feature} of {part} is {value} in row {start + row + 1}")


def ready_flags(
    runs: Sequence[str], run: Numbers, number: Numbers, checkpoint: Numbers, labels: Labels
) -> Flags:
    """y_ik of every pair; an interaction without a label is an error, never a KEEP."""
    ready = np.zeros(len(run), np.bool_)  # (pairs,)
    for row, (place, i, k) in enumerate(zip(run, number, checkpoint, strict=True)):
        name = runs[int(place)]
        label = labels.get(name, {}).get(int(i))
        if label is None:
            problem = f"hold none for interaction {i} of run {name!r}; were they made from it?"
            raise BadInput(problem, field="labels")
        ready[row] = label.ready(int(k))
    return ready
