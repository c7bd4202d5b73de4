"""Which units are rules: sections of a document that binds the work."""

from __future__ import annotations

from collections.abc import Container, Sequence

from statecomp.records.extracting.pieces import Form, Owner
from statecomp.records.extracting.units import Place, Unit, alone
from statecomp.records.markers import CONSTRAINT

RULES = 0.3
"""The share of a section's sentences that bind, from which on all of it is rules."""


def headings_of(units: Sequence[Unit], binding: Container[int] = ()) -> list[str]:
    """The heading of each unit: what belongs to one owner in one step stays together.

    Rules are those of a document that binds the work, read at a step of `binding`: what else an
    output says must be done may be of anything.
    """
    rules = _rule_owners(units, binding)
    sent: dict[int, str] = {}
    for unit in units:
        if unit.place is Place.CALL:
            sent[unit.step] = f"{sent.get(unit.step, '')} {unit.text}"
    # What the agent wrote itself, and was shown again, binds nobody.
    return [
        "constraints"
        if unit.form is Form.RULE
        and unit.owner
        and (unit.step, unit.owner) in rules
        and unit.text not in sent.get(unit.step, "")
        else "facts"
        for unit in units
    ]


def _rule_owners(units: Sequence[Unit], binding: Container[int]) -> set[tuple[int, Owner | None]]:
    """Sections of which a good part binds; one word like "only" makes no rules of a page."""
    told: dict[tuple[int, Owner | None], list[bool]] = {}
    for unit in units:
        if unit.form is Form.RULE and unit.place is Place.OBSERVED and unit.step in binding:
            told.setdefault((unit.step, unit.owner), []).append(_binds(unit))
    return {key for key, binds in told.items() if sum(binds) >= max(1, RULES * len(binds))}


@alone
def _binds(unit: Unit) -> bool:
    return CONSTRAINT.search(unit.text) is not None
