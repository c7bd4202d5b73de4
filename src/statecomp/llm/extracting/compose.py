"""Chosen units as the entries of a record: each below its owner, nothing of two on one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from statecomp.llm.extracting.pieces import Form, Owner
from statecomp.llm.extracting.steps import Outline
from statecomp.llm.extracting.units import Place, Unit
from statecomp.llm.record import Record, entry

# A rule read in a file or a page is a report of that text, not a rule of ours.
_HEADS = {"constraints": ": output says:"}
WROTE = "before it the agent wrote: "
"""What the agent said came before its call: it is about the steps until then."""


def composed(
    outline: Outline,
    chosen: Sequence[tuple[Unit, str]],
    numbers: Sequence[int],
    sizes: Mapping[Owner | None, int],
) -> Record:
    """Each step's line with its units below, and other units under their headings."""
    by_heading: dict[str, dict[int, list[Unit]]] = {}
    for unit, heading in chosen:
        by_heading.setdefault(heading, {}).setdefault(unit.step, []).append(unit)
    facts = {
        place: list(lines_of(units, sizes)) for place, units in by_heading.pop("facts", {}).items()
    }
    entries = {
        heading: tuple(
            entry(f"{numbers[step]}{_HEADS.get(heading, ':')}", list(lines_of(units, sizes)))
            for step, units in steps.items()
        )
        for heading, steps in by_heading.items()
    }
    told = [
        "\n  ".join((line, *facts.pop(place, ()))) if place >= 0 else line
        for place, line in outline.lines
    ]
    told += [entry(f"{numbers[place]}:", lines) for place, lines in facts.items()]
    return Record(
        facts=tuple(told),
        constraints=entries.get("constraints", ()),
        locations=(*outline.locations, *entries.get("locations", ())),
        conclusions=entries.get("conclusions", ()),
        failures=outline.failures,
        unresolved=(*outline.unresolved, *entries.get("unresolved", ())),
    )


def lines_of(units: Sequence[Unit], sizes: Mapping[Owner | None, int]) -> Iterator[str]:
    """The lines that show these units of one step; what the agent wrote is marked as its words.

    `sizes` tells how many lines and rows each owner has: a part of a list must not look whole.
    """
    if said := [unit.text for unit in units if unit.place is Place.SAID]:
        yield f"{WROTE}{' ... '.join(said)}"
    groups: dict[tuple[Owner | None, int, bool], list[Unit]] = {}
    for place, unit in enumerate(units):
        if unit.place is Place.SAID:
            continue
        # Units without an owner stand alone; those of one owner, and code, stand together.
        alone = not unit.owner and unit.form is not Form.CODE
        key = (unit.owner, place if alone else -1, unit.form is Form.FIELD)
        groups.setdefault(key, []).append(unit)
    for (owner, _, fields), group in groups.items():
        label = owner.label if owner else ""
        yield from _fields(label, group) if fields else _below(label, group)
        left = sizes.get(owner, 0) - len(group)
        if not fields and owner and left > 0:
            yield f"  (and {left} more)"


def _fields(label: str, units: Sequence[Unit]) -> Iterator[str]:
    """The fields of one object on one line, behind what tells the object from others."""
    known = label.split("; ") if label else []
    texts = [unit.text for unit in units if unit.text not in known]
    if units[0].place is Place.CALL:
        yield from dict.fromkeys(texts)
        return
    yield "; ".join((*known, *_merged(texts)))


def _merged(texts: Sequence[str]) -> Iterator[str]:
    """Runs of one list under its name said once."""
    for key, run in groupby(texts, key=_key_of):
        first, *others = run
        values = (text.removeprefix(f"{key}: ") for text in others)
        yield ", ".join((first, *values)) if key else "; ".join((first, *others))


def _key_of(text: str) -> str:
    key, colon, _ = text.partition(": ")
    return key if colon else ""


def _below(label: str, units: Sequence[Unit]) -> Iterator[str]:
    """The units of a table, a section or a function below its label."""
    form = units[0].form
    if label and form in (Form.LINE, Form.RULE) and len(units) == 1:
        yield f"{label.rstrip(':')}: {units[0].text}"
        return
    margin = ""
    if label:
        yield label
        margin = "  "
    before = units[0].index
    for unit in units:
        if form is Form.CODE and unit.index > before + 1:
            yield f"{margin}..."
        before = unit.index
        for line in filter(str.strip, unit.text.split("\n")):
            yield f"{margin}{line.rstrip()}"


def label_cost(unit: Unit, opened: Mapping[tuple[int, Owner], bool]) -> int:
    """The characters its owner's label adds where nothing of that owner is shown yet."""
    if unit.owner is None or (unit.step, unit.owner) in opened:
        return 0
    return len(unit.label) if unit.text not in unit.label else 0
