"""How likely a later step needs a unit: a small linear model over what can be seen of it.

The weights are fitted by benchmarks/unit_weights.py on half of the labelled runs, split by task: a
softmax over the units of each span, whose target are the units that hold a string some later step
used.  The labels were set by a language model.  benchmarks/must_keep_recall.py measures the result
on the other half.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import digits

from statecomp.history.facts import FactIndex, facts_of
from statecomp.history.situation import Situation
from statecomp.history.text import COMMON, Kind, words_of
from statecomp.llm import markers
from statecomp.llm.extracting.listing.columns import kind_of
from statecomp.llm.extracting.order.weights import WEIGHTS
from statecomp.llm.extracting.pieces import Form, Owner
from statecomp.llm.extracting.units import Place, Unit

LABEL = 60
"""Characters of what may be a label."""
REMEMBERED = 16_384
"""Lines whose words and markers are known."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds a unit: the span it is from and what stays without it."""

    rest: FactIndex
    seen: Counter[str]
    last_use: Mapping[str, int]
    words: Mapping[str, int]
    common: Counter[str]
    kin: Counter[str]  # templates of lines whose values the agent took up
    kept: Counter[Owner]  # values of each owner that the agent took up
    latest: frozenset[str]  # what the last steps speak of

    @classmethod
    def of(cls, units: Sequence[Unit], situation: Situation) -> Setting:
        rest = situation.rest
        seen = Counter(unit.text for unit in units)
        last_use: dict[str, int] = {}
        words: dict[str, int] = {}
        common: Counter[str] = Counter()
        for unit in units:
            spoken = spoken_in(unit.text)
            common.update(spoken)
            if unit.place is not Place.OBSERVED:
                words.update(dict.fromkeys(spoken, unit.step))
                last_use.update(dict.fromkeys(unit.names, unit.step))
        kin: Counter[str] = Counter()
        kept: Counter[Owner] = Counter()
        for unit in units:
            if unit.place is Place.OBSERVED and _taken_up(unit, last_use, rest):
                kin[template(unit.text)] += 1
                if unit.owner:
                    kept[unit.owner] += 1
        latest = frozenset().union(*(facts_of(step).words for step in situation.latest))
        return cls(rest, seen, last_use, words, common, kin, kept, latest)


@lru_cache(maxsize=REMEMBERED)
def spoken_in(text: str) -> tuple[str, ...]:
    """The words of a text, each once, in order: no sum of floats may depend on the hash seed.

    A name of several words has them all: a task says pink where the data says pink_background.
    """
    words = words_of(text)
    if "_" in text:
        words += words_of(text.replace("_", " "))
    return tuple(dict.fromkeys(words))


def _taken_up(unit: Unit, last_use: Mapping[str, int], rest: FactIndex) -> bool:
    """Whether the agent repeated a value of this unit, here or elsewhere."""
    return any(
        (name in last_use and last_use[name] >= unit.step) or rest.agent_used(name)
        for name in unit.names
        if name not in COMMON
    )


_VALUE = re.compile(r"\S*\d\S*|\"[^\"]*\"|\b[A-Z]\w+")


@lru_cache(maxsize=REMEMBERED)
def template(text: str) -> str:
    """The line without what tells it from others of its kind."""
    return value_free(text)[:60]


def value_free(text: str) -> str:
    """The beginning of a text with a mark for each name, number and quotation."""
    return _VALUE.sub("#", text[:160])


def features(unit: Unit, setting: Setting) -> Iterator[tuple[str, float]]:
    """What can be seen of a unit, by name."""
    yield from _markers(_whose(unit), unit.text)
    yield from _placed(unit, setting)


def _placed(unit: Unit, setting: Setting) -> Iterator[tuple[str, float]]:
    """What depends on where it stands, and on what stands around it."""
    text = unit.text
    yield f"in_{unit.place}", 1.0
    yield f"form_{unit.form}", 1.0
    yield "length", math.log1p(len(text)) - 4.0
    if len(text) < 16:
        yield "brief", 1.0
    elif len(text) > 120:
        yield "long", 1.0
    yield "repeats", math.log(setting.seen[text])
    yield from _position(unit)
    yield from _names(unit, setting)
    yield from _words(unit, setting)
    yield from _keys(unit)
    if unit.owner:
        yield "owned", 1.0
        yield "kin_owner", min(setting.kept[unit.owner], 3) / 3.0
        if unit.form is Form.FIELD and unit.text in unit.label:
            yield "is_label", 1.0


def _keys(unit: Unit) -> Iterator[tuple[str, float]]:
    """What the field, or the columns of the row, are called."""
    if unit.form is Form.FIELD:
        key = unit.text.partition(": ")[0]
        yield f"field_{kind_of(key)}", 1.0
    elif unit.form is Form.ROW and " | " in unit.label and unit.place is Place.OBSERVED:
        yield "tabled", 1.0
        yield from ((f"row_{kind}", 1.0) for kind in _columns(unit.label))


@lru_cache(maxsize=1024)
def _columns(header: str) -> tuple[str, ...]:
    names = header.rpartition(": ")[2].split(" | ")
    return tuple(sorted(set(map(kind_of, names))))


def _whose(unit: Unit) -> str:
    return "obs" if unit.place is Place.OBSERVED else "own"


