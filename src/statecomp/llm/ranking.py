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

from statecomp.history.facts import FactIndex
from statecomp.history.text import COMMON, Kind
from statecomp.llm import markers
from statecomp.llm.fragments import Fragment, Place

_WORD = re.compile(r"\w{3,}")

WEIGHTS: Mapping[str, float] = {
    "all_held": 0.5,
    "brief": -0.16,
    "digit": 0.3,
    "digits": 0.27,
    "echoed": 1.82,
    "fresh": 0.39,
    "fresh_error": 1.28,
    "fresh_id": -0.1,
    "fresh_path": 0.41,
    "fresh_url": 0.67,
    "in_call": -0.3,
    "in_said": 0.39,
    "length": 0.47,
    "long": -0.4,
    "obs_choice": 0.13,
    "obs_conclusion": 0.44,
    "obs_counted": 0.45,
    "obs_crowd": -0.89,
    "obs_early": -0.8,
    "obs_early_of": 0.4,
    "obs_echoed_later": -0.2,
    "obs_error": 0.72,
    "obs_first": -0.9,
    "obs_first_of": 0.73,
    "obs_intent": 0.17,
    "obs_last": -0.4,
    "obs_last_of": 0.35,
    "obs_named_key": 0.48,
    "obs_off": -1.35,
    "obs_raised": 0.58,
    "obs_rare": 0.64,
    "obs_rare_later": 0.46,
    "obs_rarest": -0.17,
    "obs_row": -0.42,
    "obs_stamp": -0.97,
    "obs_stored": 1.74,
    "own_capitals": 0.67,
    "own_choice": -0.87,
    "own_code": 1.06,
    "own_conclusion": 0.42,
    "own_counted": 0.12,
    "own_created": -0.77,
    "own_crowd": -1.03,
    "own_early": -0.82,
    "own_early_of": 0.46,
    "own_echoed_later": -0.38,
    "own_error": -0.32,
    "own_first": -0.66,
    "own_first_of": -0.75,
    "own_header": -0.62,
    "own_intent": -1.98,
    "own_keyed": 0.93,
    "own_last": 0.16,
    "own_last_of": 0.39,
    "own_named_key": -0.11,
    "own_off": -0.42,
    "own_rare": -1.05,
    "own_rare_later": 0.34,
    "own_row": 0.9,
    "own_wordless": -0.69,
    "repeats": -0.72,
    "used": -0.52,
    "used_elsewhere": 0.88,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds a fragment: the span it is from and what stays without it."""

    rest: FactIndex
    seen: Counter[str]
    last_use: dict[str, int]
    words: dict[str, int]
    common: Counter[str]

    @classmethod
    def of(cls, fragments: Sequence[Fragment], rest: FactIndex) -> Setting:
        seen = Counter(fragment.text for fragment in fragments)
        last_use: dict[str, int] = {}
        words: dict[str, int] = {}
        common: Counter[str] = Counter()
        for fragment in fragments:
            spoken = set(words_of(fragment.text))
            common.update(spoken)
            if fragment.place is not Place.OBSERVED:
                words.update(dict.fromkeys(spoken, fragment.step))
                last_use.update(dict.fromkeys(fragment.names, fragment.step))
        return cls(rest, seen, last_use, words, common)


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


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
    yield from _markers(fragment)
    yield from _names(fragment, setting)
    yield from _words(fragment, setting)


def _whose(fragment: Fragment) -> str:
    return "obs" if fragment.place is Place.OBSERVED else "own"


def _words(fragment: Fragment, setting: Setting) -> Iterator[tuple[str, float]]:
    own = _whose(fragment)
    # In order and not a set: a sum of floats must not depend on the hash seed.
    words = dict.fromkeys(words_of(fragment.text))
    if not words:
        yield f"{own}_wordless", 1.0
        return
    if own == "obs":
        yield "echoed", sum(1 for word in words if word in setting.words) / len(words)
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


def _markers(fragment: Fragment) -> Iterator[tuple[str, float]]:
    own = _whose(fragment)
    text = fragment.text
    for name, pattern in _PATTERNS:
        if pattern.search(text):
            yield f"{own}_{name}", 1.0
    if any(character.isdigit() for character in text):
        yield "digit", 1.0
    if fragment.failed:
        yield "failed", 1.0
    yield "digits", sum(map(str.isdigit, text)) / len(text)


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
