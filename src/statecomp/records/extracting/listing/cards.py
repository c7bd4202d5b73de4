"""Things between `BEGIN:` and `END:`, one property a line: entries of calendars, address cards."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PROPERTY = re.compile(r"([A-Z][A-Z0-9-]{1,40})(?:;[^:\n]{1,200})?:(.*)")
_MARKS = frozenset({"BEGIN", "END"})


def cards_end(lines: Sequence[str], start: int) -> int:
    """Behind the properties from here on, if a mark among them says what they are; else `start`."""
    stop, marked = start, False
    while stop < len(lines) and (found := _read(lines, start, stop)):
        marked = marked or found[0] in _MARKS
        stop += 1
    return stop if marked else start


def cards(lines: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Each thing: the line it begins at, and its properties as `KEY: value`."""
    things: list[tuple[int, list[str]]] = []
    fresh = True
    for place in range(len(lines)):
        key, value = _read(lines, 0, place) or ("", "")
        if key in _MARKS:
            fresh = True
        elif not key and not fresh:
            things[-1][1][-1] += lines[place][1:]  # folded: it goes on where it was broken
        elif key and value:
            if fresh:
                things.append((place, []))
            things[-1][1].append(f"{key}: {value}")
            fresh = False
    return things


def _read(lines: Sequence[str], start: int, place: int) -> tuple[str, str] | None:
    """A property and its value; neither, for a line folded below one; None for anything else."""
    line = lines[place]
    if found := _PROPERTY.fullmatch(line.rstrip()):
        return found[1], found[2].strip()
    folded = place > start and line[:1] in (" ", "\t") and line.strip()
    return ("", "") if folded else None
