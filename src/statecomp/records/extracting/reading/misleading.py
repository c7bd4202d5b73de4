"""What must not stand in a record as it is, and which documents must not stand in it in part."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.history.situation import Situation
from statecomp.records.extracting.order.worded import spoken_in
from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.reading.noise import (
    intends,
    orders,
)
from statecomp.records.extracting.steps import KnownStep
from statecomp.records.extracting.units import Place, Unit, alone
from statecomp.records.markers import ADDRESSED, ADDRESSED_WORDS
from statecomp.records.record import framelike


@alone
def misleads(unit: Unit) -> bool:
    """Whether it gives its reader orders, or looks like the frame of the record it would be in."""
    text = unit.text
    plain = unit.form in (Form.LINE, Form.RULE)
    if (
        unit.place is Place.OBSERVED
        and unit.form is Form.LINE
        and (_crumb(text) or orders(text) or (not unit.owner and _BARE_LINK.match(text)))
    ):
        return True
    if unit.form is not Form.FIELD and _SCRAP.match(text):
        return True
    if unit.place is Place.OBSERVED and plain and unit.count > ALONE and _numbers(text):
        return True
    if unit.form is Form.CODE and (
        _LICENSE.search(text) or all(map(_IMPORTS.match, text.split("\n")))
    ):
        return True
    if unit.form is Form.CODE and unit.place is Place.CALL and _shred(unit):
        return True
    if unit.place is Place.CALL and plain and intends(f"{unit.label.rstrip(':')} {text}"):
        return True
    return addresses(text) or framelike(text)


def addresses(text: str) -> bool:
    """Whether it speaks to an agent, and not of anything."""
    return not ADDRESSED_WORDS.isdisjoint(spoken_in(text)) and bool(ADDRESSED.search(text))


_LICENSE = re.compile(
    r"Licensed under the|WARRANT(?:Y|IES)\b|may not use this file|License for the"
)
_IMPORTS = re.compile(
    r"\s*(?:edit \d+:\d+|import |from \S+ import |#include |using |package |use |\Z)"
)
"""What every file begins with; it says what a program uses, not what it does."""
SHRED = 3


def _shred(unit: Unit) -> bool:
    """Whether it is a line or two of a program the agent sent, which has many more."""
    return unit.count > SHRED and unit.text.count("\n") + 1 < SHRED


_NUMBER = re.compile(r"[^A-Za-z]+[kKMGTB%]{0,2}|[IVX]{1,4}\.?|NaN")
ALONE = 4
"""Pieces of an answer that is more than a row or two of numbers."""
_SCRAP = re.compile(r"(?:\.\.\. )?\S{200,}\Z")
"""A piece out of the middle of one long word: an address, a token, a picture as text."""
_BARE_LINK = re.compile(r"\W*https?://\S+\Z")
"""A link that nothing tells of where it leads."""


def _numbers(text: str) -> bool:
    """Whether it is a row of numbers, which says nothing without the header it stood under."""
    words = text.split()
    return len(words) > 1 and all(map(_NUMBER.fullmatch, words)) and any(map(str.isdigit, text))


def _crumb(text: str) -> bool:
    """Whether no word of it is longer than a letter."""
    return len(text) < 4 and not any(len(word) > 1 for word in text.split())


_BINDING = re.compile(
    r"rule|polic(?:y|ies)|guideline|handbook|convention|requirement|instruction|"
    r"spec(?:ification)?\b|terms\b",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(r"[\w-]{2,80}\.(?:md|txt|rst|pdf|html?|docx?)\b")


def binding(steps: Sequence[KnownStep], situation: Situation) -> frozenset[int]:
    """The steps that read a document of rules: it is called so, or the user names it."""
    asked = "\n".join(situation.asked)
    return frozenset(
        place
        for place, step in enumerate(steps)
        if any(
            _BINDING.search(name) or name in asked
            for name in _DOCUMENT.findall(step.action.text[:400])
        )
    )
