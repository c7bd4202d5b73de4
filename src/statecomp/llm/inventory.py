"""The identifiers a span showed the agent, each with the odds that a later step will need it.

What the agent used itself is owed by the fact ledger anyway; this is about the rest: of the
hundreds of ids, paths and symbols in a tool's answer a later step needs a few, and nobody can
reword or guess them.  A list of those that no unit carries is an index of where to look again.

The weights were fitted on recorded runs (lab log, 2026-11-16): a logistic regression on
whether a later action is the first to use the identifier, and no newer place holds it.  Every run's
uses weighed the same there, so the odds of a run that uses many are understated.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from statecomp.history.facts import FactIndex, facts_of, own_words
from statecomp.history.interaction import Interaction
from statecomp.history.kinds import failed
from statecomp.history.text import COMMON, Kind, identifiers, words_of
from statecomp.llm.markers import ADDRESSED

LONGEST_NAME = 120
"""Characters; nobody retypes a longer one."""
NEAR = 20_000
"""Characters in which a name is looked for again: no huge output is read once for each name."""
NAME_TOKENS = 2.0
"""What a name costs beside its own text; keeps short numbers from crowding out the rest."""

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

# A number or a quotation without its owner misleads; an id, a path or a symbol can be looked up.
_VALUES = frozenset({Kind.NUMBER, Kind.QUOTED, Kind.ERROR})

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


@dataclass(frozen=True, slots=True)
class Name:
    """One identifier as an observation shows it; `key` is the field it is the value of."""

    text: str
    key: str
    step: int
    place: int
    odds: float


def inventory(span: Sequence[Interaction], rest: FactIndex, said: str = "") -> list[Name]:
    """What the span showed, and neither `said` nor anything else holds, in order of appearance."""
    return [
        Name(seen.name, seen.key, step, seen.place, _odds(seen.features()))
        for step, seen in sights(span, rest)
        # What output tells the agent to do is not relayed, and neither is what it names.
        if seen.kind not in _VALUES and seen.name not in said and not ADDRESSED.search(seen.line)
    ]


def sights(span: Sequence[Interaction], rest: FactIndex) -> Iterator[tuple[int, Sight]]:
    """Every identifier that only the span holds, with the place of its interaction."""
    spoken = {word.lower() for member in span for word in _WORD.findall(own_words(member))}
    own = frozenset().union(*(facts_of(member).own for member in span))
    forms = Counter(map(form_of, own.union(rest.agent_names())))
    shown = [facts_of(member).shown for member in span]
    last = {name: step for step, names in enumerate(shown) for name in names}
    for step, (member, names) in enumerate(zip(span, shown, strict=True)):
        fresh = {
            name: kind
            for name, kind in names.items()
            if last[name] == step
            and len(name) <= LONGEST_NAME
            and name not in COMMON
            and name not in rest
        }
        shapes = Counter(map(_shape, fresh))
        refused, place = failed(member), 0
        series = _series(names, own, rest)
        for rank, (name, kind) in enumerate(fresh.items()):
            # They come in the order they stand in, quotations apart: the text is read about once.
            ahead = member.observed.find(name, place)
            place = ahead if ahead >= 0 else max(0, member.observed.find(name))
            form = form_of(name)
            seen = Sight(
                name, kind, rank, place, member, refused, shapes, spoken, rest,
                series[form], forms[form],
            )  # fmt: skip
            yield step, seen


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


def worth(name: Name) -> float:
    """Odds for each token the name costs."""
    return name.odds / (len(name.text) / 3.2 + NAME_TOKENS)


def listing_cost(name: Name, listed: set[tuple[int, str]]) -> float:
    """Tokens one more name takes; its field is said once for all names `listed` under it."""
    cost = len(name.text) / 3.2 + 1.0
    return cost if (name.step, name.key) in listed else cost + len(name.key) / 4.0


def rows_of(names: Sequence[Name]) -> list[str]:
    """Names by field, each field said once: `song_id: 136, 156`, `title: 'A b', 'C d'`."""
    rows: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: name.place):
        rows.setdefault(name.key, []).append(name.text)
    return [f"{key}: {', '.join(row)}".removeprefix(": ") for key, row in rows.items()]


@dataclass(frozen=True, slots=True)
class Sight:
    """An identifier, where it stands, and what stands around it."""

    name: str
    kind: Kind
    rank: int
    place: int
    member: Interaction
    failed: bool
    shapes: Counter[str]
    spoken: set[str]
    rest: FactIndex
    series: Series
    form_used: int

    @property
    def key(self) -> str:
        before = self.member.observed[max(0, self.place - 54) : self.place]
        # Most names are the value of no field, and that is quickly seen.
        if not before.rstrip(" \t\"'\\[{(").endswith((":", "=")):
            return ""
        match = _KEY.search(before)
        # A part of a value, or a call in a program, is not the value of what stands before it.
        return match[1] if match and _WHOLE.match(self.after) else ""

    @property
    def after(self) -> str:
        stop = self.place + len(self.name)
        return self.member.observed[stop : stop + 8]

    def features(self) -> Iterator[tuple[str, float]]:
        """What can be seen of it, by name."""
        text, name = self.member.observed, self.name
        yield self.kind.value, 1.0
        yield "length", math.log(len(name))
        yield "digits", sum(map(str.isdigit, name)) / len(name)
        yield "depth", min(name.count("/"), 6) / 3.0
        yield "late", self.place / max(1, len(text))
        crowd = sum(self.shapes.values())
        yield "rank", self.rank / crowd
        yield "crowd", math.log(crowd)
        yield "alike", math.log(self.shapes[_shape(name)])
        yield "size", math.log(self.member.tokens + 1)
        times = text.count(name, self.place, self.place + NEAR)
        yield "repeats", math.log(max(1, min(20, times)))
        if self.failed:
            yield "failed", 1.0
        yield from self._series()
        yield from self._words()
        yield from _key_features(self.key.lower())

    def _series(self) -> Iterator[tuple[str, float]]:
        series = self.series
        yield "series_long", math.log(len(series.places))
        yield "series_taken", math.log1p(series.taken)
        ahead = series.places[self.name] - series.last_taken
        if series.taken and ahead > 0:
            yield "series_next", 1.0 / ahead
        yield "form_used", float(self.form_used > 0)
        yield "form_often", math.log1p(self.form_used)

    @property
    def line(self) -> str:
        """What stands around it, at most the line."""
        text = self.member.observed
        start = max(text.rfind("\n", max(0, self.place - 150), self.place) + 1, self.place - 150, 0)
        stop = self.place + len(self.name) + 150
        end = text.find("\n", self.place, stop)
        return text[start : end if end >= 0 else stop]

    def _words(self) -> Iterator[tuple[str, float]]:
        parts = [part.lower() for part in _JOINT.split(self.name) if len(part) > 2]
        yield "spoken", sum(part in self.spoken for part in parts) / max(1, len(parts))
        line = self.line
        around = _WORD.findall(line)
        yield "line", math.log(max(1, len(line)))
        yield "line_spoken", sum(w.lower() in self.spoken for w in around) / max(1, len(around))
        yield "asked_any", float(any(map(self.rest.asked, words_of(line))))
        yield "asked_name", float(any(map(self.rest.asked, parts)))
        neighbours = (n for n in _named(line) if n != self.name and n not in COMMON)
        yield "kin", float(any(map(self.rest.agent_used, neighbours)))


@lru_cache(maxsize=4096)
def _named(line: str) -> tuple[str, ...]:
    """The names of a line, which it is asked for once for each of them."""
    return tuple(identifiers(line))


def _key_features(key: str) -> Iterator[tuple[str, float]]:
    if not key:
        return
    yield "keyed", 1.0
    for group, marks in _KEYS.items():
        if any(mark in key for mark in marks):
            yield group, 1.0


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
    score = BIAS + sum(WEIGHTS.get(name, 0.0) * value for name, value in features)
    return math.exp(max(-30.0, min(30.0, score)))
