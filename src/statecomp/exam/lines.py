"""A record as a reader sees it: lines, each under its heading and about its steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from statecomp.exam.text import folded
from statecomp.records.record import HEADINGS


class ReaderOutcome(StrEnum):
    RIGHT = "right"
    MISSING = "missing"
    MISLEADING = "misleading"


@dataclass(frozen=True)
class ReaderFinding:
    """What the reader made of one question, and the words of the record it went by."""

    outcome: ReaderOutcome
    evidence: str = ""


MISSING = ReaderFinding(ReaderOutcome.MISSING)
_HEADINGS = frozenset(f"{heading.casefold()}:" for heading in HEADINGS.values())
_NUMBERED = re.compile(
    r"(?:steps? )?(\d+(?:(?:\s?[-–]\s?|, )\d+){0,40})(?:[.:)]| showed)", re.IGNORECASE
)
_RANGE = re.compile(r"(\d+)(?:\s?[-–]\s?(\d+))?")
_MENTIONED = re.compile(r"\bsteps? (\d+)(?:\s?(?:-|–|to)\s?(\d+))?", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of a record: its folded text, the heading and the steps its entry is about."""

    text: str
    heading: str
    steps: tuple[tuple[int, int], ...]
    opens: bool

    def of_step(self, step: int) -> bool:
        return any(first <= step <= last for first, last in self.steps)


class RecordText:
    """A record as the reader sees it, folded once for all questions.

    An entry begins with a dash at the margin and goes on in the lines indented below it.
    """

    def __init__(self, text: str) -> None:
        self.lines = tuple(_lines(text))
        self.text = "\n".join(line.text for line in self.lines)


def _lines(text: str) -> Iterator[Line]:
    heading = ""
    steps: tuple[tuple[int, int], ...] = ()
    for raw in text.splitlines():
        line = folded(raw)
        if line in _HEADINGS:
            heading, steps = line, ()
            continue
        opens = raw.startswith("- ")
        if opens:
            line = line.removeprefix("- ")
            numbered = _NUMBERED.match(line)
            found = _RANGE.finditer(numbered[1]) if numbered else _MENTIONED.finditer(line)
            steps = tuple((int(n[1]), int(n[2] or n[1])) for n in found)
        for part in line.split("\n"):
            yield Line(part, heading, steps, opens)
