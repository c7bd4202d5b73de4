"""Values and files that a later step replaced: of one thing only the last one holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.history.interaction import Interaction
from statecomp.llm.extracting.pieces import Form, one_line
from statecomp.llm.extracting.reading.window import WHOLE_FILE
from statecomp.llm.extracting.units import Place, Unit, parts_of

_OPENED = re.compile(r"^\[File: (.{1,400}) \(\d+ lines total\)\]", re.MULTILINE)
SHORTEST = 4
"""Characters of a line that tells one version of a file from another."""


def lasting(units: Sequence[Unit]) -> list[Unit]:
    """The units without superseded values, also where a call sent such a value once more."""
    shared = _shared(units)
    last: dict[tuple[str, str], str] = {}
    stale: set[tuple[str, str]] = set()
    for unit in units:
        key, colon, value = unit.text.partition(": ")
        if unit.form is not Form.FIELD or unit.place is not Place.OBSERVED or not colon:
            continue
        if not unit.label or (unit.step, unit.label) in shared:
            continue
        before = last.get((unit.label, key))
        if before is not None and before != value:
            stale.add((key, before))
        stale.discard((key, value))
        last[unit.label, key] = value
    return [unit for unit in units if not _is_stale(unit, stale, last)]


def _shared(units: Sequence[Unit]) -> set[tuple[int, str]]:
    """Labels that two things of one step have: nobody knows whose value is whose."""
    owners: dict[tuple[int, str], object] = {}
    found = set()
    for unit in units:
        if unit.owner and owners.setdefault((unit.step, unit.label), unit.owner) != unit.owner:
            found.add((unit.step, unit.label))
    return found


def _is_stale(unit: Unit, stale: set[tuple[str, str]], last: dict[tuple[str, str], str]) -> bool:
    key, _, value = unit.text.partition(": ")
    if unit.form is not Form.FIELD or (key, value) not in stale:
        return False
    if unit.place is Place.CALL:
        return len(value) > 6  # `n: 1` may be anything
    return last.get((unit.label, key), value) != value


def overwritten(
    units: Sequence[Unit], span: Sequence[Interaction], after: Sequence[Interaction]
) -> frozenset[int]:
    """Places of what an older version of a file had, and one that is shown whole since has not."""
    paths = [_path(member) for member in span]
    newest: dict[str, tuple[int, frozenset[str]]] = {}
    for step, member in enumerate((*span, *after)):
        texts = [p.text for p in parts_of(member).payloads if p.window.startswith(WHOLE_FILE)]
        if len(texts) == 1 and (path := _path(member)):
            newest[path] = step, frozenset(map(one_line, texts[0].split("\n")))
    found = set()
    for place, unit in enumerate(units):
        step, lines = newest.get(paths[unit.step], (-1, frozenset()))
        if step > unit.step and unit.place is not Place.SAID:
            told = (one_line(line) for line in unit.text.split("\n"))
            if any(len(line) >= SHORTEST and line not in lines for line in told):
                found.add(place)
    return frozenset(found)


def _path(member: Interaction) -> str:
    """The one file that an answer says it shows."""
    found = dict.fromkeys(_OPENED.findall(member.observed))
    return next(iter(found)) if len(found) == 1 else ""
