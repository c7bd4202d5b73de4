"""How likely a later step needs a fragment: a small linear model over what can be seen of it.

The weights were fitted on half of the labelled runs, split by task: a softmax over the fragments of
each span, whose target is the fragment that holds a string some later step used.  The labels were
set by a language model.  benchmarks/must_keep_recall.py measures the result on the other half.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from statecomp.history.facts import FactIndex
from statecomp.history.text import COMMON, Kind, words_of
from statecomp.llm import markers
from statecomp.llm.fragments import Fragment, Place

REMEMBERED = 16_384
"""Lines whose markers are known."""
WEIGHTS: Mapping[str, float] = {
    "all_held": 0.2,
    "brief": -0.32,
    "digit": 0.26,
    "echoed": 0.89,
    "fresh": 0.29,
    "fresh_error": 0.87,
    "fresh_number": 0.16,
    "fresh_quoted": 0.23,
    "fresh_symbol": -0.23,
    "fresh_url": 0.38,
    "in_call": -0.31,
    "in_observed": -0.12,
    "in_said": 0.44,
    "kin": 0.3,
    "length": 0.44,
    "long": -0.34,
    "obs_asked_rare": 0.34,
    "obs_capitals": -0.15,
    "obs_choice": 0.31,
    "obs_code": -0.13,
    "obs_counted": 0.49,
    "obs_crowd": -0.77,
    "obs_early": -0.4,
    "obs_early_of": 0.39,
    "obs_echoed_later": 0.42,
    "obs_error": 0.58,
    "obs_first": -0.57,
    "obs_first_of": 0.75,
    "obs_intent": 0.49,
    "obs_last": -0.31,
    "obs_last_of": 0.34,
    "obs_named_key": 0.22,
    "obs_off": -0.55,
    "obs_raised": 0.7,
    "obs_rare": 0.5,
    "obs_rare_later": 0.27,
    "obs_rarest": 0.12,
    "obs_row": -0.38,
    "obs_rule": 0.5,
    "obs_spoken": 0.64,
    "obs_stamp": -0.4,
    "obs_stored": 0.85,
    "own_asked_rare": -0.29,
    "own_capitals": 0.55,
    "own_choice": -0.24,
    "own_code": 0.81,
    "own_conclusion": 0.54,
    "own_counted": 0.26,
    "own_created": -0.36,
    "own_crowd": -0.96,
    "own_early": -0.56,
    "own_early_of": 0.38,
    "own_echoed_later": -0.47,
    "own_error": -0.21,
    "own_first": -0.18,
    "own_first_of": -0.61,
    "own_header": -0.55,
    "own_intent": -1.39,
    "own_keyed": 1.08,
    "own_last": 0.28,
    "own_last_of": 0.29,
    "own_named_key": -0.27,
    "own_off": -0.21,
    "own_rare": -0.14,
    "own_rare_later": -0.24,
    "own_row": 0.19,
    "own_wordless": -0.25,
    "repeats": -1.0,
    "used_elsewhere": 0.76,
    "used_later": 0.21,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds a fragment: the span it is from and what stays without it."""

    rest: FactIndex
    seen: Counter[str]
    last_use: dict[str, int]
    words: dict[str, int]
    common: Counter[str]
    kin: Counter[str]  # templates of lines whose values the agent took up

    @classmethod
    def of(cls, fragments: Sequence[Fragment], rest: FactIndex) -> Setting:
        seen = Counter(fragment.text for fragment in fragments)
        last_use: dict[str, int] = {}
        words: dict[str, int] = {}
        common: Counter[str] = Counter()
        kin: Counter[str] = Counter()
        for fragment in fragments:
            spoken = set(words_of(fragment.text))
            common.update(spoken)
            if fragment.place is not Place.OBSERVED:
                words.update(dict.fromkeys(spoken, fragment.step))
                last_use.update(dict.fromkeys(fragment.names, fragment.step))
        for fragment in fragments:
            if fragment.place is Place.OBSERVED and _taken_up(fragment, last_use, rest):
                kin[template(fragment.text)] += 1
        return cls(rest, seen, last_use, words, common, kin)


def _taken_up(fragment: Fragment, last_use: Mapping[str, int], rest: FactIndex) -> bool:
    """Whether the agent repeated a value of this line, here or elsewhere."""
    return any(
        (name in last_use and last_use[name] >= fragment.step) or rest.agent_used(name)
        for name in fragment.names
        if name not in COMMON
    )


_VALUE = re.compile(r"\S*\d\S*|\"[^\"]*\"|\b[A-Z]\w+")


def template(text: str) -> str:
    """The line without what tells it from others of its kind."""
    return _VALUE.sub("#", text)[:60]


