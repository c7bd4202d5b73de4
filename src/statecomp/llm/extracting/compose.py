"""Chosen units as the entries of a record: each below its owner, nothing of two on one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from statecomp.llm.extracting.pieces import Form, Owner
from statecomp.llm.extracting.steps import Outline
from statecomp.llm.extracting.units import Place, Unit
from statecomp.llm.record import Record, entry

# A rule read in a file or a page is a report of that text, not a rule of ours.
_HEADS = {"constraints": ": output says:"}
WROTE, WROTE_AFTER = "before it the agent wrote: ", "then the agent wrote: "
"""What the agent said came before its call: it is about the step until then, and stands below it
where that is in the record."""


def composed(
    outline: Outline,
    chosen: Sequence[tuple[Unit, str]],
    numbers: Sequence[int],
    sizes: Mapping[Owner | None, int],
) -> Record:
    """Each step's line with its units below, and other units under their headings."""
    by_heading: dict[str, dict[int, list[Unit]]] = {}
    remarks: dict[int, list[str]] = {}
    for unit, heading in chosen:
        if heading == "facts" and unit.place is Place.SAID:
            remarks.setdefault(unit.step, []).append(unit.text)
        else:
            by_heading.setdefault(heading, {}).setdefault(unit.step, []).append(unit)
    facts = {
        place: list(lines_of(units, sizes)) for place, units in by_heading.pop("facts", {}).items()
    }
    for place, said in remarks.items():
        remark = " ... ".join(said)
        if place:
            facts.setdefault(place - 1, []).append(f"{WROTE_AFTER}{remark}")
        else:
            facts.setdefault(place, []).insert(0, f"{WROTE}{remark}")
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
    told += [entry(f"{numbers[place]}:", facts[place]) for place in sorted(facts)]
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
    groups: dict[Group, list[Unit]] = {}
    for place, unit in enumerate(units):
        if unit.place is Place.SAID:
            continue
        # Units without an owner stand alone; those of one owner, and code, stand together.
        alone = not unit.owner and unit.form is not Form.CODE
        key = (unit.owner, place if alone else -1, unit.form is Form.FIELD)
        groups.setdefault(key, []).append(unit)
    bare, named = _called(groups)
    yield from bare
    for key, group in groups.items():
        if key in named:
            continue
        owner, _, fields = key
        label = owner.label if owner else ""
        yield from _fields(label, group) if fields else _below(label, group)
        left = sizes.get(owner, 0) - len(group)
        if not fields and owner and left > 0:
            yield f"  (and {left} more)"


Group: TypeAlias = tuple[Owner | None, int, bool]


def _called(groups: Mapping[Group, Sequence[Unit]]) -> tuple[list[str], set[Group]]:
    """Things of which nothing but the name is shown, on one line, and which groups these are."""
    names: dict[str, list[str]] = {}
    found: dict[str, list[Group]] = {}
    for key, group in groups.items():
        owner, _, fields = key
        name, colon, value = (owner.label if owner else "").rpartition("; ")[2].partition(": ")
        if fields and colon and all(unit.text == f"{name}: {value}" for unit in group):
            before = owner.label.removesuffix(f"{name}: {value}") if owner else ""
            names.setdefault(f"{before}{name}", []).append(value)
            found.setdefault(f"{before}{name}", []).append(key)
    several = {name: values for name, values in names.items() if len(values) > 2}
    lines = [f"{name}: {', '.join(values)}" for name, values in several.items()]
    return lines, {key for name in several for key in found[name]}


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
