"""JSON of values without end: written and read so that other threads get their turn meanwhile.

The encoder and the decoder in C hold the interpreter until they are through: half a second for
a list of a million numbers, in which no request of anybody moves.  The encoder in Python takes
longer and holds up nobody.  What is read is taken piece by piece: whatever stands in one piece is
read by C, and only what is longer than that is taken apart here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

MANY = 20_000
"""Values that are written in about ten milliseconds."""
LONG = 1_000_000
"""Characters in which more values can stand than are read in a moment."""
PIECE = 65_536
"""Characters that are read in one go, in a millisecond or two."""
MOST_FIELDS = 100_000
"""Of one object in such a text; these are put into order in about fifty milliseconds."""

_SPACE = re.compile(r"[ \t\n\r]*")


class TooManyFields(ValueError):
    """An object that is read in no time anybody could wait for."""


def dumps(value: Any, **how: Any) -> str:
    """`json.dumps` with the same options."""
    if not _has_many(value):
        return json.dumps(value, **how)
    return "".join(json.JSONEncoder(**how).iterencode(value))


def raw_decode(text: str, parse_constant: Callable[[str], Any]) -> Callable[..., tuple[Any, int]]:
    """What reads one value of this text: `raw_decode` of a decoder.

    It raises TooManyFields for an object that would be put into order in one go for too long.
    """
    if len(text) > LONG:
        return _Pieces(text, parse_constant).value
    return json.JSONDecoder(parse_constant=parse_constant).raw_decode


class _Pieces:
    """Reads a text by C as far as values end in the piece that is at hand."""

    def __init__(self, text: str, parse_constant: Callable[[str], Any]) -> None:
        self._text = text
        self._whole = json.JSONDecoder(parse_constant=parse_constant).raw_decode
        self._piece, self._begin = "", 0
        self._again = self._again_run = 0  # where the next piece may be tried

    def value(self, text: str, place: int = 0) -> tuple[Any, int]:
        """The value at a place of the text, and where it ends; raises ValueError."""
        mark = text[place : place + 1]
        if mark != "{" and mark != "[":
            return self._whole(text, place)
        if place >= self._again and (short := self._short(place)):
            return short
        return self._fields(place + 1) if mark == "{" else self._items(place + 1)

    def _short(self, place: int) -> tuple[Any, int] | None:
        """What ends in this piece, or in the one that begins with it."""
        if self._begin <= place < self._begin + len(self._piece):
            try:
                value, end = self._whole(self._piece, place - self._begin)
                return value, end + self._begin
            except ValueError:
                pass
        self._piece, self._begin = self._text[place : place + PIECE], place
        try:
            value, end = self._whole(self._piece)
        except ValueError:
            # It is longer, or wrong.  What stands in it may be as long: it is not tried for each.
            self._again = place + PIECE // 16
            return None
        return value, end + place

    def _fields(self, place: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        place = self._space(place)
        if self._text.startswith("}", place):
            return found, place + 1
        while True:
            if not self._text.startswith('"', place):
                raise ValueError(place)
            name, place = self._whole(self._text, place)
            found[name], place = self.value(self._text, self._behind(":", place))
            if len(found) > MOST_FIELDS:
                raise TooManyFields(f"an object has more than {MOST_FIELDS:,} fields")
            place = self._space(place)
            if self._text.startswith("}", place):
                return found, place + 1
            place = self._behind(",", place)

    def _items(self, place: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        place = self._space(place)
        if self._text.startswith("]", place):
            return found, place + 1
        while True:
            values, place = self._run(place)
            found += values
            place = self._space(place)
            if self._text.startswith("]", place):
                return found, place + 1
            place = self._behind(",", place)
            if self._text.startswith("]", place):
                raise ValueError(place)

    def _run(self, place: int) -> tuple[list[Any], int]:
        """Items of an array from this one on: those up to the last comma of a piece, or one."""
        if place >= self._again_run:
            piece = self._text[place : place + PIECE]
            # A comma behind a bracket or a quote is more likely to be one of this array's own.
            bracket = {"{": "}", "[": "]", '"': '"'}.get(piece[:1], "")
            stop = piece.rfind(bracket + ",") + len(bracket)
            if stop > len(bracket):
                try:
                    # Where the array ends before that, so does what is read of it.
                    values, end = self._whole(f"[{piece[:stop]}]")
                    return values, place + end - 2
                except ValueError:
                    pass
            self._again_run = place + PIECE // 16
        value, place = self.value(self._text, place)
        return [value], place

    def _behind(self, mark: str, place: int) -> int:
        place = self._space(place)
        if not self._text.startswith(mark, place):
            raise ValueError(place)
        return self._space(place + 1)

    def _space(self, place: int) -> int:
        found = _SPACE.match(self._text, place)
        return found.end() if found else place


def _has_many(value: Any) -> bool:
    waiting, seen = [value], 0
    while waiting:
        inside = waiting.pop()
        items = list(inside.values()) if isinstance(inside, Mapping) else inside
        if isinstance(items, list | tuple):
            seen += len(items)
            if seen > MANY:
                return True
            waiting += (item for item in items if type(item) is not str)
    return False
