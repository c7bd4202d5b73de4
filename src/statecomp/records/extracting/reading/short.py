"""Answers so short that they stand in a record as they are: nothing is read into their parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from statecomp.history.interaction import Interaction
from statecomp.records.extracting.reading.misleading import addresses
from statecomp.records.extracting.reading.noise import orders, telling
from statecomp.records.extracting.reading.page import is_page
from statecomp.records.extracting.units import of_step, parts_of
from statecomp.records.extracting.unwrap import Payload
from statecomp.records.record import framelike

_DATA = re.compile(r"""\s*[\[{]\s*[\["'{\d\]}]""")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
LINES, CHARS = 12, 400
"""Of an answer that is shown as it is; a longer one is cut into its pieces."""


def whole_answers(span: Sequence[Interaction]) -> Mapping[int, list[str]]:
    """The lines of the short answers, by the places of their steps; none that gives orders."""
    found = {}
    for step, member in enumerate(span):
        lines = _lines(member)
        if 0 < len(lines) <= LINES and sum(map(len, lines)) <= CHARS:
            found[step] = lines
    return found


@of_step
def _lines(member: Interaction) -> list[str]:
    payloads = parts_of(member).payloads
    return _shown(payloads[0]) if len(payloads) == 1 else []


def _shown(payload: Payload) -> list[str]:
    text = payload.text
    if payload.window or len(text) > 3 * CHARS or _DATA.match(text):
        return []
    if is_page(text.split("\n")):
        return []  # most of it is furniture
    lines = (_CONTROL.sub(" ", line).rstrip() for line in telling(text.split("\n")))
    told = [line for line in lines if line]
    places = text.count(", Global Line ")  # each stands on the line of what was found there
    if len(told) + places < sum(map(bool, map(str.strip, text.split("\n")))):
        return []  # what says nothing was left out
    # Asked of the answer as it came: what only a part of is shown must not be called whole.
    asks = any(orders(line) or addresses(line) for line in text.split("\n"))
    return [] if asks or framelike(text) else told
