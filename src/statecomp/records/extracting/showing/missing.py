"""Which rows of a table and which fields of a thing are not shown: a reader may ask for them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from statecomp.records.extracting.gaps import GAP
from statecomp.records.extracting.listing.columns import kind_of
from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.units import Unit

NAMED, NAMES_CHARS = 4, 60
"""So many rows are told by their names, where these are short."""
RUNS = 6
"""So many runs of rows are told by their numbers."""
KEYS_CHARS = 32
_IDLE = ("idle", "when")
_KEY = re.compile(r"[^\W\d](?:[^\W\d]|[ .-]){0,30}(?=: )")
"""A key without a number: `row 7` is one of a series, and no name."""


_FLAG = re.compile(r": (?:true|false|null|none|\[\]|\{\}|0)?\Z", re.IGNORECASE)
"""A value that nobody asks for again."""


def more(count: int) -> str:
    """How many more there were, wherever they stood."""
    return f"({count} more not shown)"


def rows_missing(shown: Sequence[Unit], rows: Sequence[Unit], told: Container[str]) -> str:
    """The rows of a table that are not shown, by their names or else their numbers in it.

    Of things that are `told` by their fields no row is missed.
    """
    if any(row.form is not Form.ROW for row in rows):
        return GAP  # sentences stand between them, and a line of a text may be several units
    kept = {unit.index for unit in shown}
    left = [
        number
        for number, row in enumerate(rows, 1)
        if row.index not in kept and _first_cell(row) not in told
    ]
    if not left:
        return ""
    if rows[-1].index - rows[0].index >= len(rows):
        return more(len(left))  # a copy of some was left out, so their numbers are not known
    if names := _named(left, rows):
        return f"(not shown: {names})"
    held = [number for number, row in enumerate(rows, 1) if row.index in kept]
    away, here = list(_runs(left)), list(_runs(held))
    if min(len(away), len(here) or RUNS) > RUNS:
        return more(len(left))
    if 0 < len(here) < len(away):
        return f"(only {_rows(held)} {', '.join(here)} of {len(rows)} shown)"
    return f"({_rows(left)} {', '.join(away)} of {len(rows)} not shown)"


def _named(left: Sequence[int], rows: Sequence[Unit]) -> str:
    """A few rows by their first cells, where no two rows begin alike and each begins in words."""
    if len(left) > NAMED or " | " not in rows[0].label:
        return ""
    cells = [*map(_first_cell, rows)]
    names = [cells[number - 1] for number in left]
    told = ", ".join(names)
    telling = len(set(cells)) == len(cells) and all(name[:1].isalpha() for name in names)
    return told if telling and len(told) <= NAMES_CHARS else ""


def _first_cell(row: Unit) -> str:
    return row.text.partition(" | ")[0]


def _rows(numbers: Sequence[int]) -> str:
    return "row" if len(numbers) == 1 else "rows"


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Numbers in order, those that follow each other by the first and the last of them."""
    first = last = numbers[0] if numbers else 0
    for number in (*numbers[1:], 0):
        if number != last + 1:
            yield str(first) if first == last else f"{first}-{last}"
            first = number
        last = number


def keys_missing(shown: Sequence[Unit], fields: Sequence[Unit]) -> str:
    """The keys of a thing's fields that are not shown, those that say most where they are many."""
    label = shown[0].label.split("; ")
    said = {*map(_key, (unit.text for unit in shown)), *map(_key, label)}
    kept = {unit.index for unit in shown}
    left = [u.text for u in fields if u.index not in kept and u.text not in label]
    told: list[str] = []
    for text in sorted(left, key=len, reverse=True):
        key = _key(text)
        if key in said or kind_of(key) in _IDLE or _FLAG.search(text):
            continue
        if key and sum(map(len, told)) + len(key) <= KEYS_CHARS:
            told.append(key)
            said.add(key)
    # What nobody needs is no unit, so nobody knows whether these are all.
    return f"not shown: {', '.join((*told, GAP))}" if told else GAP


def _key(text: str) -> str:
    found = _KEY.match(text)
    return found[0] if found else ""
