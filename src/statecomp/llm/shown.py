"""What one answer shows of a name: where it stands, what stands around it, and its odds.

The weights were fitted on recorded runs (lab log, 2026-11-16): a logistic regression on whether a
later action is the first to use the identifier, and no newer place holds it.  Every run's uses
weighed the same there, so the odds of a run that uses many are understated.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from statecomp.history.facts import FactIndex, facts_of, own_words
from statecomp.history.interaction import Interaction
from statecomp.history.kinds import failed
from statecomp.history.text import COMMON, Kind, identifiers, words_of
from statecomp.history.windows import found
from statecomp.llm.markers import ADDRESSED, ADDRESSED_WORDS

NEAR = 20_000
"""Characters in which a name is looked for again: no huge output is read once for each name."""

_WORD = re.compile(r"[A-Za-z0-9]{3,}")
_JOINT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[A-Za-z]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_HEX = re.compile(r"[0-9a-f]{7,}\Z")
_KEY = re.compile(
    r"""(?<![\w:/.=-])([A-Za-z_](?:[\w.-]| (?=\w)){0,44})["'\\]*(?:\s*:\s*|=)["'\\\[]*\Z"""
)
_WHOLE = re.compile(r"""[\\"']{0,3}\s*(?:[,;}\])](?!\))|\\n|\n|\Z)""")

BIAS = -2.02
WEIGHTS: Mapping[str, float] = {
    "alike": -0.13,
    "asked_any": 0.16,
    "asked_name": 0.34,
    "crowd": -0.2,
    "depth": -0.12,
    "digits": -0.3,
    "error": 0.3,
    "failed": -0.55,
    "form_often": -0.25,
    "form_used": 0.57,
    "id": 0.33,
    "key_id": 0.07,
    "key_name": 0.05,
    "key_path": 0.06,
    "key_time": -0.22,
    "key_url": -0.25,
    "keyed": 0.06,
    "kin": 0.3,
    "late": -0.26,
    "length": -0.22,
    "line": -0.06,
    "line_spoken": 0.09,
    "path": -0.17,
    "quoted": -0.38,
    "rank": -0.4,
    "repeats": 0.27,
    "series_long": -0.18,
    "series_next": 0.24,
    "series_taken": 0.37,
    "size": -0.28,
    "spoken": 0.57,
    "symbol": 0.12,
    "url": -0.19,
}

