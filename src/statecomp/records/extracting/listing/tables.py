"""Tables in plain text: where one begins and ends, by what separates its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from statecomp.records.extracting.pieces import Form, Owner, Piece, one_line, wordless
from statecomp.records.extracting.reading.layout import found_in

FEWEST = 3
"""A header and two rows: fewer lines with the same marks are chance."""
WIDEST_CELL = 60
WIDEST_ROW, LEAST_GUTTERS = 2_000, 2
"""Characters of a row, and the gaps that run through all rows of a table without marks."""

_GAPS = re.compile(r"\S {2,}(?=\S)|\S\t+(?=\S)")
_BLANK = re.compile("0+")
_RULE = re.compile(r"[\s|+:=-]+\Z")


def _bars(line: str) -> int:
    return line.count("|") if line.count("|") > 1 else 0


def _commas(line: str) -> int:
    cells = line.split(",")
    return len(cells) - 1 if len(cells) > 2 and max(map(len, cells)) <= WIDEST_CELL else 0


def _tabs(line: str) -> int:
    return line.strip().count("\t")


def _gaps(line: str) -> int:
    cells = line.strip()
    found = len(_GAPS.findall(cells)) if _may_part(cells) else 0
    return found if found > 1 else 0


def _may_part(cells: str) -> bool:
    """Whether there is a gap at all: most lines have none, and that is quickly seen."""
    return "  " in cells or "\t" in cells


_MARKS: Sequence[Callable[[str], int]] = (_bars, _tabs, _commas, _gaps)


def table_end(lines: Sequence[str], start: int) -> int:
    """Where the table that begins at `start` ends; `start` itself where none does."""
    if found_in(lines[start]):
        return start
    for marks in _MARKS:
        wanted = marks(lines[start])
        if not wanted:
            continue
        stop, rows = start + 1, 1
        while stop < len(lines) and (marks(lines[stop]) == wanted or _is_rule(lines[stop])):
            rows += not _is_rule(lines[stop])
            stop += 1
        if rows >= FEWEST:
            return stop if marks is not _gaps else max(stop, _aligned_end(lines, start))
    return _aligned_end(lines, start)


def _aligned_end(lines: Sequence[str], start: int) -> int:
    """The same for lines whose cells stand below each other, with blanks between the columns."""
    filled, stop = 0, start
    while stop < len(lines) and is_row(lines[stop]):
        more = filled | _filled(lines[stop])
        if _gutters(more) < LEAST_GUTTERS:
            break
        filled, stop = more, stop + 1
    return stop if stop - start >= FEWEST else start


def is_row(line: str) -> bool:
    """Whether it looks like cells beside each other and not like a sentence."""
    if len(line) > WIDEST_ROW:
        return False
    cells = line.strip()
    return _may_part(cells) and _GAPS.search(cells) is not None


def _filled(line: str) -> int:
    """The places of a line that hold something, as the bits of a number."""
    return int("".join("0" if letter == " " else "1" for letter in reversed(line.expandtabs())), 2)


def _gutters(filled: int) -> int:
    """Between how many columns all lines are blank."""
    return len(_BLANK.findall(f"{filled:b}".strip("0")))


def _is_rule(line: str) -> bool:
    return bool(line.strip()) and bool(_RULE.match(line))


def rows(lines: Sequence[str], title: Owner | None = None) -> Iterator[Piece]:
    """The rows of a table, each whole, owned by its header; `title` is what stands above it."""
    telling = [one_line(line) for line in lines if not _is_rule(line) and not wordless(line)]
    header, *others = telling or [""]
    ruled = len(lines) > 1 and "---" in lines[1] and _is_rule(lines[1])
    if ruled or _is_header(header, others):
        owner = Owner(f"{title.label} {header}" if title else header)
    else:
        # Without a header they are lines of the section like others.
        owner, others = title or Owner(""), telling
    for row in others:
        yield Piece(row, Form.ROW, owner)


_ASSIGNED = re.compile(r"[\w.-]+ [:=] \S")
"""A setting among others, with its value as far to the right as theirs."""


def _is_header(first: str, others: Sequence[str]) -> bool:
    """Whether the first line names columns: it holds no number, and others do or look unlike it."""
    if any(map(str.isdigit, first)) or _ASSIGNED.match(first):
        return False
    return any(any(map(str.isdigit, row)) for row in others) or first.isupper() or "|" in first
