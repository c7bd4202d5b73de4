"""Tables in plain text: where one begins and ends, by what separates its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from statecomp.llm.extracting.pieces import Form, Owner, Piece, one_line, wordless

FEWEST = 3
"""A header and two rows: fewer lines with the same marks are chance."""
WIDEST_CELL = 60

_GAPS = re.compile(r"\S {2,}(?=\S)|\S\t+(?=\S)")
_RULE = re.compile(r"[\s|+:=-]+\Z")


def _bars(line: str) -> int:
    return line.count("|") if line.count("|") > 1 else 0


def _commas(line: str) -> int:
    cells = line.split(",")
    return len(cells) - 1 if len(cells) > 2 and max(map(len, cells)) <= WIDEST_CELL else 0


def _tabs(line: str) -> int:
    return line.strip().count("\t")


def _gaps(line: str) -> int:
    found = len(_GAPS.findall(line.strip()))
    return found if found > 1 else 0


_MARKS: Sequence[Callable[[str], int]] = (_bars, _tabs, _commas, _gaps)


def table_end(lines: Sequence[str], start: int) -> int:
    """Where the table that begins at `start` ends; `start` itself where none does."""
    for marks in _MARKS:
        wanted = marks(lines[start])
        if not wanted:
            continue
        stop, rows = start + 1, 1
        while stop < len(lines) and (marks(lines[stop]) == wanted or _is_rule(lines[stop])):
            rows += not _is_rule(lines[stop])
            stop += 1
        if rows >= FEWEST:
            return stop
    return start


def _is_rule(line: str) -> bool:
    return bool(line.strip()) and bool(_RULE.match(line))


def rows(lines: Sequence[str], title: str = "") -> Iterator[Piece]:
    """The rows of a table, each whole, owned by its header; `title` is what stands above it."""
    telling = [one_line(line) for line in lines if not _is_rule(line) and not wordless(line)]
    header, *others = telling or [""]
    if _is_header(header, others):
        owner = Owner(f"{title} {header}".strip())
    else:
        owner, others = Owner(title), telling
    for row in others:
        yield Piece(row, Form.ROW, owner)


def _is_header(first: str, others: Sequence[str]) -> bool:
    """Whether the first line names columns: it holds no number, and others do or look unlike it."""
    if any(map(str.isdigit, first)):
        return False
    return any(any(map(str.isdigit, row)) for row in others) or first.isupper() or "|" in first
