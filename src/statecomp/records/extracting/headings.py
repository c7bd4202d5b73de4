"""Which heading of a record a unit belongs under: by whose words it is, and how sure they are."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from statecomp.history.text import COMMON, Kind, words_of
from statecomp.records.extracting.pieces import Form, Owner
from statecomp.records.extracting.units import Place, Unit, alone
from statecomp.records.markers import CONCLUSION, CONSTRAINT, INTENT, OPEN

_HEDGED = re.compile(
    r"\b(?:seems?|appears?|suggests?|might|may|maybe|perhaps|probably|likely|possibly|could|should|"
    r"I think|I believe|I guess|assum\w+|indicat\w+|impl(?:y|ies)|means?|so|therefore|"
    r"presumably|around|about|expect\w*|looks like|if|would)\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\b(?:actually|however|but|wrong|incorrect\w*|mistake\w*|not|n't|instead|contrary|turns out|"
    r"unfortunately|fail\w*|still)\b|n't\b",
    re.IGNORECASE,
)
RULES = 0.3
"""The share of a section's sentences that bind, from which on all of it is rules."""
SHOWN = 0.35
"""The share of a sentence's words that an answer showed before it was said."""
SHARED = 3
"""Words that two sentences about one thing have in common."""


def headings_of(units: Sequence[Unit], binding: Container[int] = ()) -> list[str]:
    """The heading of each unit: what belongs to one owner in one step stays together.

    Rules are those of a document that binds the work, read at a step of `binding`: what else an
    output says must be done may be of anything.
    """
    shown: dict[str, int] = {}
    for unit in units:
        if unit.place is Place.OBSERVED:
            for name in unit.names:
                shown.setdefault(name, unit.step)
    doubts = [
        (unit.step, unit.index, _words(unit), unit.names)
        for unit in units
        if unit.place is Place.SAID and _doubts(unit)
    ]
    rules = _rule_owners(units, binding)
    sent: dict[int, str] = {}
    for unit in units:
        if unit.place is Place.CALL:
            sent[unit.step] = f"{sent.get(unit.step, '')} {unit.text}"
    last = max((unit.step for unit in units if unit.place is Place.SAID), default=-1)
    told: Mapping[str, int] | None = None  # few spans conclude anything that has to be looked for
    found = []
    for unit in units:
        if unit.place is Place.SAID:
            heading = _said(unit, shown, doubts, unit.step == last)
            if heading == "conclusions":
                told = _words_shown(units) if told is None else told
                heading = heading if _was_shown(unit, told) else "facts"
            found.append(heading)
        elif unit.form is Form.RULE and unit.owner and (unit.step, unit.owner) in rules:
            # What the agent wrote itself, and was shown again, binds nobody.
            found.append("facts" if unit.text in sent.get(unit.step, "") else "constraints")
        else:
            found.append("facts")
    return found


def _words_shown(units: Sequence[Unit]) -> dict[str, int]:
    """The words of all answers, each with the first step that shows it."""
    told: dict[str, int] = {}
    for unit in units:
        if unit.place is Place.OBSERVED:
            step = unit.step
            for word in _words_shown_by(unit):
                told.setdefault(word, step)
    return told


def _was_shown(unit: Unit, told: Mapping[str, int]) -> bool:
    """Whether most words of a sentence stood in an answer: what it infers is not confirmed."""
    words = list(words_of(unit.text))
    before = sum(1 for word in words if told.get(word, unit.step) < unit.step)
    return before >= SHOWN * len(words)


def _rule_owners(units: Sequence[Unit], binding: Container[int]) -> set[tuple[int, Owner | None]]:
    """Sections of which a good part binds; one word like "only" makes no rules of a page."""
    told: dict[tuple[int, Owner | None], list[bool]] = {}
    for unit in units:
        if unit.form is Form.RULE and unit.place is Place.OBSERVED and unit.step in binding:
            told.setdefault((unit.step, unit.owner), []).append(_binds(unit))
    return {key for key, binds in told.items() if sum(binds) >= max(1, RULES * len(binds))}


def _said(
    unit: Unit,
    shown: Mapping[str, int],
    doubts: Sequence[tuple[int, int, frozenset[str], Mapping[str, Kind]]],
    last: bool,
) -> str:
    """What the agent said is confirmed where it repeats what was shown and nothing doubts it.

    What it left open is open only where it said nothing since.
    """
    if _leaves_open(unit):
        return "unresolved" if last else "facts"
    if not _concludes(unit):
        return "facts"
    names = [name for name in unit.names if name not in COMMON]
    if not names or any(shown.get(name, unit.step + 1) > unit.step for name in names):
        return "facts"
    words = _words(unit)
    for step, index, others, named in doubts:
        later = (step, index) > (unit.step, unit.index)
        if later and (len(words & others) >= SHARED or any(name in named for name in names)):
            return "facts"
    return "conclusions"


@alone
def _words(unit: Unit) -> frozenset[str]:
    return frozenset(words_of(unit.text))


@alone
def _words_shown_by(unit: Unit) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words_of(f"{unit.label} {unit.text}")))


@alone
def _doubts(unit: Unit) -> bool:
    return _DOUBTS.search(unit.text) is not None


@alone
def _binds(unit: Unit) -> bool:
    return CONSTRAINT.search(unit.text) is not None


@alone
def _leaves_open(unit: Unit) -> bool:
    return OPEN.search(unit.text) is not None


@alone
def _concludes(unit: Unit) -> bool:
    text = unit.text
    hedged = INTENT.search(text) or _HEDGED.search(text)
    return CONCLUSION.search(text) is not None and not hedged
