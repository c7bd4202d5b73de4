"""How lines stand to each other: what is deeper belongs to what stands above it, and how long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from statecomp.records.extracting.code import blocks, is_code
from statecomp.records.extracting.pieces import (
    Form,
    Owner,
    Piece,
    labelled,
    one_line,
    wordless,
)
from statecomp.records.extracting.reading.nesting import ended, margin_of

WIDEST = 100
"""Characters of a line that may be the title of others."""
CHAIN = 140
"""Characters of a title with the titles it stands under."""
RIGHT = 24
"""Blanks from which on a line is the head of columns set right, and its margin says nothing."""
SHORT_BLOCK = 8
"""Lines between fences that stand together whatever they are."""
ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+\S")

_NUMBER = re.compile(r"\s*\d[\d.,]*[BKMGT]?(?=\s)")
_MARKED = re.compile(r"\s{0,3}#{1,6} |\$ ")
_FENCE = re.compile(r"\s*```\w*\s*\Z")
_FOUND = re.compile(r"[\w.-]{0,100}/[\w./+-]{1,200}:(?=\d|\s|\W)(?!//)")
_CAPITALS = re.compile(r"\s*[A-Z][A-Z &/,'()-]{4,60}\Z")
_PROGRAM = re.compile(
    r"\s*(?:else|try|finally|do|(?:if|elif|for|while|def|class|except|with|case)\b.*):\s*\Z"
)


class Rank(IntEnum):
    """What a line is among those as deep; as much as it takes to end the title that has this rank.

    A title that names all below it is ended by the next title, one of a list by whatever is no
    item, and one of what stands deeper by an item, too.
    """

    TITLE, LINE, ITEM = range(3)


class Titles:
    """The titles that a line stands below, the nearest of which is its owner."""

    def __init__(self) -> None:
        self.owner: Owner | None = None
        self.levels: list[tuple[int, str]] = []
        # How deep a title reaches, and who owns what stands behind it.
        self._open: list[tuple[tuple[int, int], Owner | None]] = []

    def reach(self, line: str, rank: Rank = Rank.LINE) -> None:
        """End what a line is not below; one that hangs in a list is as deep as the list."""
        if self._open:
            rank = Rank.ITEM if ITEM.match(line) else rank
            for before in ended(self._open, (margin_of(line), rank)):
                self.owner = before

    def close(self) -> None:
        """End all of them."""
        self.owner = None
        self._open.clear()

    def part(self) -> None:
        """End what a line with a colon names: that holds up to a gap."""
        if self.owner and self.owner.label.endswith(":"):
            self.owner = None

    def head(self, lines: Sequence[str], place: int, title: str) -> str:
        """Begin what a title names, and say what it is called with those it stands under."""
        line = lines[place]
        self.reach(line, Rank.TITLE)
        inside = self.owner if self._open else None
        rank = None if _MARKED.match(line) else _ended_by(lines, place)
        if rank is None:
            self._open.clear()  # it holds up to the next, however deep the lines stand
        else:
            self._open.append(((margin_of(line), rank), self.owner))
        self.owner = Owner(_chained(inside, title))
        return self.owner.label

    def head_items(self, line: str) -> None:
        """Begin what an item of several lines is of, which has items below it."""
        self.reach(line)
        self._open.append(((margin_of(line), Rank.ITEM), self.owner))
        self.owner = Owner(_chained(self.owner, one_line(line)))


def _ended_by(lines: Sequence[str], place: int) -> Rank | None:
    """What has to stand as deep as a title to end it; None where no depth does."""
    line = lines[place].rstrip()
    below = next((line for line in lines[place + 1 : place + 3] if line.strip()), "")
    deeper, announces = margin_of(below) - margin_of(line), line.endswith(":")
    if deeper > 0 and not (announces and deeper > RIGHT):
        return Rank.ITEM
    if not announces:
        return None
    return Rank.LINE if ITEM.match(below) and not ITEM.match(line) else Rank.TITLE


def _chained(inside: Owner | None, title: str) -> str:
    """A title with those it stands under, where that is not too long to be read each time."""
    whole = labelled(inside.label if inside else "", title)
    return whole if len(whole) <= CHAIN else title


def found_in(line: str) -> bool:
    """Whether a line is what a search found in a file: it stands for itself, whatever follows."""
    return ":" in line and "/" in line and _FOUND.match(line) is not None


def capitals(lines: Sequence[str]) -> frozenset[int]:
    """Where lines in capitals stand above others, if there are several: headings without a mark.

    Among lone words such a line is one of them, and one that comes again is a choice of a list.
    Where nearly all lines are in capitals they mark none.
    """
    told = sum(map(bool, map(str.strip, lines)))
    if sum(map(str.isupper, lines)) * 3 > told * 2:
        return frozenset()
    high = [place for place, line in enumerate(lines) if line.isupper() and _CAPITALS.match(line)]
    known = frozenset(high)
    titles = frozenset(
        place
        for place in high
        if place + 1 < len(lines)
        and lines[place + 1].strip()
        # The last line of a title of several names nothing alone.
        and not {place - 1, place + 1} & known
    )
    above = sum(1 for place in titles if len(lines[place + 1].split()) > 1)
    several = len({lines[place] for place in titles}) > 1 and above * 2 >= len(titles)
    return titles if several else frozenset()


def is_program(line: str) -> bool:
    """Whether a line that ends with a colon is one of a program: `else:` names nothing."""
    return bool(_PROGRAM.match(line))


def width_of(line: str) -> int:
    """How wide a line is: some scripts take twice the width."""
    return len(line) + (0 if line.isascii() else sum(map(wide, line)))


def wide(letter: str) -> bool:
    """Whether it is of a script that has no capitals and takes twice the width."""
    return "\u3040" <= letter <= "\u9fff"


def fence_end(lines: Sequence[str], start: int) -> int:
    """Behind the fence of a block that is a program, or short; `start` where there is none."""
    if not _FENCE.match(lines[start]):
        return start
    for stop in range(start + 1, len(lines)):
        if _FENCE.match(lines[stop]):
            inside = lines[start + 1 : stop]
            return stop + 1 if 0 < len(inside) <= SHORT_BLOCK or is_code(inside) else start
    return start


def fenced(lines: Sequence[str], owner: Owner | None) -> Iterator[Piece]:
    """A program or a formula among sentences stands as it is: a line of it says nothing."""
    if len(lines) > SHORT_BLOCK:
        yield from blocks(lines, owner.label if owner else "")
        return
    text = "\n".join(line.rstrip() for line in lines if line.strip())
    if not wordless(text):
        yield Piece(text, Form.CODE, owner)


def in_column(line: str, below: str) -> bool:
    """Whether both begin with a number that ends at one place: a column set right, as `wc` does."""
    first, second = _NUMBER.match(line), _NUMBER.match(below)
    return bool(first and second and first.end() == second.end())


def opens(lines: Sequence[str], place: int) -> bool:
    """Whether others stand deeper below it and are of it: an item of items, a thing and its parts.

    What goes on in the next line, hanging, opens nothing.
    """
    line, below = lines[place].rstrip(), lines[place + 1] if place + 1 < len(lines) else ""
    if len(line) > WIDEST or not below.strip() or margin_of(below) < margin_of(line) + 2:
        return False
    if in_column(line, below):
        return False
    if wordless(line):
        return False  # a bracket names nothing
    if ITEM.match(line):
        return bool(ITEM.match(below))
    return line[-1] not in ".,;!?|" and not is_program(line)
