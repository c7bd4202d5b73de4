"""Tables in the text of an observation: with bars, commas, tabs or aligned columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence

from statecomp.exam.facts import FactGroup, FactKind, FactRow
from statecomp.exam.text import unescaped

LONGEST_LINE, LONGEST_CELL = 400, 80
FEWEST_ROWS, MOST_ROWS = 2, 200
_RULER = re.compile(r"[\s|+:=-]+")
_GAP = re.compile(r" {2,}")
_NUMBER = re.compile(r"[$€£]?[-+]?[\d.,:/%-]+%?\Z")
_COLUMN = re.compile(r"[A-Za-z_#][\w .()/%#&-]*\Z")
_LISTED = re.compile(
    r"-[-rwxsStT]{9}[.+@]?\s+\d+\s+(\S+)\s+\S+\s+(\d+)\s+(\w{3}\s+\d+\s+[\d:]+)\s+(\S.*)\Z"
)

Cells = Sequence[str]


def tables_of(text: str, step: int) -> Iterator[FactGroup]:
    """Every table of one observation."""
    lines = unescaped(text).splitlines()
    for split in (_barred, _comma, _tabbed, _aligned):
        for block in _blocks(lines, split):
            yield from _table(block, step)
    yield from _listing(lines, step)


def _blocks(
    lines: Sequence[str], split: Callable[[str], Cells]
) -> Iterator[list[tuple[str, Cells]]]:
    """Runs of lines that split into one number of cells."""
    block: list[tuple[str, Cells]] = []
    for line in (*lines, ""):
        cells = split(line) if len(line) <= LONGEST_LINE else ()
        if block and split is _barred and line.strip() and _RULER.fullmatch(line):
            continue
        if cells and (not block or len(cells) == len(block[0][1])):
            block.append((line, cells))
            continue
        if len(block) > FEWEST_ROWS:
            yield block
        block = [(line, cells)] if cells else []


def _barred(line: str) -> Cells:
    if line.count("|") < 1 or "||" in line:
        return ()
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return cells if len(cells) >= 2 else ()


def _comma(line: str) -> Cells:
    if line.count(",") < 2 or line[:1] in " \t{[(#/<-*":
        return ()
    try:
        cells = next(csv.reader([line]), [])
    except csv.Error:
        return ()
    # A sentence has blanks behind its commas; a table of values has few.
    blanks = sum(1 for cell in cells if cell[:1] == " ")
    return [] if blanks * 2 > len(cells) else [cell.strip() for cell in cells]


def _tabbed(line: str) -> Cells:
    return [cell.strip() for cell in line.split("\t")] if line.count("\t") >= 1 else ()


def _aligned(line: str) -> Cells:
    if line.lstrip()[:1] in ("-", "*", "#", "/", "{", "}", ">") or "|" in line:
        return ()
    cells = _GAP.split(line.strip())
    return cells if len(cells) >= 3 else ()


def _table(block: Sequence[tuple[str, Cells]], step: int) -> Iterator[FactGroup]:
    head, rows = [cell.strip(" *`\"'") for cell in block[0][1]], block[1 : MOST_ROWS + 1]
    if not _is_head(head) or any(head[place] in cells for _, cells in rows for place in (0, -1)):
        return
    key = _key_column(head, [cells for _, cells in rows])
    if key is None:
        return
    entries = [
        FactRow(
            step,
            cells[key].strip(" *`"),
            {
                field: cell.strip(" *`")
                for place, (field, cell) in enumerate(zip(head, cells, strict=True))
                if place != key and field and 0 < len(cell) <= LONGEST_CELL
            },
            line,
        )
        for line, cells in rows
    ]
    yield FactGroup(FactKind.ROW, entries)


def _is_head(cells: Cells) -> bool:
    """Names of columns: words, each its own, no value among them."""
    named = [cell for cell in cells if cell]
    return (
        len(named) >= max(2, len(cells) - 1)
        and len(set(named)) == len(named)
        and all(len(cell) <= 40 and not _NUMBER.match(cell) for cell in named)
        and all(_COLUMN.match(cell) for cell in named)
    )


def _key_column(head: Cells, rows: Sequence[Cells]) -> int | None:
    """The first column in which every row has a name of its own."""
    for column in range(len(head)):
        names = [cells[column].strip() for cells in rows]
        if (
            head[column]
            and len(set(names)) == len(names)
            and all(3 <= len(name) <= LONGEST_CELL and not _NUMBER.match(name) for name in names)
        ):
            return column
    return None


def _listing(lines: Sequence[str], step: int) -> Iterator[FactGroup]:
    """What `ls -l` prints: the size of each file."""
    entries = [
        FactRow(step, found[4], {"size": found[2]}, line)
        for line in lines[: 10 * MOST_ROWS]
        if (found := _LISTED.match(line.strip())) and len(found[4]) >= 3
    ]
    if len(entries) >= FEWEST_ROWS:
        yield FactGroup(FactKind.ROW, entries[:MOST_ROWS])
