"""Two further measures of a record: values that kept their label, and failures that were none."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from statecomp.exam.facts import FactGroup, FactKind
from statecomp.exam.lines import Line, ReaderOutcome, RecordText
from statecomp.exam.questions import SUCCEEDED, ExamQuestion
from statecomp.exam.reader import find
from statecomp.exam.text import folded, stands, telling

LIST = 3
"""Commas that make a line a list."""
ABOVE = 8
"""Lines above a value, in its entry, in which the name of its owner may stand."""


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    part: int = 0
    whole: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def value(self) -> float:
        return self.part / self.whole if self.whole else float("nan")


NONE = Share()


@dataclass(frozen=True)
class Integrity:
    """Carried values that stand with a label, and those that stand with their owner."""

    labelled: Share = NONE
    owned: Share = NONE

    def __add__(self, other: Integrity) -> Integrity:
        return Integrity(self.labelled + other.labelled, self.owned + other.owned)


WHOLE = Integrity()


@dataclass(frozen=True)
class ShownLabel:
    """What a value belongs to and what it is called there, by the words of its path.

    `texts` are what the source says of each thing of its kind, and `place` which of them it is of.
    """

    owner: str
    field: str
    place: int = 0
    texts: Sequence[str] = dataclasses.field(default=(), compare=False)

    def named_in(self, line: str, value: str) -> bool:
        """Whether it stands in a line, or something that only its owner has."""
        if stands(self.owner, line):
            return True
        cells = (cell.rpartition(": ")[2].strip() for cell in _CELL.split(line))
        return any(cell != value and telling(cell) and self._only_here(cell) for cell in cells)

    def _only_here(self, cell: str) -> bool:
        return [place for place, text in enumerate(self.texts) if cell in text] == [self.place]


@dataclass(frozen=True)
class LabelledValues:
    """The values of a span that only ever stand with a label, and the labels of each."""

    labels: Mapping[str, frozenset[ShownLabel]]

    @classmethod
    def of(cls, groups: Sequence[FactGroup], source: str) -> LabelledValues:
        found: dict[str, set[ShownLabel]] = {}
        told: Counter[str] = Counter()
        for group in groups:
            if group.kind is FactKind.LOCATION:
                continue
            texts = [entry.folded_text for entry in group.entries]
            for place, entry in enumerate(group.entries):
                for key, value in entry.folded_values.items():
                    if telling(value):
                        told[value] += 1
                        label = ShownLabel(entry.folded_name, folded(key), place, texts)
                        found.setdefault(value, set()).add(label)
        text = folded(source)
        return cls(
            {v: frozenset(labels) for v, labels in found.items() if text.count(v) <= told[v]}
        )

    def integrity(self, record: RecordText) -> Integrity:
        """Of those the record carries, how many stand with a label, and with their owner."""
        total = Integrity()
        for value, labels in self.labels.items():
            at = [place for place, line in enumerate(record.lines) if stands(value, line.text)]
            if at:
                beside = [_beside(value, record.lines[place].text) for place in at]
                above = [text for place in at for text in _above(record.lines, place)]
                headers = [text for text in above if " | " in text]
                owned = any(label.named_in(x, value) for label in labels for x in (*beside, *above))
                called = {part for label in labels for part in (label.owner, label.field)} - {""}
                labelled = owned or any(
                    _calls(name, value, x) for name in called for x in (*beside, *headers)
                )
                total += Integrity(Share(labelled, 1), Share(owned, 1))
        return total


_CELL = re.compile(r"; | \| ")
_PART = re.compile(r"[^\W_]{3,}")


def _calls(name: str, value: str, line: str) -> bool:
    """Whether a line has the name of a value, or one word of it right before the value."""
    before = line.partition(value)[0].rstrip(" :=")[-40:].split()[-1:]
    return stands(name.rsplit(".", 1)[-1], line) or any(
        word in _PART.findall(name) for word in before
    )


def _beside(value: str, line: str) -> str:
    """The line of a value; of a bare list its neighbours and what the whole list is called."""
    before, _, after = line.partition(value)
    listed = before.count(", ") + after.count(", ") >= LIST
    if not listed or not (before.endswith(", ") or after.startswith(", ")):
        return line
    items, following = before.split(", "), after.split(", ")
    name = items[0].rpartition(":")[0]
    return " ".join((name, *items[-2:], *following[:2]))


def _above(lines: Sequence[Line], place: int) -> Iterator[str]:
    """The lines above it in its entry."""
    for above in range(place, max(0, place - ABOVE), -1):
        if lines[above].opens:
            return
        yield lines[above - 1].text


def false_failures(verdicts: Sequence[ExamQuestion], record: RecordText) -> Share:
    """Of the steps the recording says succeeded, those the record calls failed."""
    succeeded = [question for question in verdicts if question.answer == SUCCEEDED]
    called = [find(q, record).outcome is ReaderOutcome.MISLEADING for q in succeeded]
    return Share(sum(called), len(called))
