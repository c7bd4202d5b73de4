"""JSON as tools really print it: whole, as a Python repr, with words before it, or broken off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""Decoded data; its numbers are text, as they were written."""

DEEPEST = 100
"""Brackets inside brackets; what is deeper is no data that anybody looks things up in."""
PREFACE, TRIES = 400, 3
"""Characters of plain words a tool may say before its data, and how often a beginning is tried."""

AFTERWORDS = 400

_TOKEN = re.compile(
    # A string runs to its end or to the end of the text, so none is ever begun twice.
    r"""(?P<double>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))|(?P<single>'[^'\\]*(?:\\.[^'\\]*)*(?:'|\Z))|"""
    r"""(?P<open>(?:[A-Za-z_][\w.]{0,60})?\(|[\[{])|(?P<close>[\]})])|(?P<mark>[,:])|"""
    r"""(?P<bare>[^\s\[\](){},:"']+)""",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "null", "NaN": "null"}
_LIKE_DATA = re.compile(r"""[\[{]\s*(?:[\]}"'{\[]|-?\d|[A-Za-z_]\w*\()""")
_BEGINS = re.compile(r"(?:\A|\n)[ \t]*(?=[\[{])")
_SAME_LINE = re.compile(r"\A[^\n\[{]{1,200}[:=] ?(?=[\[{])")


def decoded(text: str) -> Json | None:
    """The data a text is, or None where it is none; a repr is read, a broken end is closed."""
    stripped = text.strip()
    if not _LIKE_DATA.match(stripped):
        return None
    found = _whole(stripped)
    if found is None:
        found = _loaded(_mended(stripped)[0])
    return found if _is_data(found) else None


_QUOTED = re.compile(r'^(\s*"[^"\n]{1,80}": ")(.*)(",?\s*)$', re.MULTILINE)


def _whole(text: str) -> Json | None:
    found = _loaded(text)
    if found is None and text[-1:] in "]}" and '": "' in text:
        found = _loaded(_QUOTED.sub(_quoted_again, text))
    return found


def _quoted_again(line: re.Match[str]) -> str:
    """A line whose value holds quotation marks that a tool forgot to escape."""
    value = line[2].replace('\\"', '"').replace('"', '\\"')
    return f"{line[1]}{value}{line[3]}"


def _is_data(found: Json) -> bool:
    """Whether it has objects or lists in it: `[12]` may be a mark in a page."""
    if isinstance(found, dict):
        return bool(found)
    return isinstance(found, list) and (
        len(found) > 3 or any(isinstance(inner, dict | list) for inner in found)
    )


def parted(text: str) -> tuple[str, Json | None, str]:
    """What is said before the data, the data, and what is said after it."""
    stripped = text.strip()
    if _LIKE_DATA.match(stripped) and _is_data(whole := _whole(stripped)):
        return "", whole, ""
    for begin in islice(_BEGINS.finditer(text, 0, PREFACE), TRIES):
        rest = text[begin.end() :]
        if not _LIKE_DATA.match(rest):
            continue
        found, stop = _first(rest)
        if _is_data(found):
            return text[: begin.end()], found, rest[stop:]
    if announced := _SAME_LINE.match(text):
        start = announced.end()
        found, stop = _first(text[start:])
        # `Row 1: {...}` with others below it is read line by line.
        if _is_data(found) and len(text) - start - stop < AFTERWORDS:
            return text[:start], found, text[start + stop :]
    return text, None, ""


def _first(text: str) -> tuple[Json | None, int]:
    """The data a text begins with, and where it ends."""
    try:
        found: tuple[Json, int] = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        mended, stop = _mended(text)
        return _loaded(mended), stop
    return found


def _loaded(text: str) -> Json | None:
    try:
        return json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None


_DECODER = json.JSONDecoder(parse_float=str, parse_int=str)


def _mended(text: str) -> tuple[str, int]:
    """The same data as JSON, and where it ends: a repr translated, a broken end closed.

    What was broken off is cut behind the last whole item.
    """
    written: list[str] = []
    closers: list[str] = []
    whole: tuple[int, tuple[str, ...], int] = (0, (), 0)
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind in ("single", "double") and (len(token) < 2 or token[-1] != token[0]):
            break
        if kind == "open":
            if len(closers) >= DEEPEST:
                break
            closers.append("}" if token == "{" else "]")
            token = "{" if token == "{" else "["
        elif kind == "close":
            if not closers:
                break
            token = closers.pop()
            if not closers:
                return "".join((*written, token)), match.end()
        elif token == "," and closers:
            whole = (len(written), tuple(closers), match.end())
        written.append(_json_token(kind, token))
    length, open_ends, stop = whole
    return "".join((*written[:length], *reversed(open_ends))), stop


def _json_token(kind: str | None, token: str) -> str:
    if kind == "single":
        return json.dumps(_SINGLE.sub(_plain_escape, token[1:-1]), ensure_ascii=False)
    if kind == "bare":
        word = _WORDS.get(token, token)
        known = word in ("null", "true", "false") or _NUMBER.match(word)
        return word if known else json.dumps(word)
    return token


_SINGLE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def _plain_escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[1], match[1])


def lines_of_data(text: str) -> Iterator[Json] | None:
    """The objects of a text that holds one a line, or None."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
        return None
    found = [_loaded(line) for line in lines]
    return iter(found) if all(isinstance(one, dict) for one in found) else None
