"""Where something was left out: what stood apart must not be read as if it stood side by side."""

from __future__ import annotations

from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.units import Unit

GAP = "..."
"""Stands between two pieces of a text that did not follow each other."""


def begins_late(unit: Unit, first: Unit) -> bool:
    """Whether it is the first of what is shown, and others stood before it."""
    return unit is first and unit.form in (Form.LINE, Form.CODE) and unit.index > 0


def parted(before: Unit, unit: Unit) -> bool:
    """Whether something stood between two pieces of one text."""
    text = {Form.LINE, Form.RULE, Form.CODE, Form.ROW}
    fields = before.form is unit.form is Form.FIELD  # each stands for itself
    told = not fields and {before.form, unit.form} <= text | {Form.FIELD}
    return told and before.answer == unit.answer and unit.index > before.index + 1
