"""How lines stand to each other: what is deeper belongs to what stands above it, and how long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from statecomp.records.extracting.code import blocks, is_code
from statecomp.records.extracting.pieces import Form, Owner, Piece, wordless
from statecomp.records.extracting.reading.nesting import margin_of

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


class Scope(NamedTuple):
    """The margin at or before which a title has ended, its own, and the owner that holds again.

    One that is `listed` is of a list as deep as itself, and has ended where no item follows.
    """

    end: int
    title: int
    before: Owner | None
    listed: bool = False

    def ends(self, line: str) -> bool:
        margin = margin_of(line)
        return margin <= self.end or (self.listed and margin <= self.title and not ITEM.match(line))


def found_in(line: str) -> bool:
    """Whether a line is what a search found in a file: it stands for itself, whatever follows."""
    return ":" in line and "/" in line and _FOUND.match(line) is not None


def capitals(lines: Sequence[str]) -> frozenset[int]:
    """Where lines in capitals stand above others, if there are several: headings without a mark.

    Among lone words such a line is one of them, and one that comes again is a choice of a list.
    """
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
    told = sum(1 for place in titles if len(lines[place + 1].split()) > 1)
    several = len({lines[place] for place in titles}) > 1 and told * 2 >= len(titles)
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


def opened(scopes: list[Scope], lines: Sequence[str], place: int) -> list[Scope]:
    """The scopes that are still open where a title stands: those of titles less deep than it.

    An item of a list that stands as deep as its title is still of that.
    """
    margin, item = margin_of(lines[place]), bool(ITEM.match(lines[place]))
    return [one for one in scopes if one.title < margin or (item and one.end < margin)]


def scoped(
    scopes: list[Scope], lines: Sequence[str], place: int, owner: Owner | None
) -> list[Scope]:
    """The scopes with that of a title: what is deeper, or a list as deep as the title itself."""
    line, margin = lines[place].rstrip(), margin_of(lines[place])
    if _MARKED.match(line):
        return []  # it holds up to the next, however deep the lines stand
    below = next((line for line in lines[place + 1 : place + 3] if line.strip()), "")
    right = line.endswith(":") and margin_of(below) > margin + RIGHT
    if margin_of(below) > margin and not right:
        return [*scopes, Scope(margin, margin, owner)]
    if not line.endswith(":"):
        return []
    listed = bool(ITEM.match(below)) and not ITEM.match(line)
    return [*scopes, Scope(margin - 1, margin, owner, listed)]


def chained(inside: Owner | None, title: str) -> str:
    """A title with those it stands under, where that is not too long to be read each time."""
    whole = f"{inside.label}; {title}" if inside and inside.label else title
    return whole if len(whole) <= CHAIN else title
