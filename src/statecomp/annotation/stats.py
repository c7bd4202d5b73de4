"""What a set of labels amounts to: the supervision table, readiness, delay and spans."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, quantiles
from typing import Any, TypeAlias

from statecomp.annotation.labels import Label, Labels
from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Interaction

Boundary: TypeAlias = int | None


def boundary_within(label: Label, last: int) -> Boundary:
    """t_i*, or None where no checkpoint of the run reaches it: t_i* lies in {i+1..T} or nowhere."""
    return label.boundary if label.boundary is not None and label.boundary <= last else None


def last_checkpoints(*sets: Labels, readings: Mapping[str, Reading]) -> dict[str, int]:
    """T of every labelled run: as recorded, or else the largest number that has a label."""
    last: dict[str, int] = {}
    for labels in sets:
        for run, by_number in labels.items():
            low, high = min(by_number), max(by_number)
            if low < 1:
                raise BadInput(f"is {low} in run {run!r}; interactions count from one", field="i")
            if run in readings and high > readings[run].last:
                problem = f"is {high} in run {run!r}, which holds {readings[run].last} interactions"
                raise BadInput(problem, field="i")
            recorded = readings[run].last if run in readings else high
            last[run] = max(recorded, last.get(run, 0))
    return last


@dataclass(frozen=True, slots=True)
class Supervision:
    """The rows of the paper's supervision table (appendix A.3), and the delays behind them.

    A recorded state stands before every interaction; a checkpoint group is a state with a history.
    `settled` counts the pairs with k >= i+2: at k = i+1 the agent has yet to act on what it saw.
    """

    trajectories: int
    states: int
    checkpoint_groups: int
    interactions: int
    boundaries: int
    pairs: int
    ready: int
    settled_pairs: int
    settled_ready: int
    delays: tuple[int, ...]

    @property
    def keep(self) -> int:
        return self.pairs - self.ready

    @property
    def without(self) -> int:
        return self.interactions - self.boundaries

    @property
    def prevalence(self) -> float | None:
        """pi: the READY share of all pairs."""
        return share(self.ready, self.pairs)

    @property
    def settled_prevalence(self) -> float | None:
        return share(self.settled_ready, self.settled_pairs)

    @property
    def median_delay(self) -> float | None:
        return median(self.delays) if self.delays else None

    @property
    def mean_delay(self) -> float | None:
        return fmean(self.delays) if self.delays else None

    def as_json(self) -> dict[str, Any]:
        names = (
            "trajectories states checkpoint_groups interactions pairs keep ready prevalence "
            "settled_prevalence boundaries without median_delay mean_delay"
        )
        return {name: getattr(self, name) for name in names.split()}


def share(part: int, whole: int) -> float | None:
    """A share of nothing is no number."""
    return part / whole if whole else None


def supervision(labels: Labels, last: Mapping[str, int]) -> Supervision:
    """Counts over all labelled interactions; `last` is T by run."""
    rows = [(label, last[run]) for run, of_run in labels.items() for label in of_run.values()]
    found = [(label.number, boundary_within(label, end), end) for label, end in rows]
    finite = [(number, boundary, end) for number, boundary, end in found if boundary is not None]
    return Supervision(
        trajectories=len(labels),
        states=sum(last[run] for run in labels),
        checkpoint_groups=sum(last[run] - 1 for run in labels),
        interactions=len(rows),
        boundaries=len(finite),
        pairs=sum(end - number for number, _, end in found),
        ready=sum(end - boundary + 1 for _, boundary, end in finite),
        settled_pairs=sum(max(0, end - number - 1) for number, _, end in found),
        settled_ready=sum(end + 1 - max(boundary, i + 2) for i, boundary, end in finite),
        delays=tuple(sorted(boundary - number for number, boundary, _ in finite)),
    )


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run whose every interaction has a label: `boundaries[i-1]` is t_i*.

    `regions` are the consecutive eligible interactions, by number; pinned messages part them.
    """

    domain: str
    boundaries: tuple[Boundary, ...]
    regions: tuple[tuple[int, ...], ...]

    def ready(self, number: int, checkpoint: int) -> bool:
        boundary = self.boundaries[number - 1]
        return boundary is not None and checkpoint >= boundary

    def readiness(self, checkpoint: int) -> float:
        """a_k: the READY fraction of the history (appendix D.1, first equation)."""
        return fmean(self.ready(number, checkpoint) for number in range(1, checkpoint))

    def spans(self, checkpoint: int) -> SpanStatistics:
        """What the labels would select at this checkpoint."""
        return span_statistics(
            [self.ready(number, checkpoint) for number in region if number < checkpoint]
            for region in self.regions
        )

    def delays(self) -> Iterator[tuple[float, float]]:
        """(position i/T, delay (t_i* - i)/T) of every interaction with a boundary."""
        last = len(self.boundaries)
        for number, boundary in enumerate(self.boundaries, start=1):
            if boundary is not None:
                yield number / last, (boundary - number) / last