def features(fragment: Fragment, setting: Setting) -> Iterator[tuple[str, float]]:
    """What can be seen of a fragment, by name."""
    text = fragment.text
    yield f"in_{fragment.place}", 1.0
    yield "length", math.log1p(len(text)) - 4.0
    if len(text) < 16:
        yield "brief", 1.0
    elif len(text) > 120:
        yield "long", 1.0
    yield "repeats", math.log(setting.seen[text])
    yield from _position(fragment)
    yield from _markers(_whose(fragment), text, fragment.failed)
    yield from _names(fragment, setting)
    yield from _words(fragment, setting)


def _whose(fragment: Fragment) -> str:
    return "obs" if fragment.place is Place.OBSERVED else "own"


def _words(fragment: Fragment, setting: Setting) -> Iterator[tuple[str, float]]:
    own = _whose(fragment)
    rest = setting.rest
    # In order and not a set: a sum of floats must not depend on the hash seed.
    words = dict.fromkeys(words_of(fragment.text))
    if not words:
        yield f"{own}_wordless", 1.0
        return
    if own == "obs":
        yield "echoed", sum(1 for word in words if word in setting.words) / len(words)
    asked = [word for word in words if rest.asked(word)]
    yield f"{own}_asked", len(asked) / len(words)
    if any(setting.common[word] <= 6 for word in asked):
        yield f"{own}_asked_rare", 1.0
    yield f"{own}_spoken", sum(1 for word in words if rest.spoken(word)) / len(words)
    if own == "obs":
        kin = setting.kin[template(fragment.text)]
        yield "kin", min(kin, 3) / 3.0
        if markers.CONSTRAINT.search(fragment.text):
            yield "obs_rule", 1.0
    later = [word for word in words if setting.words.get(word, -1) > fragment.step]
    rare = [word for word in later if setting.common[word] <= 6]
    yield f"{own}_echoed_later", len(later) / len(words)
    yield f"{own}_rare_later", min(len(rare), 3) / 3.0
    yield f"{own}_rare", sum(1.0 / setting.common[word] for word in words) / len(words)
    yield f"{own}_rarest", 1.0 / min(setting.common[word] for word in words)


def _position(fragment: Fragment) -> Iterator[tuple[str, float]]:
    own = _whose(fragment)
    crowd = math.log(fragment.count)
    yield f"{own}_crowd", crowd
    if fragment.index == 0:
        yield f"{own}_first", 1.0
        yield f"{own}_first_of", crowd
    elif fragment.index < 4:
        yield f"{own}_early", 1.0
        yield f"{own}_early_of", crowd
    if fragment.index >= fragment.count - 2:
        yield f"{own}_last", 1.0
        yield f"{own}_last_of", crowd


@lru_cache(maxsize=REMEMBERED)
def _markers(own: str, text: str, failed: bool) -> tuple[tuple[str, float], ...]:
    """Read once: a span that waits is looked at again with every step it grows by."""
    found = [(f"{own}_{name}", 1.0) for name, pattern in _PATTERNS if pattern.search(text)]
    if any(character.isdigit() for character in text):
        found.append(("digit", 1.0))
    if failed:
        found.append(("failed", 1.0))
    return (*found, ("digits", sum(map(str.isdigit, text)) / len(text)))


_PATTERNS = (
    ("error", markers.ERROR),
    ("conclusion", markers.CONCLUSION),
    ("intent", markers.INTENT),
    ("created", markers.CREATED),
    ("counted", markers.COUNTED),
    ("keyed", markers.KEYED),
    ("named_key", markers.NAMED_KEY),
    ("code", markers.CODE),
    ("capitals", markers.CAPITALS),
    ("header", markers.HEADER),
    ("raised", markers.RAISED),
    ("row", markers.ROW),
    ("choice", markers.CHOICE),
    ("stamp", markers.STAMP),
    ("off", markers.OFF),
    ("stored", markers.STORED),
)


def _names(fragment: Fragment, setting: Setting) -> Iterator[tuple[str, float]]:
    names = [name for name in fragment.names if name not in COMMON]
    fresh = [name for name in names if name not in setting.rest]
    kinds = {fragment.names[name] for name in fresh}
    for kind in Kind:
        if kind in kinds:
            yield f"fresh_{kind}", 1.0
    yield "fresh", min(len(fresh), 5) / 2.0
    if names and not fresh:
        yield "all_held", 1.0
    if any(setting.last_use.get(name, -1) > fragment.step for name in names):
        yield "used_later", 1.0
    elif any(name in setting.last_use for name in names):
        yield "used", 1.0
    if any(setting.rest.agent_used(name) for name in names):
        yield "used_elsewhere", 1.0


def likelihood(fragment: Fragment, setting: Setting) -> float:
    """How likely, against the other fragments of its span, a later step needs this one."""
    score = sum(WEIGHTS.get(name, 0.0) * value for name, value in features(fragment, setting))
    return math.exp(max(-30.0, min(30.0, score)))
