"""Text as a reader compares it: without quoting, escapes and case, value by value."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ESCAPES = (("\\n", "\n"), ("\\r", ""), ("\\t", " "), ('\\"', '"'), ("\\/", "/"))
_CODE_POINT = re.compile(r"\\u((?!d[89a-f])[0-9a-f]{4})", re.IGNORECASE)
_MARKS = re.compile(r"[\"'`*\\\u200b]")
_SPACES = re.compile(r"[^\S\n]+")
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_DIGIT = re.compile(r"\d")
_WORDS = """
    true false yes no none null ok error open closed default public private text string number
    user file page name value active inactive enabled disabled unknown other main new old
"""
_EVERYDAY = frozenset(_WORDS.split())


def folded(text: str) -> str:
    """The text in one form: quotes, escapes, case and thousands separators do not count."""
    text = _SPACES.sub(" ", _MARKS.sub("", unescaped(text)))
    return _THOUSANDS.sub("", text).casefold().replace(" \n", "\n").replace("\n ", "\n").strip()


def unescaped(text: str) -> str:
    """Text as it was before a client packed it into JSON: its lines are lines again."""
    for escape, meant in _ESCAPES:
        text = text.replace(escape, meant)
    return _CODE_POINT.sub(lambda found: chr(int(found[1], 16)), text)


def places(value: str, text: str) -> Iterator[int]:
    """Where a value stands in a text as a whole: 17 is neither in 117 nor in 17.3."""
    start = text.find(value) if value else -1
    while start >= 0:
        if _begins(value, text, start) and _ends(value, text, start + len(value)):
            yield start
        start = text.find(value, start + 1)


def stands(value: str, text: str) -> bool:
    return next(places(value, text), -1) >= 0


def _begins(value: str, text: str, start: int) -> bool:
    if not start or not value[0].isalnum():
        return True
    before = text[start - 1]
    if before.isalnum() or before == "_":
        return False
    return not (before in ".," and value[0].isdigit() and text[start - 2 : start - 1].isdigit())


def _ends(value: str, text: str, stop: int) -> bool:
    if stop >= len(text) or not value[-1].isalnum():
        return True
    after = text[stop]
    if after.isalnum() or after == "_":
        return False
    return not (after in ".," and value[-1].isdigit() and text[stop + 1 : stop + 2].isdigit())


def telling(value: str) -> bool:
    """Whether a value can hardly stand somewhere by chance."""
    if value in _EVERYDAY:
        return False
    return len(value) >= 3 if _DIGIT.search(value) else len(value) >= 8 or "/" in value
