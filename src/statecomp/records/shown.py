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

from statecomp.history.facts import FactIndex, facts_of
from statecomp.history.interaction import Interaction
from statecomp.history.text import Kind
from statecomp.records.named import ReadAnswer, ReadLine, Seen, ShownName, look_of, read_answer

_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[A-Za-z]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_HEX = re.compile(r"[0-9a-f]{7,}\Z")
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
class ShownLine:
    """A line as names stand in it: what it says to all of them alike."""

    spoken: float
    asked: bool
    used: frozenset[str]  # names of it that the agent itself has written elsewhere


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of a span before any name of it is looked at."""

    rest: FactIndex
    own: frozenset[str]
    spoken: frozenset[str]
    forms: Counter[str]
    _lines: dict[ReadLine, ShownLine]

    @classmethod
    def of(cls, span: Sequence[Interaction], rest: FactIndex) -> Surroundings:
        spoken = frozenset().union(*(read_answer(member).spoken for member in span))
        own = frozenset().union(*(facts_of(member).own for member in span))
        forms = Counter(map(form_of, own.union(rest.agent_names())))
        return cls(rest, own, spoken, forms, {})

    def line(self, line: ReadLine) -> ShownLine:
        """Asked once, however many names stand in it."""
        if (known := self._lines.get(line)) is None:
            used = self.rest.agent_used
            known = self._lines[line] = ShownLine(
                sum(map(self.spoken.__contains__, line.around)) / max(1, len(line.around)),
                any(map(self.rest.asked, line.words)),
                frozenset(filter(used, line.names)),
            )
        return known


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

    answer: ReadAnswer
    tokens: float
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
        size = math.log(member.tokens + 1)
        return cls(read_answer(member), size, shapes.total(), shapes, series, around)

    def odds(self, name: str, kind: Kind, rank: int, shown: ShownName) -> float:
        """That a later step needs it, by all that can be seen of it."""
        look = look_of(name)
        line = self.around.line(shown.line)
        seen = [
            (kind.value, 1.0),
            *look.seen,
            *shown.seen,
            ("rank", rank / self.crowd),
            ("crowd", math.log(self.crowd)),
            ("alike", math.log(self.shapes[_shape(name)])),
            ("size", self.tokens),
            *self._of_its_form(name),
            *self._words(name, look.parts, line),
        ]
        return _odds([*seen, ("failed", 1.0)] if self.answer.failed else seen)

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

    def _words(self, name: str, parts: Sequence[str], line: ShownLine) -> Seen:
        spoken = sum(map(self.around.spoken.__contains__, parts)) / max(1, len(parts))
        return [
            ("spoken", spoken),
            ("line_spoken", line.spoken),
            ("asked_any", float(line.asked)),
            ("asked_name", float(any(map(self.around.rest.asked, parts)))),
            ("kin", float(len(line.used) > (name in line.used))),
        ]


@lru_cache(maxsize=65_536)
def _shape(name: str) -> str:
    return _LETTERS.sub("a", _DIGITS.sub("9", name))[:40]


def _odds(features: Iterable[tuple[str, float]]) -> float:
    score = 0.0
    for name, value in features:
        score += WEIGHTS.get(name, 0.0) * value
    return math.exp(max(-30.0, min(30.0, BIAS + score)))
