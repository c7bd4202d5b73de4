"""How likely a later step needs a unit: a small linear model over what can be seen of it.

The weights are fitted by benchmarks/unit_weights.py on half of the labelled runs, split by task: a
softmax over the units of each span, whose target are the units that hold a string some later step
used.  The labels were set by a language model.  benchmarks/must_keep_recall.py measures the result
on the other half.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from statecomp.history.facts import FactIndex, facts_of
from statecomp.history.situation import Situation
from statecomp.history.text import COMMON, Kind
from statecomp.records.extracting.listing.columns import kind_of
from statecomp.records.extracting.order.weights import WEIGHTS
from statecomp.records.extracting.order.worded import Seen, markers_of, spoken_in, template
from statecomp.records.extracting.pieces import Form, Owner
from statecomp.records.extracting.units import Place, Unit, alone

LABEL = 60
"""Characters of what may be a label."""
RARE = 6
"""Units of a span that a rare word is in, at most."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds a unit: the span it is from and what stays without it."""

    rest: FactIndex
    seen: Counter[str]
    last_use: Mapping[str, int]
    words: Mapping[str, int]
    common: Counter[str]
    rarity: Mapping[str, float]
    kin: Counter[str]  # templates of lines whose values the agent took up
    kept: Counter[Owner]  # values of each owner that the agent took up
    latest: frozenset[str]  # what the last steps speak of

    @classmethod
    def of(cls, units: Sequence[Unit], situation: Situation) -> Setting:
        rest = situation.rest
        seen = Counter(unit.text for unit in units)
        last_use: dict[str, int] = {}
        words: dict[str, int] = {}
        common = Counter(chain.from_iterable(spoken_in(unit.text) for unit in units))
        for unit in units:
            if unit.place is not Place.OBSERVED:
                words.update(dict.fromkeys(spoken_in(unit.text), unit.step))
                last_use.update(dict.fromkeys(unit.names, unit.step))
        kin: Counter[str] = Counter()
        kept: Counter[Owner] = Counter()
        for unit in units:
            if unit.place is Place.OBSERVED and taken_up(unit, last_use, rest):
                kin[template(unit.text)] += 1
                if unit.owner:
                    kept[unit.owner] += 1
        latest = frozenset().union(*(facts_of(step).words for step in situation.latest))
        rarity = {word: 1.0 / times for word, times in common.items()}
        return cls(rest, seen, last_use, words, common, rarity, kin, kept, latest)


def taken_up(unit: Unit, last_use: Mapping[str, int], rest: FactIndex) -> bool:
    """Whether the agent repeated a value of this unit, here or elsewhere."""
    return any(
        (name in last_use and last_use[name] >= unit.step) or rest.agent_used(name)
        for name in unit.names
        if name not in COMMON
    )


def features(unit: Unit, setting: Setting) -> Seen:
    """What can be seen of a unit, by name."""
    return [*_alone(unit), *_situated(unit, setting)]


def _alone(unit: Unit) -> Seen:
    """What is the same in every span that the unit comes in."""
    text = unit.text
    seen: Seen = [
        *markers_of(_whose(unit), text),
        (_PLACES[unit.place], 1.0),
        (_FORMS[unit.form], 1.0),
        ("length", math.log1p(len(text)) - 4.0),
    ]
    if len(text) < 16:
        seen.append(("brief", 1.0))
    elif len(text) > 120:
        seen.append(("long", 1.0))
    names = _names_of(unit)
    _position(unit, names, seen)
    _keys(unit, seen)
    if not spoken_in(text):
        seen.append((names["wordless"], 1.0))
    if unit.owner:
        seen.append(("owned", 1.0))
        if unit.form is Form.FIELD and text in unit.label:
            seen.append(("is_label", 1.0))
    return seen


@alone
def _score_alone(unit: Unit) -> float:
    return _weighed(_alone(unit))


def _situated(unit: Unit, setting: Setting) -> Seen:
    """What depends on what stands around it.

    One list is handed on and filled, and what would count nothing is left out: every unit of a
    long span comes through here.
    """
    seen: Seen = []
    if (times := setting.seen[unit.text]) > 1:
        seen.append(("repeats", math.log(times)))
    _names(unit, setting, seen)
    if wording := _wording(unit):
        _words(unit, wording, setting, seen)
    if kept := setting.kept.get(unit.owner, 0) if unit.owner else 0:
        seen.append(("kin_owner", min(kept, 3) / 3.0))
    return seen


_PLACES = {place: f"in_{place}" for place in Place}
_FORMS = {form: f"form_{form}" for form in Form}


def _keys(unit: Unit, seen: Seen) -> None:
    """What the field, or the columns of the row, are called."""
    if unit.form is Form.FIELD:
        key = unit.text.partition(": ")[0]
        seen.append((f"field_{kind_of(key)}", 1.0))
    elif unit.form is Form.ROW and " | " in unit.label and unit.place is Place.OBSERVED:
        seen.append(("tabled", 1.0))
        seen += [(f"row_{kind}", 1.0) for kind in _columns(unit.label)]


