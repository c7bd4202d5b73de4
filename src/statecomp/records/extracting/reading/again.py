"""Answers that came before: what came once more is told by the step that was answered it first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.extracting.units import of_step, parts_of

BRIEF, SHORT = 40, 400
"""Characters of an answer that is said in its own words however often it came, and of one that is
where the other step stands outside the record: who can look it up there seldom does for a line."""
NEAR = 24
"""How many characters two answers may differ by that may be equal but for how long they took."""
_TIME = r"[\d.] ?(?:ms|s|sec|secs|seconds?)\b"
_TOOK = re.compile(
    rf"(?:\b(?:time|took|elapsed|duration|in)\b\W{{1,3}})[\d.]{{0,11}}{_TIME}", re.IGNORECASE
)
_TIMED = re.compile(_TIME, re.IGNORECASE)
"""Few answers have a time, and it is looked for much quicker than the words before it."""


def answered_again(span: Sequence[Interaction], situation: Situation) -> Mapping[int, int]:
    """By its place in the span, the number of the step that a step's answer stands at as well.

    That is one that stays as it is, or else the first of the span.  What is replaced together with
    the span is none: each of the two would send its reader to the other.
    """
    lengths = [size for member in span if (size := len(member.observed)) > SHORT]
    going = {step.id for steps in situation.going for step in steps}
    known: dict[int, int] = {}
    for member in situation.interactions:
        length = len(member.observed)
        near = any(abs(length - other) <= NEAR for other in lengths)
        if near and member.id not in going and (answer := _answer(member)):
            known.setdefault(answer, member.number)
    again: dict[int, int] = {}
    for place, member in enumerate(span):
        if answer := _answer(member):
            if answer in known:
                again[place] = known[answer]
            else:
                known[answer] = member.number
    return again


@of_step
def _answer(member: Interaction) -> int:
    """What tells the answer of one call from others; 0 of several, and where it is brief."""
    payloads = parts_of(member).payloads
    if len(payloads) != 1:
        return 0
    text = payloads[0].text or repr(payloads[0].body)
    if len(text) < BRIEF:
        return 0
    told = _TOOK.sub("", text) if _TIMED.search(text) else text
    return hash((told, payloads[0].ended)) or 1