Seen: TypeAlias = list[tuple[str, float]]
"""What can be seen of a name, by what that is called."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line as names stand in it: what it says to all of them alike."""

    addressed: bool
    length: float
    spoken: float
    asked: bool
    used: frozenset[str]  # names of it that the agent itself has written elsewhere


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of a span before any name of it is looked at."""

    rest: FactIndex
    own: frozenset[str]
    spoken: set[str]
    forms: Counter[str]
    _lines: dict[str, ShownLine]

    @classmethod
    def of(cls, span: Sequence[Interaction], rest: FactIndex) -> Surroundings:
        spoken = {word.lower() for member in span for word in found(_WORD, own_words(member))}
        own = frozenset().union(*(facts_of(member).own for member in span))
        forms = Counter(map(form_of, own.union(rest.agent_names())))
        return cls(rest, own, spoken, forms, {})

    def line(self, text: str) -> ShownLine:
        """Read once, however many names stand in it."""
        if (known := self._lines.get(text)) is None:
            known = self._lines[text] = self._read(text)
        return known

    def _read(self, text: str) -> ShownLine:
        around = [word.lower() for word in _WORD.findall(text)]
        words = words_of(text)
        # The words are asked first: they tell of most lines that they address nobody.
        may = not text.isascii() or not ADDRESSED_WORDS.isdisjoint(words)
        used = self.rest.agent_used
        return ShownLine(
            may and ADDRESSED.search(text) is not None,
            math.log(max(1, len(text))),
            sum(map(self.spoken.__contains__, around)) / max(1, len(around)),
            any(map(self.rest.asked, words)),
            frozenset(name for name in _named(text) if used(name) and name not in COMMON),
        )


@dataclass(frozen=True, slots=True)
class Series:
    """The names of one form in one observation: an agent that took some may come for the rest."""

    places: Mapping[str, int]
    taken: int
    last_taken: int

    @classmethod
    def of(cls, names: Sequence[str], own: frozenset[str], rest: FactIndex) -> Series:
        taken = [p for p, name in enumerate(names) if name in own or rest.agent_used(name)]
        places = {name: place for place, name in enumerate(names)}
        return cls(places, len(taken), taken[-1] if taken else -1)


def _series(names: Iterable[str], own: frozenset[str], rest: FactIndex) -> dict[str, Series]:
    rows: dict[str, list[str]] = {}
    for name in names:
        rows.setdefault(form_of(name), []).append(name)
    return {form: Series.of(row, own, rest) for form, row in rows.items()}


@lru_cache(maxsize=65_536)
def form_of(name: str) -> str:
    """What a name looks like to somebody who works through a list of such names."""
    if _UUID.match(name):
        return "uuid"
    if _HEX.match(name) and not name.isdigit():
        return f"hex {len(name)}"
    if "://" in name:
        return "url " + name.split("/", 3)[2]
    if "/" in name or "." in name:
        _, dot, ending = name.rsplit("/", 1)[-1].rpartition(".")
        return f"path {ending}" if dot else "path"
    if " " in name:
        return "words"
    return _shape(name) if any(map(str.isdigit, name)) else "word"


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What one step was shown, as its names stand in it."""

    text: str
    failed: bool
    tokens: int
    crowd: int
    shapes: Counter[str]
    series: Mapping[str, Series]
    around: Surroundings

    @classmethod
    def of(
        cls,
        member: Interaction,
        names: Iterable[str],
        fresh: Iterable[str],
        around: Surroundings,
    ) -> ShownAnswer:
        shapes = Counter(map(_shape, fresh))
        series = _series(names, around.own, around.rest)
        crowd = shapes.total()
        refused = bool(crowd) and failed(member)
        return cls(member.observed, refused, member.tokens, crowd, shapes, series, around)

    def key(self, name: str, place: int) -> str:
        """The field that a name is the value of, if it is."""
        before = self.text[max(0, place - 54) : place]
        # Most names are the value of no field, and that is quickly seen.
        if not before.rstrip(" \t\"'\\[{(").endswith((":", "=")):
            return ""
        match, stop = _KEY.search(before), place + len(name)
        # A part of a value, or a call in a program, is not the value of what stands before it.
        return match[1] if match and _WHOLE.match(self.text[stop : stop + 8]) else ""

    def line(self, name: str, place: int) -> str:
        """What stands around a name, at most the line."""
        text = self.text
        start = max(text.rfind("\n", max(0, place - 150), place) + 1, place - 150, 0)
        stop = place + len(name) + 150
        end = text.find("\n", place, stop)
        return text[start : end if end >= 0 else stop]

    def odds(
        self, name: str, kind: Kind, rank: int, place: int, line: ShownLine, key: str
    ) -> float:
        """That a later step needs it, by all that can be seen of it."""
        shown, form = self._shown(name, rank, place), self._of_its_form(name)
        words, field = self._words(name, line), _key_features(key.lower())
        return _odds([(kind.value, 1.0), *shown, *form, *words, *field])

    def _shown(self, name: str, rank: int, place: int) -> Seen:
        times = self.text.count(name, place, place + NEAR)
        seen = [
            ("length", math.log(len(name))),
            ("digits", sum(map(str.isdigit, name)) / len(name)),
            ("depth", min(name.count("/"), 6) / 3.0),
            ("late", place / max(1, len(self.text))),
            ("rank", rank / self.crowd),
            ("crowd", math.log(self.crowd)),
            ("alike", math.log(self.shapes[_shape(name)])),
            ("size", math.log(self.tokens + 1)),
            ("repeats", math.log(max(1, min(20, times)))),
        ]
        return [*seen, ("failed", 1.0)] if self.failed else seen

    def _of_its_form(self, name: str) -> Seen:
        form = form_of(name)
        series, used = self.series[form], self.around.forms[form]
        seen = [
            ("series_long", math.log(len(series.places))),
            ("series_taken", math.log1p(series.taken)),
            ("form_used", float(used > 0)),
            ("form_often", math.log1p(used)),
        ]
        ahead = series.places[name] - series.last_taken
        if series.taken and ahead > 0:
            seen.insert(2, ("series_next", 1.0 / ahead))
        return seen

    def _words(self, name: str, line: ShownLine) -> Seen:
        parts = _words_in(name)
        spoken = sum(map(self.around.spoken.__contains__, parts)) / max(1, len(parts))
        return [
            ("spoken", spoken),
            ("line", line.length),
            ("line_spoken", line.spoken),
            ("asked_any", float(line.asked)),
            ("asked_name", float(any(map(self.around.rest.asked, parts)))),
            ("kin", float(len(line.used) > (name in line.used))),
        ]


def _words_in(name: str) -> list[str]:
    if name.isascii() and name.isalnum() and (name.islower() or name.upper() == name):
        return [name.lower()] if len(name) > 2 else []
    return [part.lower() for part in _JOINT.split(name) if len(part) > 2]


@lru_cache(maxsize=4096)
def _named(line: str) -> tuple[str, ...]:
    """The names of a line, which it is asked for once for each of them."""
    return tuple(identifiers(line))


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


@lru_cache(maxsize=65_536)
def _shape(name: str) -> str:
    return _LETTERS.sub("a", _DIGITS.sub("9", name))[:40]


def _odds(features: Iterable[tuple[str, float]]) -> float:
    score = 0.0
    for name, value in features:
        score += WEIGHTS.get(name, 0.0) * value
    return math.exp(max(-30.0, min(30.0, BIAS + score)))
