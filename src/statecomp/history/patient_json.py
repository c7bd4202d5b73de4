"""JSON of values without end: written and read so that other threads get their turn meanwhile.

The encoder and the decoder in C hold the interpreter until they are through: half a second for
a list of a million numbers, in which no request of anybody moves.  Those in Python take longer and
hold up nobody; a long string costs the same in both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from json import decoder, scanner
from typing import Any

MANY = 20_000
"""Values that are written in about ten milliseconds."""
LONG = 1_000_000
"""Characters in which more values can stand than are read in a moment."""
MOST_FIELDS = 100_000
"""Of one object in such a text; these are put into order in about fifty milliseconds."""


class TooManyFields(ValueError):
    """An object that is read in no time anybody could wait for."""


def dumps(value: Any, **how: Any) -> str:
    """`json.dumps` with the same options."""
    if not _has_many(value):
        return json.dumps(value, **how)
    return "".join(json.JSONEncoder(**how).iterencode(value))


def raw_decode(text: str, parse_constant: Callable[[str], Any]) -> Callable[..., tuple[Any, int]]:
    """What reads one value of this text: `raw_decode` of a decoder.

    It raises TooManyFields for an object that would be made, and sorted, in one go for too long.
    """
    reads = json.JSONDecoder(parse_constant=parse_constant, object_pairs_hook=_object)
    if len(text) > LONG:
        patient: Any = reads
        patient.parse_object, patient.parse_array = decoder.JSONObject, decoder.JSONArray  # type: ignore[attr-defined]
        patient.scan_once = scanner.py_make_scanner(patient)  # type: ignore[attr-defined]
    return reads.raw_decode


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_FIELDS:
        raise TooManyFields(f"an object has more than {MOST_FIELDS:,} fields")
    return dict(pairs)


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
