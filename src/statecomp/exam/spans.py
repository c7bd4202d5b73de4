"""Which spans of a recorded run a record would stand for, and what else is still in sight."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from statecomp.annotation.labels import Label
from statecomp.annotation.records import Reading
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment
from statecomp.strategy import Scorer

AT = 2 / 3
"""How far into a run its checkpoint stands: behind much that can go, before steps that use it."""
SHORTEST_RUN = 6
HALVES = ("tune", "held-out")

Ready: TypeAlias = Callable[[History], Sequence[Interaction]]
"""The interactions of a prefix that may be replaced."""


@dataclass(frozen=True)
class Exam:
    """One span of one run at its checkpoint.

    `before` and `after` stand around it, other spans as they were; `later` are the steps to come.
    """

    run: str
    domain: str
    half: str
    checkpoint: int
    span: tuple[Interaction, ...]
    before: tuple[Segment, ...]
    after: tuple[Segment, ...]
    later: tuple[Interaction, ...]

    @property
    def rest(self) -> tuple[Segment, ...]:
        return (*self.before, *self.after)

    @property
    def name(self) -> str:
        return f"{self.run}@{self.checkpoint}:{self.span[0].number}-{self.span[-1].number}"


def half_of(task: str) -> str:
    """Every run of a task is in the same half, today and tomorrow."""
    return HALVES[hashlib.sha256(task.encode("utf-8", "surrogatepass")).digest()[0] % 2]


def exams(reading: Reading, ready: Ready) -> Iterator[Exam]:
    """Each maximal run of consecutive interactions that may go at the run's checkpoint."""
    if reading.last < SHORTEST_RUN:
        return
    checkpoint = round(reading.last * AT) + 1
    prefix = _prefix(reading.history, checkpoint)
    chosen = {member.id for member in ready(prefix) if not member.locked}
    later = reading.interactions[checkpoint - 1 :]
    for span in _runs(prefix.segments, chosen):
        start = prefix.segments.index(span[0])
        around = prefix.segments[:start], prefix.segments[start + len(span) :]
        half = half_of(reading.group)
        yield Exam(reading.id, reading.domain, half, checkpoint, span, *around, later)


def by_labels(labels: Mapping[int, Label]) -> Ready:
    def ready(prefix: History) -> Sequence[Interaction]:
        at = prefix.checkpoint
        known = (labels.get(member.number) for member in prefix.interactions)
        pairs = zip(prefix.interactions, known, strict=True)
        return [member for member, label in pairs if label and label.ready(at)]

    return ready


def by_scores(scorer: Scorer, threshold: float) -> Ready:
    def ready(prefix: History) -> Sequence[Interaction]:
        scores = scorer.score(prefix)
        return [member for member in prefix.interactions if scores[member.id] >= threshold]

    return ready


def _prefix(history: History, checkpoint: int) -> History:
    for place, segment in enumerate(history.segments):
        if isinstance(segment, Interaction) and segment.number == checkpoint:
            return History(history.segments[:place])
    return history


def _runs(segments: Sequence[Segment], chosen: set[str]) -> Iterator[tuple[Interaction, ...]]:
    span: list[Interaction] = []
    for segment in segments:
        if isinstance(segment, Interaction) and segment.id in chosen:
            span.append(segment)
        elif span:
            yield tuple(span)
            span = []
    if span:
        yield tuple(span)
