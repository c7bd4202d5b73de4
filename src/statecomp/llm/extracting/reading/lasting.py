"""Values that a later step replaced: of one field of one thing only the last one holds."""

from __future__ import annotations

from collections.abc import Sequence

from statecomp.llm.extracting.pieces import Form
from statecomp.llm.extracting.units import Place, Unit


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
