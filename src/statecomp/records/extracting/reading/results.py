"""What a step's output comes to, where one line can say it without leaving the rest unsaid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.reading.naming import id_alone
from statecomp.records.extracting.units import Unit

WHOLE, PIECES = 160, 4
"""Characters and pieces of an output that is shown as it is."""

PART, DATA_PART = 1.4, 4
"""How many times longer than what is left of it an answer may be that this stands for; data has
its marks besides."""
_COUNTED = re.compile(
    r"(?:Found|Total|Showing|Processed|Updated|Wrote|Saved|More than) [^\d]{0,40}\d.{0,80}|"
    r"No .{0,120}|\d+ rows?\b.{0,80}"
)
_COUNT = re.compile(r"(?:\A|; )(\d+) [^:;]{1,60}: ")
_TOLD = re.compile(r"(?:message|result|count|total|answer|summary): ")


class Results(NamedTuple):
    """What an output comes to, the fullest first; `whole` is that of them which is all of it."""

    texts: tuple[str, ...] = ()
    whole: str = ""


def results_of(seen: Sequence[Unit], length: int) -> Results:
    """All of a short output; of a longer one how many things it lists, or its own words on it.

    `seen` are its units, `length` its characters: what is left of a dump is not what it came to.
    """
    told = [unit for unit in seen if unit.form is not Form.LIST]
    part = DATA_PART if all(unit.form is Form.FIELD for unit in told) else PART
    whole = _whole(told)
    whole = whole if len(whole) * part >= length else ""
    lists = sorted((unit.text for unit in seen if _lists_all(unit, seen)), key=_size)
    listed = (lists[-1], *_recut(lists[-1])) if lists else ()
    # What happens to stand somewhere in an answer is not what it came to.
    ends = [unit for unit in seen if not 0 < unit.index < unit.count - 1]
    words = [unit.text for unit in ends if _tells(unit)]
    # One of several is not what it came to.
    single = words if len(words) == 1 and len({unit.answer for unit in seen}) == 1 else ()
    texts = (whole, *listed, *single)
    return Results(tuple(dict.fromkeys(filter(None, texts))), whole)


def _tells(unit: Unit) -> bool:
    told = _TOLD if unit.form is Form.FIELD else _COUNTED if unit.form is Form.LINE else None
    return told is not None and len(unit.text) <= WHOLE and bool(told.match(unit.text))


def _lists_all(unit: Unit, seen: Sequence[Unit]) -> bool:
    """Whether it is a list of the answer itself, or of the one thing that the answer tells of."""
    if unit.form is not Form.LIST or unit.label:
        return False  # what a text inside the answer lists is a part of it
    before = _COUNT.search(unit.text)
    if not before and "; " in unit.text:
        return False  # one thing inside another
    owner = unit.text[: before.start()] if before else ""
    return not owner or all(
        other.label.startswith(owner) for other in seen if other.form is not Form.LIST
    )


def _size(text: str) -> tuple[bool, int]:
    """A list of the answer itself is more than a list inside one of its objects."""
    found = _COUNT.search(text)
    return (found.start() == 0, int(found[1])) if found else (False, 1)


def _recut(text: str) -> Iterator[str]:
    """The list with fewer names; how many there are stands before them."""
    while _COUNT.search(text) and ", " in text:
        text = text.removesuffix(", ...").rpartition(", ")[0]
        text = f"{text}, ..." if text else ""
        yield text


def _whole(seen: Sequence[Unit]) -> str:
    plain = all(unit.form in (Form.LINE, Form.FIELD, Form.ROW) for unit in seen)
    if not plain or len(seen) > PIECES or any(unit.count > PIECES for unit in seen):
        return ""
    if all(id_alone(unit.text) for unit in seen):
        return ""
    labels = dict.fromkeys(part for unit in seen for part in unit.label.split("; ") if part)
    text = "; ".join(dict.fromkeys((*labels, *(unit.text for unit in seen))))
    return text if len(text) <= WHOLE else ""
