"""The names in one answer, read by themselves: what is the same whatever history it stands in."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from sys import intern
from typing import NamedTuple, TypeAlias

from statecomp.history.facts import own_words
from statecomp.history.interaction import Interaction
from statecomp.history.kinds import failed
from statecomp.history.text import COMMON, identifiers, words_of
from statecomp.history.windows import found
from statecomp.records.extracting.units import of_step
from statecomp.records.markers import ADDRESSED, ADDRESSED_WORDS

NEAR = 20_000
"""Characters in which a name is looked for again: no huge output is read once for each name."""

_WORD = re.compile(r"[A-Za-z0-9]{3,}")
_JOINT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_KEY = re.compile(
    r"""(?<![\w:/.=-])([A-Za-z_](?:[\w.-]| (?=\w)){0,44})["'\\]*(?:\s*:\s*|=)["'\\\[]*\Z"""
)
_WHOLE = re.compile(r"""[\\"']{0,3}\s*(?:[,;}\])](?!\))|\\n|\n|\Z)""")


Seen: TypeAlias = list[tuple[str, float]]
"""What can be seen of a name, by what that is called."""


@dataclass(frozen=True, eq=False, slots=True)
class ReadLine:
    """A line by itself: its words and names, and whether it gives orders."""

    around: tuple[str, ...]
    words: tuple[str, ...]
    names: tuple[str, ...]
    length: float
    addressed: bool

    @classmethod
    def of(cls, text: str) -> ReadLine:
        # Windows of one long line overlap: interned, their words are held once.
        words = tuple(map(intern, words_of(text)))
        # The words are asked first: they tell of most lines that they address nobody.
        may = not text.isascii() or not ADDRESSED_WORDS.isdisjoint(words)
        return cls(
            _parts_of(words, text),
            words,
            tuple(intern(name) for name in identifiers(text) if name not in COMMON),
            math.log(max(1, len(text))),
            may and ADDRESSED.search(text) is not None,
        )


def _parts_of(words: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The words of a text, the parts of each apart."""
    if not text.isascii():
        return tuple(intern(word.lower()) for word in found(_WORD, text))
    return tuple(map(intern, words_of(text.replace("_", " ")))) if "_" in text else words


class ShownName(NamedTuple):
    """A name where it stands in one answer: the line, its field, and what both say of its odds."""

    line: ReadLine
    key: str
    late: float
    repeats: float

    @property
    def seen(self) -> Seen:
        seen = [("late", self.late), ("repeats", self.repeats), ("line", self.line.length)]
        return [*seen, *_key_features(self.key.lower())] if self.key else seen


class ReadAnswer:
    """An answer by itself, with what was found out about the names in it; see `of_step`."""

    def __init__(self, member: Interaction) -> None:
        self.text = member.observed
        self.failed = failed(member)
        own = own_words(member)
        self.spoken = frozenset(map(intern, _parts_of(tuple(words_of(own)), own)))
        self._names: dict[tuple[str, int], ShownName] = {}
        self._lines: dict[int, ReadLine] = {}  # by hash: the texts overlap

    def name(self, name: str, place: int) -> ShownName:
        """What can be seen of a name at a place, looked at once."""
        if (known := self._names.get((name, place))) is None:
            known = self._names[name, place] = self._looked(name, place)
        return known

    def _looked(self, name: str, place: int) -> ShownName:
        text = self._line(name, place)
        if (line := self._lines.get(hash(text))) is None:
            line = self._lines[hash(text)] = ReadLine.of(text)
        if line.addressed:
            return ShownName(line, "", 0.0, 0.0)
        times = self.text.count(name, place, place + NEAR)
        late = place / max(1, len(self.text))
        key = intern(self._key(name, place))
        return ShownName(line, key, late, math.log(max(1, min(20, times))))

    def _key(self, name: str, place: int) -> str:
        """The field that a name is the value of, if it is."""
        before = self.text[max(0, place - 54) : place]
        # Most names are the value of no field, and that is quickly seen.
        if not before.rstrip(" \t\"'\\[{(").endswith((":", "=")):
            return ""
        match, stop = _KEY.search(before), place + len(name)
        # A part of a value, or a call in a program, is not the value of what stands before it.
        return match[1] if match and _WHOLE.match(self.text[stop : stop + 8]) else ""

    def _line(self, name: str, place: int) -> str:
        """What stands around a name, at most the line."""
        text = self.text
        start = max(text.rfind("\n", max(0, place - 150), place) + 1, place - 150, 0)
        stop = place + len(name) + 150
        end = text.find("\n", place, stop)
        return text[start : end if end >= 0 else stop]


@of_step
def read_answer(member: Interaction) -> ReadAnswer:
    """What a step was shown, read by itself."""
    return ReadAnswer(member)


class Look(NamedTuple):
    """A name by itself, wherever it stands."""

    parts: tuple[str, ...]
    seen: Seen


@lru_cache(maxsize=65_536)
def look_of(name: str) -> Look:
    seen = [
        ("length", math.log(len(name))),
        ("digits", sum(map(str.isdigit, name)) / len(name)),
        ("depth", min(name.count("/"), 6) / 3.0),
    ]
    return Look(tuple(_words_in(name)), seen)


def _words_in(name: str) -> list[str]:
    if name.isascii() and name.isalnum() and (name.islower() or name.upper() == name):
        return [name.lower()] if len(name) > 2 else []
    return [part.lower() for part in _JOINT.split(name) if len(part) > 2]


@lru_cache(maxsize=4096)
def _key_features(key: str) -> Seen:
    if not key:
        return []
    groups = (group for group, marks in _KEYS.items() if any(mark in key for mark in marks))
    return [("keyed", 1.0), *((group, 1.0) for group in groups)]


_KEYS = {
    "key_id": ("id", "sha", "ref", "key"),
    "key_url": ("url", "link", "href", "src"),
    "key_name": ("name", "title", "label", "email"),
    "key_path": ("path", "file", "dir"),
    "key_time": ("time", "date", "_at", "created", "updated"),
}
