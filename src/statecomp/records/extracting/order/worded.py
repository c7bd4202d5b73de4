"""What a line tells by itself, wherever it stands: its words, its form and the marks in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from statecomp.history.text import words_of
from statecomp.records import markers

REMEMBERED = 16_384
"""Lines whose words and markers are known."""

Seen: TypeAlias = list[tuple[str, float]]
"""What can be seen of a unit, by name."""


@lru_cache(maxsize=REMEMBERED)
def spoken_in(text: str) -> tuple[str, ...]:
    """The words of a text, each once, in order: no sum of floats may depend on the hash seed.

    A name of several words has them all: a task says pink where the data says pink_background.
    """
    words = words_of(text)
    if "_" in text:
        words += words_of(text.replace("_", " "))
    return tuple(dict.fromkeys(words))


# A word is looked through for a digit where it begins or a quotation ends, not from each letter.
_VALUE = re.compile(r"(?<![^\s\"])[^\s\d]*+\d\S*+|\"[^\"]*\"|\b[A-Z]\w+")


def template(text: str) -> str:
    """The line without what tells it from others of its kind."""
    return value_free(text)[:60]


@lru_cache(maxsize=REMEMBERED)
def value_free(text: str) -> str:
    """The beginning of a text with a mark for each name, number and quotation."""
    return _VALUE.sub("#", text[:160])


def markers_of(own: str, text: str) -> Seen:
    count = _digits(text)
    found = [(f"{own}_{name}", 1.0) for name in (*_spoken_of(text, count), *_shapes(text, count))]
    if count:
        found.append(("digit", 1.0))
    found.append(("digits", count / len(text)))
    return found


_NO_DIGITS = bytes(byte for byte in range(128) if not chr(byte).isdigit())


def _digits(text: str) -> int:
    # Taking out all others is quicker than asking each; beyond ASCII there are other digits.
    if not text.isascii():
        return sum(map(str.isdigit, text))
    return len(text.encode("ascii").translate(None, _NO_DIGITS))


_WORDS = (
    ("error", markers.ERROR_WORDS),
    ("conclusion", markers.CONCLUSION_WORDS),
    ("intent", markers.INTENT_WORDS),
    ("created", markers.CREATED_WORDS),
    ("stored", markers.STORED_WORDS),
    ("rule", markers.RULE_WORDS),
)


_TELLING = frozenset().union(*(known for _, known in _WORDS), markers.COUNTED_WORDS)


def _spoken_of(text: str, digit_count: int) -> Iterator[str]:
    words = spoken_in(text)
    if not _TELLING.isdisjoint(words):
        for name, known in _WORDS:
            if not known.isdisjoint(words):
                yield name
        if digit_count and not markers.COUNTED_WORDS.isdisjoint(words):
            yield "counted"
    if "rror" in text or "xception" in text:
        yield "named_error"


def _shapes(text: str, digit_count: int) -> Iterator[str]:
    key, colon, value = text.partition(": ")
    if colon or " = " in text:
        yield "keyed"
    if colon and key.lower().endswith(markers.NAMED_KEYS):
        yield "named_key"
    if text[0] in "#*[=" or text.endswith(":"):
        yield "header"
    if value and text[-9:].lower().endswith(markers.OFF_VALUES):
        yield "off"
    # What a pattern cannot do without is looked for first: most lines do not have it.
    if ("Error" in text or "Exception" in text) and markers.RAISED.match(text):
        yield "raised"
    if markers.ROW.match(text):
        yield "row"
    if ":" in text and markers.CHOICE.match(text):
        yield "choice"
    if digit_count and markers.STAMP.search(text):
        yield "stamp"
    if not text.islower() and markers.CAPITALS.search(text):
        yield "capitals"
