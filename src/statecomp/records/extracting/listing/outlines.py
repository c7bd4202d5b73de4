"""Data that is told by how deep its lines stand, as YAML is: keys with what is below them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.records.extracting.decode import Json, decoded
from statecomp.records.extracting.reading.nesting import margin_of

FEWEST = 4
"""Lines that make an outline."""
DEEPEST = 24
WORDS = 4
"""Words of an item that is a value."""

_KEY = re.compile(
    r"(?:(?P<key>[A-Za-z_$][\w.$/-]{0,60})|(?P<quote>[\"'])(?P<quoted>[^\"'\n]{1,80})(?P=quote))\s*:"
    r"(?:\s+(?P<value>.*))?\Z"
)
_ITEM = re.compile(r"-(?:\s+|\Z)")
_TEXT = re.compile(r"[|>][+-]?\d?\s*(?:#.*)?\Z")
_NOTE = re.compile(r"(?:\A|\s)#.*\Z")
_QUOTED = re.compile(r"(\"[^\"]*\"|'[^']*')\s+#.*\Z")
_MARKS = re.compile(r"[&!][\w!./-]+(?:\s+|\Z)")
"""An anchor or a type before a value."""


class _NoOutline(Exception):
    """A line stands where no key, item or value may stand."""


def outlined(lines: Sequence[str]) -> Json | None:
    """The data, or None where the lines are none, or where nothing stands below a key."""
    telling = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if len(telling) < FEWEST or not any(line.rstrip().endswith(":") for line in telling):
        return None
    keyed = sum(1 for line in telling[:FEWEST] if _reads(line.strip()))
    if keyed < min(FEWEST, len(telling)):
        return None
    try:
        found = _Outline(lines).read()
    except _NoOutline:
        return None
    inside = found.values() if isinstance(found, dict) else found
    return found if any(isinstance(inner, dict | list) for inner in inside) else None


def _reads(text: str) -> bool:
    return bool(_KEY.match(text) or _ITEM.match(text))


class _Outline:
    """Reads line by line; blank lines and comments count in texts only."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)
        self._place = 0

    def read(self) -> Json:
        found = self._block(0, 0)
        if self._next() is not None:
            raise _NoOutline
        return found

    def _next(self) -> tuple[int, str] | None:
        """How deep the next line stands, and what it says."""
        while self._place < len(self._lines):
            line = self._lines[self._place]
            if line.strip() and not line.lstrip().startswith("#"):
                return margin_of(line), line.strip()
            self._place += 1
        return None

    def _block(self, least: int, depth: int) -> Json:
        """The keys or the items that stand as deep as the next line does."""
        if (first := self._next()) is None or first[0] < least or depth > DEEPEST:
            raise _NoOutline
        margin, text = first
        if _ITEM.match(text):
            return self._items(margin, depth)
        found: dict[str, Json] = {}
        while (line := self._next()) and line[0] == margin and (key := _KEY.match(line[1])):
            self._place += 1
            name = key["key"] or key["quoted"]
            if name in found:
                raise _NoOutline
            found[name] = self._value(key["value"] or "", margin, depth)
        if not found or (line and line[0] > margin):
            raise _NoOutline
        return found

    def _items(self, margin: int, depth: int) -> list[Json]:
        found = []
        while (line := self._next()) and line[0] == margin and (item := _ITEM.match(line[1])):
            inner = line[1][item.end() :]
            if _reads(inner):
                deep = margin + item.end()
                self._lines[self._place] = " " * deep + inner
                found.append(self._block(deep, depth + 1))
            elif len(inner.split()) > WORDS and inner[:1] not in "\"'[{|>":
                raise _NoOutline  # sentences of a list are no values
            else:
                self._place += 1
                found.append(self._value(inner, margin, depth))
        return found

    def _value(self, text: str, margin: int, depth: int) -> Json:
        """What a key or an item has: a word, a text, or what stands below it."""
        text = _MARKS.sub("", text.strip())
        if _TEXT.match(text):
            return self._text(margin)
        text = _QUOTED.sub(r"\1", text) if text[:1] in ("'", '"') else _NOTE.sub("", text).rstrip()
        line = self._next()
        if not text:
            below = line and (line[0] > margin or (line[0] == margin and _ITEM.match(line[1])))
            return self._block(margin, depth + 1) if below else ""
        while line and line[0] > margin:
            if _reads(line[1]):
                raise _NoOutline
            text, self._place = f"{text} {line[1]}", self._place + 1
            line = self._next()
        if text[0] in "[{" and (data := decoded(text)) is not None:
            return data
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] in ("'", '"') else text

    def _text(self, margin: int) -> str:
        """A text of several lines, as deep as it would stand alone."""
        begins = self._place
        while self._place < len(self._lines):
            line = self._lines[self._place]
            if line.strip() and margin_of(line) <= margin:
                break
            self._place += 1
        told = self._lines[begins : self._place]
        base = min((margin_of(line) for line in told if line.strip()), default=0)
        return "\n".join(line[base:] for line in told).strip("\n")
