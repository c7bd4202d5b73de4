"""How many pieces there were of what a record shows: a part must not look whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from statecomp.records.extracting.gaps import parted
from statecomp.records.extracting.listing.columns import EACH
from statecomp.records.extracting.pieces import Form, Owner
from statecomp.records.extracting.units import Place, Unit

_DATA = Owner("data")
"""What fields and counts are of, where two titles stand around them: they stand for themselves."""
UNSAID = 2
"""How many times longer than all its units an answer is of which they do not say everything."""


@dataclass(frozen=True, slots=True)
class UnitTotals:
    """How many units there were: a part must not look whole.

    Lines and rows of an owner, fields of an owner, and all that a step answered; `whole` are the
    answers that are shown as they are, or not at all, `called` the things a step has of each name,
    `titles` the labels that no two things of an answer have, `parts` the units of each owner.
    """

    below: Mapping[Owner | None, int]
    fields: Mapping[Owner | None, int]
    answered: Mapping[int, int]
    whole: Mapping[int, Sequence[str]] = field(default_factory=dict)
    called: Mapping[tuple[int, int, str], int] = field(default_factory=dict)
    owners: Mapping[tuple[int, Place, int], Mapping[int, Owner | None]] = field(
        default_factory=dict
    )
    titles: Collection[str] = frozenset()
    parts: Mapping[Owner, Sequence[Unit]] = field(default_factory=dict)

    def left_out(self, before: Unit, unit: Unit) -> bool:
        """Whether something stood between two pieces of one text that is of neither.

        What is of one of them is counted below its title, or marked there.
        """
        if not parted(before, unit):
            return False
        known = self.owners.get((unit.step, unit.place, unit.answer), {})
        between = range(before.index + 1, unit.index)
        titled = bool(before.owner and unit.owner) and unit.form is not Form.CODE
        counted = (before.owner, unit.owner, _DATA) if titled else ()
        return any(place not in known or known[place] not in counted for place in between)

    @classmethod
    def of(
        cls,
        units: Sequence[Unit],
        lengths: Sequence[int] = (),
        whole: Mapping[int, Sequence[str]] | None = None,
    ) -> UnitTotals:
        """The totals; `lengths` are those of the answers, of which units may say a part only."""
        told = [unit for unit in units if unit.form is not Form.LIST]
        answered = Counter(unit.step for unit in told if unit.place is Place.OBSERVED)
        said = Counter[int]()
        for unit in told:
            if unit.place is Place.OBSERVED:
                said[unit.step] += len(unit.text)
        for step, length in enumerate(lengths):
            if length > UNSAID * said[step]:
                answered[step] += 1
        pieces = Counter((unit.step, unit.answer) for unit in units if unit.place is Place.OBSERVED)
        for unit in told:
            # Something was left out before anybody could choose it.
            if unit.place is Place.OBSERVED and unit.count > pieces[unit.step, unit.answer]:
                answered[unit.step] += 1
        owners = {(u.step, u.answer, u.owner) for u in told if u.form is Form.FIELD and u.owner}
        return cls(
            Counter(u.owner for u in told if u.form is not Form.FIELD and not is_shared(u)),
            Counter(unit.owner for unit in told if unit.form is Form.FIELD and not is_label(unit)),
            answered,
            whole or {},
            Counter((step, answer, name_in(owner.label)[0]) for step, answer, owner in owners),
            _owners_of(units),
            _titles(told),
            _parts(told),
        )


def _parts(units: Sequence[Unit]) -> Mapping[Owner, Sequence[Unit]]:
    found: dict[Owner, list[Unit]] = {}
    for unit in units:
        if unit.owner and not is_shared(unit):
            found.setdefault(unit.owner, []).append(unit)
    return found


def _titles(units: Sequence[Unit]) -> frozenset[str]:
    owners: dict[tuple[int, Place, int, str], Owner] = {}
    several = set[str]()
    for unit in units:
        key = unit.step, unit.place, unit.answer, unit.label
        if unit.owner and owners.setdefault(key, unit.owner) is not unit.owner:
            several.add(unit.label)
    return frozenset(label for *_, label in owners if label not in several)


def _owners_of(
    units: Sequence[Unit],
) -> Mapping[tuple[int, Place, int], Mapping[int, Owner | None]]:
    """What each piece of a text is of, by its place there; a title is of what stands below it."""
    titled = {(unit.step, unit.label): unit.owner for unit in units if unit.owner}
    found: dict[tuple[int, Place, int], dict[int, Owner | None]] = {}
    for unit in units:
        owner = unit.owner or titled.get((unit.step, unit.text))
        owner = _DATA if unit.form in (Form.FIELD, Form.LIST) else owner
        found.setdefault((unit.step, unit.place, unit.answer), {})[unit.index] = owner
    return found


def is_shared(unit: Unit) -> bool:
    """Whether it is what all rows of a table have in common, and no row."""
    return unit.form is Form.ROW and unit.text.startswith(EACH)


def is_label(unit: Unit) -> bool:
    """Whether it is a field that its owner is called by: it stands wherever another one does."""
    return unit.text == unit.label.rpartition("; ")[2]


def name_in(label: str) -> tuple[str, str]:
    """What an owner's label says it is called by, with what it is part of, and its name."""
    head, colon, value = label.rpartition("; ")[2].partition(": ")
    return (f"{label.removesuffix(f'{head}: {value}')}{head}", value) if colon else ("", "")
