"""Things of one kind as a table: a row for each, with the columns that later steps go by.

A list of fifty orders has fifty statuses and addresses, and a thousand fields that are all alike or
that nobody asks for.  One row says which order it is and what it is referred to by; what all of
them share is said once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from statecomp.records.extracting.pieces import Form, Owner, Piece, one_line, shortened

FEWEST = 3
"""Things that make a table."""
CELL, LONG_CELL, READ = 80, 160, 600
"""Characters of a cell; of one that is an address, which cannot be said shorter; and of a value
that is looked at at all: of a name that long the ends are shown."""
COLUMNS = 5
NOTHING = "-"
"""What stands in a cell where a thing has no such value."""
EACH = "each: "
"""What stands before the values that all rows of a table share."""
SHARED = 6
"""What all rows have in common is said of so many columns."""
WORTH = 2.0
"""What a column must be worth to be one."""

Path: TypeAlias = tuple[str, ...]
Cells: TypeAlias = Mapping[Path, str]
"""The values of one thing, by the names that lead to them."""

_KINDS = {
    "idle": (
        r".*(?:_gmt|version|avatar\w*|colou?r|_tax|tax_\w+|menu_order|permalink|author ids|"
        r"order_key|node_id|html_url|cited-by url|related articles url|etag|revision\w*|"
        r"thumbnail\w*|icon)"
    ),
    "name": r"(?:.*[_ .-])?(?:name|title|subject|label|summary|login|text|question|message)",
    "secret": (
        r"(?:.*[_ .-])?(?:password|passcode|passphrase|pin|otp|secret|token|confirmation|voucher|"
        r"tracking|reference)"
    ),
    "id": (
        r"(?:.*[_ .-])?(?:id|number|key|sha|code|sku|ref|no|uuid|slug)|.*[a-z](?:Id|ID)|.*[A-Z]ID"
    ),
    "address": r"(?:.*[_ .-])?(?:e-?mail|url|uri|link|path|file|filename|href|website)|.*Ur[il]",
    "state": (
        r"(?:.*[_ .-])?(?:status|state|type|kind|role|category|priority|result|answer|value|level|"
        r"tags?)"
    ),
    "amount": (
        r".*(?:price|total|amount|cost|balance|quantity|qty|count|score|rating|size|salary|stock|"
        r"points)"
    ),
    "when": r".*(?:date|time|deadline|due|_at|_on|start|end|year|when)",
}
_PATTERNS = tuple((kind, re.compile(rf"(?:{p})\Z", re.IGNORECASE)) for kind, p in _KINDS.items())


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """What a field is by its name: a name, a secret, an id, an address, a state, an amount ..."""
    return next((kind for kind, pattern in _PATTERNS if pattern.match(name)), "other")


@dataclass(frozen=True)
class Table:
    """Rows below a header; `told` are the paths a row or the shared line says already."""

    header: str
    rows: tuple[str, ...]
    shared: str
    told: frozenset[Path]

    def below(self, title: str) -> list[Piece]:
        """Its rows, below its header and what stands above that."""
        owner = Owner(f"{title} {self.header}" if title else self.header)
        shared = (f"{EACH}{self.shared}",) if self.shared else ()
        return [Piece(row, Form.ROW, owner) for row in (*shared, *self.rows)]


def table_of(things: Sequence[Cells], name_of: Callable[[Path], str]) -> Table | None:
    """The table of things that are alike, or None where they are not, or none tells them apart."""
    if len(things) < FEWEST or not _alike(things):
        return None
    filled = Counter(path for cells in things for path in cells)
    values = {
        path: [cells.get(path, NOTHING) for cells in things]
        for path, times in filled.items()
        if times * 2 >= len(things)
    }
    same = {path for path, row in values.items() if len(set(row)) == 1}
    idle = {path for path in values if kind_of(name_of(path)) == "idle"}
    cut = {path for path in values if _fitted(values[path], kind_of(name_of(path)))}
    ranked = sorted(
        ((_worth(name_of(path), row), path) for path, row in values.items() if path not in same),
        key=lambda pair: -pair[0],
    )
    chosen: list[Path] = []
    for worth, path in ranked:
        if worth < WORTH or len(chosen) == COLUMNS:
            break
        if all(values[path] != values[other] for other in chosen):
            chosen.append(path)
    apart = any(len(set(values[path])) * 2 > len(things) for path in chosen)
    if len(chosen) < 2 or not apart:
        return None
    columns = [path for path in values if path in chosen]
    columns.sort(key=lambda path: kind_of(name_of(path)) != "name")
    shared = [(name_of(path), values[path][0]) for path in values if path in same]
    telling = [f"{key}: {value}" for key, value in shared if _says(key, value)]
    return Table(
        " | ".join(map(name_of, columns)),
        tuple(map(" | ".join, zip(*(values[path] for path in columns), strict=True))),
        "; ".join(telling[:SHARED]),
        frozenset((*columns, *same, *idle)) - cut,
    )


def _fitted(row: list[str], kind: str) -> bool:
    """Whether cells had to be cut: names are, and so are a few long cells among short ones."""
    most = LONG_CELL if kind == "address" else CELL
    long = [place for place, value in enumerate(row) if len(value) > most]
    if kind != "name" and len(long) * 3 > len(row):
        return False
    for place in long:
        row[place] = shortened(row[place], CELL) if kind == "name" else "..."
    return bool(long)


def _alike(things: Sequence[Cells]) -> bool:
    """Whether most fields are those of most things."""
    times = Counter(path for cells in things for path in cells)
    common = sum(1 for count in times.values() if count * 2 >= len(things))
    return common >= 2 and common * 3 >= len(times)


def _worth(name: str, row: Sequence[str]) -> float:
    """How likely later steps go by this column: by what it is called, and whether it tells."""
    kind = kind_of(name)
    filled = [value for value in row if value != NOTHING]
    apart = len(set(filled)) / len(row)
    address = kind == "address" or any("://" in value for value in filled[:3])
    longest = max(map(len, filled))
    if longest > (LONG_CELL if address else CELL) or kind == "idle":
        return 0.0
    if address and kind != "name":
        return 4.0 + apart if longest <= CELL else 2.5 + apart
    if kind == "id":
        return 4.0 + apart if apart > 0.6 else 1.5
    if kind == "when":
        return 2.0 if longest <= 25 else 0.0
    return _USUAL.get(kind, 1.0) + apart / 2


_USUAL = {"name": 5.0, "secret": 4.5, "state": 3.0, "amount": 2.5}


def _says(key: str, value: str) -> bool:
    """Whether what all have in common is worth a word: `false`, `0.00` and `null` are not."""
    bare = value.lower().strip("0.[]{}-")
    return bool(key) and bare not in ("", "false", "null", "none") and len(value) <= CELL


def grid_of(cells: Sequence[Mapping[str, object]]) -> Table | None:
    """The rows of a sheet that is told cell by cell: `address` is B7, `value` what stands there."""
    rows: dict[int, dict[str, str]] = {}
    for cell in cells:
        place = _CELL.match(str(cell.get("address", "")))
        if not place:
            return None
        value = cell.get("value")
        shown = "" if value is None else one_line(str(value))
        rows.setdefault(int(place[2]), {})[place[1]] = shown
    columns = sorted({name for row in rows.values() for name in row}, key=lambda n: (len(n), n))
    written = [
        " | ".join(row.get(name, "") for name in columns).rstrip(" |") for row in rows.values()
    ]
    telling = [row for row in written if row]
    if len(telling) < FEWEST or len(columns) < 2:
        return None
    return Table(telling[0], tuple(telling[1:]), "", frozenset())


_CELL = re.compile(r"([A-Z]{1,3})(\d{1,7})\Z")


def counted(names: Sequence[str]) -> Iterator[str]:
    """Names in order; where most come again and again, each once with its number."""
    times = Counter(names)
    if len(times) * 2 > len(names):
        yield from names
    else:
        yield from (f"{count} x {name}" if count > 1 else name for name, count in times.items())
