"""Chosen units as the entries of a record: each below its owner, nothing of two on one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from statecomp.records.extracting.pieces import Owner
from statecomp.records.extracting.showing.lines import lines_of
from statecomp.records.extracting.showing.totals import UnitTotals
from statecomp.records.extracting.steps import Outline
from statecomp.records.extracting.units import Place, Unit
from statecomp.records.record import Record, entry

# A rule read in a file or a page is a report of that text, not a rule of ours.
_HEADS = {"constraints": ": output says:"}
PART, WHOLE = "; from its output:", "; its output:"
OUTPUT_PART, SENT_PART = "from their output:", "from what it sent:"


class TellsUnits:
    """The lines of some units of a step, written once: most stay while a record is filled."""

    def __init__(self, totals: UnitTotals) -> None:
        self.totals = totals
        self._known: dict[tuple[int, ...], list[str]] = {}

    def lines(self, units: Sequence[Unit]) -> list[str]:
        name = tuple(map(id, units))
        if (known := self._known.get(name)) is None:
            known = self._known[name] = list(_told(units, self.totals))
        return known.copy()


def composed(
    outline: Outline,
    chosen: Sequence[tuple[Unit, str]],
    numbers: Sequence[int],
    tells: TellsUnits,
) -> Record:
    """Each step's line with its units below, and other units under their headings."""
    totals = tells.totals
    by_heading: dict[str, dict[int, list[Unit]]] = {}
    for unit, heading in chosen:
        by_heading.setdefault(heading, {}).setdefault(unit.step, []).append(unit)
    steps_units = by_heading.pop("facts", {})
    facts = {place: tells.lines(units) for place, units in steps_units.items()}
    lines = dict(outline.lines)
    for place, units in steps_units.items():
        if _each_answered(lines.get(place, "")):
            sent = [unit for unit in units if unit.place is not Place.OBSERVED]
            facts[place] = tells.lines(sent)
    for place, views in outline.views.items():
        facts.setdefault(place, []).extend(views)
    entries = {
        heading: tuple(
            entry(f"{numbers[step]}{_HEADS.get(heading, ':')}", list(lines_of(units, totals)))
            for step, units in steps.items()
        )
        for heading, steps in by_heading.items()
    }
    told = [
        "\n  ".join((_marked(line, steps_units.get(place, ()), totals), *facts.pop(place, ())))
        if place >= 0
        else line
        for place, line in outline.lines
    ]
    told += [entry(f"{numbers[place]}:", facts[place]) for place in sorted(facts)]
    return Record(
        facts=tuple(told),
        constraints=entries.get("constraints", ()),
        locations=(*outline.locations, *entries.get("locations", ())),
        unresolved=outline.unresolved,
    )


def _marked(line: str, units: Sequence[Unit], totals: UnitTotals) -> str:
    """A step's line, with what stands below it announced as all or as a part of the answer."""
    shown = [unit for unit in units if unit.place is Place.OBSERVED]
    if not shown:
        return line
    if _each_answered(line):
        return "\n  ".join(_below_calls(line, shown, totals))
    if "\n" in line:
        return f"{line}\n  {OUTPUT_PART}"
    step = shown[0].step
    whole = step in totals.whole or len(shown) >= totals.answered[step]
    return f"{line.rstrip(':')}{WHOLE if whole else PART}"


def _each_answered(line: str) -> bool:
    """Whether the line of a step tells each of its calls with the answer to it."""
    return all(" -> " in call for call in line.split("\n  ")[1:]) and "\n" in line


def _below_calls(line: str, shown: Sequence[Unit], totals: UnitTotals) -> Iterator[str]:
    """Each call with what is shown of its own answer."""
    head, *calls = line.split("\n  ")
    yield head
    for place, call in enumerate(calls):
        mine = [unit for unit in shown if min(unit.answer, len(calls) - 1) == place]
        yield f"{call}{PART}" if mine else call
        yield from _indented(list(lines_of(mine, totals)))


def _told(units: Sequence[Unit], totals: UnitTotals) -> Iterator[str]:
    """What a step answered, then what it had sent: nobody should take one for the other."""
    told = [unit for unit in units if unit.place is not Place.CALL]
    if any(unit.place is Place.OBSERVED for unit in told) and told[0].step in totals.whole:
        yield from totals.whole[told[0].step]
    else:
        yield from lines_of(told, totals)
    if sent := list(lines_of([unit for unit in units if unit.place is Place.CALL], totals)):
        yield from (f"{SENT_PART} {sent[0]}",) if len(sent) == 1 else (SENT_PART, *_indented(sent))


def _indented(lines: Sequence[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def label_cost(unit: Unit, opened: Mapping[tuple[int, Owner], bool]) -> int:
    """The characters its owner's label adds where nothing of that owner is shown yet."""
    if unit.owner is None or (unit.step, unit.owner) in opened:
        return 0
    return len(unit.label) if unit.text not in unit.label else 0
