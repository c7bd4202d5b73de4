"""JSON as tools really print it: whole, as a Python repr, with words before it, or broken off."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
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
    r"""(?P<note>(?<=[\s,])(?:#|//)[^\n]*)|(?P<bare>[^\s\[\](){},:"']+)""",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "null", "NaN": "null"}
_LIKE_DATA = re.compile(r"""[\[{]\s*(?:[\]}"'{\[]|-?\d|[A-Za-z_]\w*\()""")
_BEGINS = re.compile(r"(?:\A|\n)[ \t]*(?=[\[{])")
_INSIDE = re.compile(r"[\[({,=]\s*\Z|\n[ \t]+\Z")
"""What stands before data that is a part of something, or of what stands above it."""
_SAME_LINE = re.compile(r"\A[^\n\[{]{1,200}[:=] ?(?=[\[{])")


def decoded(text: str) -> Json | None:
    """The data a text is, or None where it is none; a repr is read, a broken end is closed."""
    stripped = text.strip()
    if not _LIKE_DATA.match(stripped):
        return None
    found = _whole(stripped)
    if found is None:
        found = _loaded(_mended(_quoted_again(stripped))[0])
    return found if _is_data(found) else None


def spelled(text: str) -> Json | None:
    """The things that a program or a file spells out; None where more than values stands in it."""
    try:
        found, after = _first(text)
    except ValueError:
        return None
    things = isinstance(found, list) and any(isinstance(inner, dict | list) for inner in found)
    told = things or (isinstance(found, dict) and found)
    return found if told and not after.strip(" \n\t,;)") else None


_QUOTED = re.compile(r'^([ \t]*"[^"\n]{1,80}": ")(.*)(",?[ \t]*)$', re.MULTILINE)


def _whole(text: str) -> Json | None:
    found = _loaded(text)
    if found is None and text[-1:] in "]}":
        found = _loaded(_quoted_again(text))
    return found


def _quoted_again(text: str) -> str:
    """The text with the quotation marks inside its values that a tool forgot to escape."""
    return _QUOTED.sub(_escaped, text) if '": "' in text else text


def _escaped(line: re.Match[str]) -> str:
    value = line[2].replace('\\"', "")
    if '"' not in value or _loaded(f"{{{line[0].rstrip(', ')}}}") is not None:
        return line[0]  # there is none, or several fields stand on one line
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
        if _INSIDE.search(text[: begin.end()]) or not _LIKE_DATA.match(rest):
            continue
        found, after = _first(rest)
        if _is_data(found):
            return text[: begin.end()], found, after
    if announced := _SAME_LINE.match(text):
        start = announced.end()
        found, after = _first(text[start:])
        # `Row 1: {...}` with others below it is read line by line.
        if _is_data(found) and len(after) < AFTERWORDS:
            return text[:start], found, after
    return text, None, ""


def _first(text: str) -> tuple[Json | None, str]:
    """The data a text begins with, and what stands behind it."""
    try:
        found, stop = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        text = _quoted_again(text)
        mended, stop = _mended(text)
        found = _loaded(mended)
    return found, text[stop:]


def _loaded(text: str) -> Json | None:
    try:
        return json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None


_DECODER = json.JSONDecoder(parse_float=str, parse_int=str)


def _mended(text: str) -> tuple[str, int]:
    """The same data as JSON, and where it ends: a repr translated, a broken end closed.

    What was broken off is cut behind the last whole item.  It ends with the text, before a line
    that is no data, or there; what its brackets end like data, and is none, is no JSON.
    """
    written: list[str] = []
    closers: list[str] = []
    whole: tuple[int, tuple[str, ...], int] = (0, (), 0)
    before, stop = "", len(text)
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match[0]
        if kind == "note":
            continue
        if kind in ("single", "double") and (len(token) < 2 or token[-1] != token[0]):
            break
        if not _follows(before, kind, token, closers) or len(closers) >= DEEPEST:
            if text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip():
                stop = 0 if _ends(text, match.start(), len(closers)) else whole[2]
            else:
                stop = match.start()
            break
        if kind == "open":
            closers.append("}" if token == "{" else "]")
            token = "{" if token == "{" else "["
        elif kind == "close":
            if before == ",":
                written.pop()  # programs may write one behind the last item
            token = closers.pop()
            if not closers:
                return "".join((*written, token)), match.end()
        elif token == "," and before == "bare":
            whole = (len(written), tuple(closers), match.start())
        before = _state(before, kind, token, closers)
        written.append(_json_token(kind, token))
        if before == "value":
            whole = (len(written), tuple(closers), match.end())
    length, open_ends, _ = whole if stop else (0, (), 0)
    return "".join((*written[:length], *reversed(open_ends))), stop


def _ends(text: str, start: int, depth: int) -> bool:
    """Whether so many brackets end behind this place."""
    for match in _TOKEN.finditer(text, start):
        depth += (match.lastgroup == "open") - (match.lastgroup == "close")
        if not depth:
            return True
    return False


def _follows(before: str, kind: str, token: str, closers: Sequence[str]) -> bool:
    """Whether a token may stand behind what stood before it, in what is open."""
    if kind == "close":
        return bool(closers) and before not in ("key", ":")
    if kind == "mark":
        return before == "key" if token == ":" else before in ("value", "bare")
    keyed = bool(closers) and closers[-1] == "}" and before != ":"
    return before in ("", ",", ":", "open") and not (keyed and kind == "open")


def _state(before: str, kind: str, token: str, closers: Sequence[str]) -> str:
    """What was just read: an opening, a mark, a key, or a value; a bare one may go on."""
    if kind in ("mark", "open"):
        return token if kind == "mark" else kind
    if kind != "close" and closers and closers[-1] == "}" and before != ":":
        return "key"
    return "bare" if kind == "bare" else "value"


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


def lines_of_data(text: str) -> list[Json]:
    """The objects of a text that holds one a line; of any other none."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
        return []
    found = [_loaded(line) for line in lines]
    return found if all(isinstance(one, dict) for one in found) else []
