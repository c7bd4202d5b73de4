"""Lines that stand side by side and differ in figures alone: two of them and a count say it all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.records.extracting.pieces import LONGEST, Form, Piece
from statecomp.records.extracting.reading.layout import ITEM

FEWEST = 4
"""So many lines that differ in figures alone are a run."""
WORDS = 4
"""Words around the figures from which on lines are alike: fewer are cells, or names in a list."""
_FIGURED = re.compile(r"[^\s\d]*+\d\S*+")


def _form(text: str) -> str:
    """A line without its figures; nothing where little else is left, where it is data or an item.

    Names stay: a line on another host, or of another level, says something else.
    """
    if len(text) > LONGEST or text[:1] in ("{", "[") or ITEM.match(text):
        return ""
    form = _FIGURED.sub("#", text)
    return form if sum(map(str.isalpha, form.split())) >= WORDS else ""


def alike_end(lines: Sequence[str], start: int) -> int:
    """Where the run of lines that begins at `start` ends; `start` itself where none does."""
    form, stop = _form(lines[start].strip()), start + 1
    while form and stop < len(lines) and _form(lines[stop].strip()) == form:
        stop += 1
    return stop if stop - start >= FEWEST else start


def alike_in(pieces: Sequence[Piece]) -> list[range]:
    """Of each piece the places of the run it stands in; of most there is none."""
    lines = [piece.text if piece.form is Form.LINE else "" for piece in pieces]
    found: list[range] = []
    while len(found) < len(lines):
        start = len(found)
        stop = alike_end(lines, start)
        found += [range(start, stop)] * max(1, stop - start)
    return found