def labelled_run(reading: Reading, labels: Mapping[int, Label]) -> LabelledRun | None:
    """None where an interaction lacks a label, or where there is no history to judge."""
    numbers = range(1, reading.last + 1)
    if reading.last < 2 or any(number not in labels for number in numbers):
        return None
    boundaries = tuple(boundary_within(labels[number], reading.last) for number in numbers)
    return LabelledRun(reading.domain or "unknown", boundaries, eligible_regions(reading.history))


def eligible_regions(history: History) -> tuple[tuple[int, ...], ...]:
    """Numbers of consecutive interactions that may be replaced; anything else parts regions."""
    regions: list[list[int]] = [[]]
    for segment in history.segments:
        if isinstance(segment, Interaction) and not segment.locked:
            regions[-1].append(segment.number)
        elif regions[-1]:
            regions.append([])
    return tuple(tuple(region) for region in regions if region)


@dataclass(frozen=True, slots=True)
class SpanStatistics:
    """J spans that hold `selected` of `eligible` interactions."""

    spans: int
    selected: int
    eligible: int

    @property
    def coverage(self) -> float | None:
        """c."""
        return share(self.selected, self.eligible)

    @property
    def mean_length(self) -> float | None:
        """The mean span length, where there is a span."""
        return share(self.selected, self.spans)


def span_statistics(regions: Iterable[Sequence[bool]]) -> SpanStatistics:
    """J, c and the mean length over selection masks (appendix D.1, last equation).

    Every maximal run has one place where it starts, so J counts the steps from 0 to 1.
    """
    spans = selected = eligible = 0
    for mask in regions:
        spans += sum(a and not before for before, a in zip((False, *mask), mask, strict=False))
        selected += sum(mask)
        eligible += len(mask)
    return SpanStatistics(spans, selected, eligible)


def delay_cdf(delays: Sequence[float], grid: Sequence[float]) -> tuple[float, ...]:
    """F(u), the share of the delays that are at most u (appendix D.1), for every u of the grid."""
    ordered = sorted(delays)
    return tuple(bisect_right(ordered, u) / len(ordered) for u in grid)


STEPS = 20
PROGRESS = tuple(step / STEPS for step in range(1, STEPS + 1))
"""Where runs of different lengths are compared: the share of a run's checkpoints behind it."""


Measure: TypeAlias = Callable[[LabelledRun, int], float | None]
"""A number for a run at a checkpoint, where it has one."""


def over_progress(runs: Iterable[LabelledRun], measure: Measure) -> tuple[tuple[float, ...], ...]:
    """One column per point of PROGRESS: each run's measure at the first checkpoint to reach it."""
    lines = []
    for run in runs:
        steps = len(run.boundaries) - 1
        # Whole numbers: 0.15 * 20 is not 3 in floating point, and its ceiling is 4.
        checkpoints = (1 - (-step * steps // STEPS) for step in range(1, STEPS + 1))
        lines.append([measure(run, checkpoint) for checkpoint in checkpoints])
    return tuple(tuple(x for x in column if x is not None) for column in zip(*lines, strict=True))


def percentiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The 10th, the 50th and the 90th."""
    if len(values) < 2:
        return (values[0],) * 3
    tenths = quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]
