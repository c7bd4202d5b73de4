"""Where something was left out: what stood apart must not be read as if it stood side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.units import Unit

GAP = "..."
"""Stands between two pieces of a text that did not follow each other."""


def begins_late(first: Unit) -> bool:
    """Whether others stood before the first of what is shown."""
    return first.form in (Form.LINE, Form.CODE) and first.index > 0


def parted(before: Unit, unit: Unit) -> bool:
    """Whether something stood between two pieces of one text."""
    text = {Form.LINE, Form.RULE, Form.CODE, Form.ROW}
    fields = before.form is unit.form is Form.FIELD  # each stands for itself
    told = not fields and {before.form, unit.form} <= text | {Form.FIELD}
    return told and before.answer == unit.answer and unit.index > before.index + 1


def between(before: Unit, stop: int) -> Iterator[str]:
    """What is said of all between a piece and a later place: how many are like it, dots for the
    others.
    """
    like = _like(before, stop)
    if like:
        yield f"({like} more like it)"
    if before.index + 1 + like < stop:
        yield GAP


def _like(before: Unit, stop: int) -> int:
    return len(range(before.index + 1, min(stop, before.alike.stop)))


def like_told(shown: Sequence[Unit]) -> int:
    """How many more lines like those that are shown are counted behind these."""
    stops = [*(unit.index for unit in shown[1:]), shown[-1].count]
    return sum(map(_like, shown, stops))