@lru_cache(maxsize=1024)
def _columns(header: str) -> tuple[str, ...]:
    names = header.rpartition(": ")[2].split(" | ")
    return tuple(sorted(set(map(kind_of, names))))


def _whose(unit: Unit) -> str:
    return "obs" if unit.place is Place.OBSERVED else "own"


_NAMES = """
    wordless asked asked_rare key_asked label_asked spoken latest echoed_later rare_later rare
    rarest crowd first first_of early early_of last last_of
"""
# What is seen of an answer has other names than what is seen of the agent's own words.
_OBSERVED = {name: f"obs_{name}" for name in _NAMES.split()}
_OWN = {name: f"own_{name}" for name in _NAMES.split()}


def _names_of(unit: Unit) -> Mapping[str, str]:
    return _OBSERVED if unit.place is Place.OBSERVED else _OWN


class Wording(NamedTuple):
    """The words of a unit, of what may be its label, and of its owner's; and its template."""

    words: tuple[str, ...]
    key: tuple[str, ...]
    label: tuple[str, ...]
    template: str


@alone
def _wording(unit: Unit) -> Wording | None:
    words = spoken_in(unit.text)
    if not words:
        return None
    label, colon, value = unit.text.partition(": ")
    key = spoken_in(label) if colon and value and len(label) <= LABEL else ()
    return Wording(words, key, spoken_in(unit.label) if unit.owner else (), template(unit.text))


def _words(unit: Unit, wording: Wording, setting: Setting, seen: Seen) -> None:
    words, names = wording.words, _names_of(unit)
    told, spoken, latest = setting.rest.asked_words, setting.rest.spoken_words, setting.latest
    share = 1.0 / len(words)
    common = setting.common
    if kin := setting.kin.get(wording.template, 0) if names is _OBSERVED else 0:
        seen.append(("kin", min(kin, 3) / 3.0))
    # Most units have no word of these, which is asked of all of its words at once.
    if not told.isdisjoint(words):
        asked = [word for word in words if word in told]
        seen.append((names["asked"], len(asked) * share))
        if min(map(common.__getitem__, asked)) <= RARE:
            seen.append((names["asked_rare"], 1.0))
    if wording.key and all(map(told.__contains__, wording.key)):
        # Surer with two words of what may be its label in the user's own words.
        seen.append((names["key_asked"], min(len(wording.key), 2) / 2.0))
    if not told.isdisjoint(wording.label):
        seen.append((names["label_asked"], 1.0))
    if not spoken.isdisjoint(words):
        seen.append((names["spoken"], sum(map(spoken.__contains__, words)) * share))
    if not latest.isdisjoint(words):
        seen.append((names["latest"], sum(map(latest.__contains__, words)) * share))
    said, step = setting.words, unit.step
    if later := [word for word in words if said.get(word, -1) > step]:
        seen.append((names["echoed_later"], len(later) * share))
        rare = sum(1 for word in later if common[word] <= RARE)
        seen.append((names["rare_later"], min(rare, 3) / 3.0))
    rarities = [setting.rarity[word] for word in words]
    seen.append((names["rare"], sum(rarities) * share))
    seen.append((names["rarest"], max(rarities)))


def _position(unit: Unit, names: Mapping[str, str], seen: Seen) -> None:
    crowd = math.log(unit.count)
    seen.append((names["crowd"], crowd))
    if unit.index == 0:
        seen += ((names["first"], 1.0), (names["first_of"], crowd))
    elif unit.index < 4:
        seen += ((names["early"], 1.0), (names["early_of"], crowd))
    if unit.index >= unit.count - 2:
        seen += ((names["last"], 1.0), (names["last_of"], crowd))


_FRESH = tuple((kind, f"fresh_{kind}") for kind in Kind)


def _names(unit: Unit, setting: Setting, seen: Seen) -> None:
    names = [name for name in unit.names if name not in COMMON] if unit.names else ()
    if not names:
        return
    rest, last_use = setting.rest, setting.last_use
    fresh = [name for name in names if name not in rest]
    if fresh:
        kinds = {unit.names[name] for name in fresh}
        seen += [(name, 1.0) for kind, name in _FRESH if kind in kinds]
        seen.append(("fresh", min(len(fresh), 5) / 2.0))
    else:
        seen.append(("all_held", 1.0))
    uses = [last_use[name] for name in names if name in last_use]
    if uses:
        seen.append(("used_later" if max(uses) > unit.step else "used", 1.0))
    if any(map(rest.agent_used, names)):
        seen.append(("used_elsewhere", 1.0))


def read_alone(units: Sequence[Unit]) -> None:
    """Look at what is the same of units in every span that they come in."""
    for unit in units:
        _score_alone(unit)
        _wording(unit)


def likelihood(unit: Unit, setting: Setting) -> float:
    """How likely, against the other units of its span, a later step needs this one."""
    score = _weighed(_situated(unit, setting), _score_alone(unit))
    return math.exp(max(-30.0, min(30.0, score)))


def _weighed(seen: Seen, score: float = 0.0) -> float:
    weight = WEIGHTS.get
    for name, value in seen:
        score += weight(name, 0.0) * value
    return score
