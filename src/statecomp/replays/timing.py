"""When a strategy replaced, against labels that say when an interaction could be replaced.

A label is the earliest checkpoint from which an accurate short record can stand for an
interaction.  Pairs (i, k) with k >= i+2 are judged: at k = i+1 the agent has yet to act on what it
saw.  An interaction counts as replaced where it no longer stands whole in what is sent; a masked or
cut one does too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from statecomp.annotation.labels import Labels
from statecomp.history.history import History
from statecomp.history.interaction import Segment
from statecomp.history.trajectory import Trajectory
from statecomp.replays.sessions import JoinedRuns, checked, labels_of

SETTLED = 2
"""From so many interactions later on a pair is judged."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Judged pairs of one or more checkpoints.

    `premature` of the `keep` pairs, which the labels still keep, were replaced already, and
    `taken` of the `ready` ones.  `wanted` counts, at every checkpoint, the strings that the labels
    want kept of the interactions before it, and `found` those that stand anywhere in what is sent.
    """

    keep: int = 0
    premature: int = 0
    ready: int = 0
    taken: int = 0
    wanted: int = 0
    found: int = 0

    def __add__(self, other: Timing) -> Timing:
        return Timing(
            self.keep + other.keep,
            self.premature + other.premature,
            self.ready + other.ready,
            self.taken + other.taken,
            self.wanted + other.wanted,
            self.found + other.found,
        )

    @property
    def premature_share(self) -> float | None:
        return self.premature / self.keep if self.keep else None

    @property
    def taken_share(self) -> float | None:
        return self.taken / self.ready if self.ready else None

    @property
    def found_share(self) -> float | None:
        return self.found / self.wanted if self.wanted else None

    def as_json(self) -> dict[str, Any]:
        return {
            "keep_pairs": self.keep,
            "premature_pairs": self.premature,
            "premature": self.premature_share,
            "ready_pairs": self.ready,
            "ready_pairs_taken": self.taken,
            "ready_taken": self.taken_share,
            "must_keep_strings": self.wanted,
            "must_keep_strings_in_view": self.found,
            "must_keep_in_view": self.found_share,
        }


UNJUDGED = Timing()


@dataclass(frozen=True, slots=True)
class Mark:
    """A label in its place in a conversation.

    After `last`, the last checkpoint of the run it was set in, nothing is known of what the label
    keeps; what had become READY stays so.
    """

    number: int
    boundary: int | None
    last: int
    wanted: tuple[int, ...]  # which of the strings below

    def ready(self, checkpoint: int) -> bool:
        return self.boundary is not None and checkpoint >= self.boundary

    def keep(self, checkpoint: int) -> bool:
        return checkpoint <= self.last and not self.ready(checkpoint)


@dataclass(frozen=True)
class LabelJudge:
    """The labels of one run or session, ready to judge what is sent at each of its checkpoints."""

    marks: tuple[Mark, ...]
    strings: tuple[str, ...]
    runs: int  # how many of the recorded runs have labels
    _held: dict[str, frozenset[int]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, run: Trajectory, history: History, labels: Labels) -> LabelJudge:
        given, interactions = labels_of(run, labels), len(history.interactions)
        texts = {i.number: plain(i.text) for i in history.interactions if i.number in given}
        strings: dict[str, int] = {}
        marks = []
        for number, label in sorted(checked(given, interactions).items()):
            # Labels quote the wire; a string that is not in what an agent reads cannot be kept.
            wanted = {s: None for s in map(plain, label.must_keep) if s and s in texts[number]}
            places = tuple(strings.setdefault(string, len(strings)) for string in wanted)
            marks.append(Mark(number, label.boundary, _last(run, number, interactions), places))
        return cls(tuple(marks), tuple(strings), _labelled(run, labels))

    def anew(self) -> LabelJudge:
        """For another strategy, whose edits may carry the ids of this one's."""
        return replace(self, _held={})

    def at(self, checkpoint: int, view: History, kept: frozenset[int]) -> Timing:
        """What is sent at a checkpoint; `kept` are the interactions that stand whole in it."""
        if not self.marks:
            return UNJUDGED
        keep = premature = ready = taken = wanted = found = 0
        in_view = self._in_view(view)
        for mark in self.marks:
            if mark.number >= checkpoint:
                break
            if checkpoint <= mark.last:
                wanted += len(mark.wanted)
                found += sum(place in in_view for place in mark.wanted)
            if checkpoint < mark.number + SETTLED:
                continue
            if mark.ready(checkpoint):
                ready += 1
                taken += mark.number not in kept
            elif mark.keep(checkpoint):
                keep += 1
                premature += mark.number not in kept
        return Timing(keep, premature, ready, taken, wanted, found)

    def _in_view(self, view: History) -> set[int]:
        return {place for segment in view.segments for place in self._places(segment)}

    def _places(self, segment: Segment) -> frozenset[int]:
        """Which strings a segment holds; it is read once, however often it is sent."""
        if segment.id not in self._held:
            text = plain(segment.text)
            places = (place for place, string in enumerate(self.strings) if string in text)
            self._held[segment.id] = frozenset(places)
        return self._held[segment.id]


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Where labels came from: only the file can tell who or what set them."""

    file: str
    annotators: tuple[str, ...]

    @classmethod
    def of(cls, file: str, labels: Labels) -> LabelSource:
        given = (label.annotator for by_number in labels.values() for label in by_number.values())
        return cls(file, tuple(sorted(set(filter(None, given)))))

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "annotators": list(self.annotators)}


def plain(text: str) -> str:
    """Without escapes and line breaks: labels quote the raw wire, records do not."""
    return " ".join(text.replace("\\n", " ").replace("\\", "").split())


def _last(run: Trajectory, number: int, interactions: int) -> int:
    if not isinstance(run, JoinedRuns):
        return interactions
    return next(part.last for part in run.parts if number <= part.last)


def _labelled(run: Trajectory, labels: Labels) -> int:
    names = [part.run for part in run.parts] if isinstance(run, JoinedRuns) else [run.id]
    return sum(bool(labels.get(name)) for name in names)
