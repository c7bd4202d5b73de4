"""Values too long to be told: what each is, how long, and how it begins; never a part as the whole.

A key of a thousand digits, a picture as text, a list of measurements: cut in the middle they read
like values that they are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

MANY, FIRST = 40, 3
"""Numbers that are a list of which the first are told, and how many of them."""
BEGINNING = 8
"""Characters of a value by which it may be known again."""
COUNTED = re.compile(r"\([\d,]+ (?:digits|characters|numbers), begins [^()\n]{0,80}\)")
"""How such a value is told; what is counted nobody wrote."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ASSIGNED = re.compile(r"[A-Za-z_]\w{0,60}=(?!=)")
_BRACKETS = str.maketrans("", "", "()")
_EDGE = "[](){},;"


def briefly(text: str, longest: int) -> str:
    """A line whose values of more than so many characters are told by what they are."""
    if len(text) <= longest:
        return text
    # A quotation mark or a blank ends a value.
    long = re.compile(rf"""[^\s"'`]{{{longest + 1},}}""")
    return _listed(long.sub(lambda value: _told(value[0]), text))


def _told(value: str) -> str:
    name = assigned[0] if (assigned := _ASSIGNED.match(value)) else ""
    value = value.removeprefix(name)
    numbers = [part for part in re.split(r"[\[\](){},;]+", value) if part]
    if len(numbers) > MANY and is_numeric(numbers):
        return f"{name}{numbers_told(numbers)}"
    if "://" in value[:12]:
        return f"{name}{value.partition('?')[0][:100]} ..."
    what = "digits" if value.isdecimal() else "characters"
    begins = value[:BEGINNING].translate(_BRACKETS)
    return f"{name}({len(value):,} {what}, begins {begins})"


def is_numeric(values: Sequence[str]) -> bool:
    return all(map(_NUMBER.fullmatch, values))


def numbers_told(numbers: Sequence[str]) -> str:
    """How many numbers a list has, and the first of them."""
    return f"({len(numbers):,} numbers, begins {', '.join(numbers[:FIRST])})"


def _listed(text: str) -> str:
    """A line whose long runs of numbers are told by how many there are."""
    words = text.split(" ")
    if len(words) <= MANY:
        return text
    told: list[str] = []
    for numeric, run in groupby(words, key=lambda word: bool(_NUMBER.fullmatch(word.strip(_EDGE)))):
        part = list(run)
        many = numeric and len(part) > MANY
        told += [numbers_told([word.strip(_EDGE) for word in part])] if many else part
    return " ".join(told)