def _words(unit: Unit, setting: Setting) -> Iterator[tuple[str, float]]:
    own = _whose(unit)
    told, spoken, latest = setting.rest.asked_words, setting.rest.spoken_words, setting.latest
    words = spoken_in(unit.text)
    if not words:
        yield f"{own}_wordless", 1.0
        return
    share = 1.0 / len(words)
    common = setting.common
    if own == "obs":
        yield "kin", min(setting.kin[template(unit.text)], 3) / 3.0
    asked = [word for word in words if word in told]
    yield f"{own}_asked", len(asked) * share
    if any(common[word] <= 6 for word in asked):
        yield f"{own}_asked_rare", 1.0
    yield f"{own}_key_asked", _asked_for(unit.text, setting.rest)
    if unit.owner and not told.isdisjoint(spoken_in(unit.label)):
        yield f"{own}_label_asked", 1.0
    yield f"{own}_spoken", len([word for word in words if word in spoken]) * share
    yield f"{own}_latest", len([word for word in words if word in latest]) * share
    said = setting.words
    later = [word for word in words if word in said and said[word] > unit.step]
    yield f"{own}_echoed_later", len(later) * share
    yield f"{own}_rare_later", min(sum(1 for w in later if common[w] <= 6), 3) / 3.0
    rarity = [1.0 / common[word] for word in words]
    yield f"{own}_rare", sum(rarity) * share
    yield f"{own}_rarest", max(rarity)


def _asked_for(text: str, rest: FactIndex) -> float:
    """Whether it is a value under a label in the user's own words; surer with two words of it."""
    label, colon, value = text.partition(": ")
    words = spoken_in(label) if colon and value and len(label) <= LABEL else ()
    return min(len(words), 2) / 2.0 if all(map(rest.asked, words)) else 0.0


def _position(unit: Unit) -> Iterator[tuple[str, float]]:
    own = _whose(unit)
    crowd = math.log(unit.count)
    yield f"{own}_crowd", crowd
    if unit.index == 0:
        yield f"{own}_first", 1.0
        yield f"{own}_first_of", crowd
    elif unit.index < 4:
        yield f"{own}_early", 1.0
        yield f"{own}_early_of", crowd
    if unit.index >= unit.count - 2:
        yield f"{own}_last", 1.0
        yield f"{own}_last_of", crowd


def _markers(own: str, text: str) -> tuple[tuple[str, float], ...]:
    count = _digits(text)
    found = [(f"{own}_{name}", 1.0) for name in (*_spoken_of(text, count), *_shapes(text))]
    if count:
        found.append(("digit", 1.0))
    return (*found, ("digits", count / len(text)))


def _digits(text: str) -> int:
    # Counting ten characters is quicker than asking each; beyond ASCII there are other digits.
    return sum(map(text.count, digits)) if text.isascii() else sum(map(str.isdigit, text))


_WORDS = (
    ("error", markers.ERROR_WORDS),
    ("conclusion", markers.CONCLUSION_WORDS),
    ("intent", markers.INTENT_WORDS),
    ("created", markers.CREATED_WORDS),
    ("stored", markers.STORED_WORDS),
    ("rule", markers.RULE_WORDS),
)


def _spoken_of(text: str, digit_count: int) -> Iterator[str]:
    words = spoken_in(text)
    for name, known in _WORDS:
        if not known.isdisjoint(words):
            yield name
    if digit_count and not markers.COUNTED_WORDS.isdisjoint(words):
        yield "counted"
    if "rror" in text or "xception" in text:
        yield "named_error"


def _shapes(text: str) -> Iterator[str]:
    key, colon, value = text.partition(": ")
    if colon or " = " in text:
        yield "keyed"
    if colon and key.lower().endswith(markers.NAMED_KEYS):
        yield "named_key"
    if text[0] in "#*[=" or text.endswith(":"):
        yield "header"
    if value and text[-9:].lower().endswith(markers.OFF_VALUES):
        yield "off"
    for name, pattern in _PATTERNS:
        if pattern.match(text):
            yield name
    if markers.STAMP.search(text):
        yield "stamp"
    if markers.CAPITALS.search(text):
        yield "capitals"


_PATTERNS = (("raised", markers.RAISED), ("row", markers.ROW), ("choice", markers.CHOICE))


_FRESH = tuple((kind, f"fresh_{kind}") for kind in Kind)


def _names(unit: Unit, setting: Setting) -> Iterator[tuple[str, float]]:
    names = [name for name in unit.names if name not in COMMON]
    fresh = [name for name in names if name not in setting.rest]
    if fresh:
        kinds = {unit.names[name] for name in fresh}
        yield from ((name, 1.0) for kind, name in _FRESH if kind in kinds)
    yield "fresh", min(len(fresh), 5) / 2.0
    if names and not fresh:
        yield "all_held", 1.0
    if any(setting.last_use.get(name, -1) > unit.step for name in names):
        yield "used_later", 1.0
    elif any(name in setting.last_use for name in names):
        yield "used", 1.0
    if any(setting.rest.agent_used(name) for name in names):
        yield "used_elsewhere", 1.0


def likelihood(unit: Unit, setting: Setting) -> float:
    """How likely, against the other units of its span, a later step needs this one."""
    score = _marked(_whose(unit), unit.text)
    for name, value in _placed(unit, setting):
        if name in WEIGHTS:
            score += WEIGHTS[name] * value
    return math.exp(max(-30.0, min(30.0, score)))


@lru_cache(maxsize=REMEMBERED)
def _marked(own: str, text: str) -> float:
    """Read once: a span that waits is looked at again with every step it grows by."""
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in _markers(own, text))
