"""Chosen units as the entries of a record: each below its owner, nothing of two on one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from statecomp.llm.extracting.gaps import GAP, begins_late, parted, spoken
from statecomp.llm.extracting.listing.columns import EACH
from statecomp.llm.extracting.pieces import Form, Owner
from statecomp.llm.extracting.steps import Outline
from statecomp.llm.extracting.units import Place, Unit
from statecomp.llm.record import Record, entry

# A rule read in a file or a page is a report of that text, not a rule of ours.
_HEADS = {"constraints": ": output says:"}
WROTE, WROTE_AFTER = "the agent's view before it: ", "the agent's view after it: "
"""What the agent said came before its call: it is about the step until then, and stands below it
where that is in the record.  It is a view: nobody has checked it."""
CONCLUDED = "the agent, before it: "
PART, WHOLE = "; from its output:", "; its output:"
OUTPUT_PART, SENT_PART = "from their output:", "from what it sent:"
COUNTED = (Form.ROW, Form.RULE, Form.LINE)
"""Forms of which a reader should know how many more there were."""


_INSIDE = re.compile(r"(?:.* )?in `.*`\Z")
"""The label of lines of a program, which keep their margin."""
UNSAID = 2
"""How many times longer than all its units an answer is of which they do not say everything."""


@dataclass(frozen=True, slots=True)
class UnitTotals:
    """How many units there were: a part must not look whole.

    Lines and rows of an owner, fields of an owner, and all that a step answered; `whole` are the
    answers that are shown as they are, or not at all, `called` the things a step has of each name.
    """

    below: Mapping[Owner | None, int]
    fields: Mapping[Owner | None, int]
    answered: Mapping[int, int]
    whole: Mapping[int, Sequence[str]] = field(default_factory=dict)
    called: Mapping[tuple[int, str], int] = field(default_factory=dict)
    owners: Mapping[tuple[int, Place, int], Mapping[int, Owner | None]] = field(
        default_factory=dict
    )

    def left_out(self, before: Unit, unit: Unit) -> bool:
        """Whether something stood between two pieces of one text that is of neither.

        What is of one of them is counted below its title, or marked there.
        """
        if not parted(before, unit):
            return False
        known = self.owners.get((unit.step, unit.place, unit.answer), {})
        between = range(before.index + 1, unit.index)
        titled = bool(before.owner and unit.owner) and unit.form is not Form.CODE
        counted = (before.owner, unit.owner) if titled else ()
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
        called = {
            ((unit.step, name_in(unit.label)[0]), name_in(unit.label)[1])
            for unit in told
            if unit.form is Form.FIELD and unit.owner
        }
        return cls(
            Counter(u.owner for u in told if u.form is not Form.FIELD and not is_shared(u)),
            Counter(unit.owner for unit in told if unit.form is Form.FIELD),
            answered,
            whole or {},
            Counter(step_kind for step_kind, _ in called),
            _owners_of(units),
        )


def _owners_of(
    units: Sequence[Unit],
) -> Mapping[tuple[int, Place, int], Mapping[int, Owner | None]]:
    """What each piece of a text is of, by its place there; a title is of what stands below it."""
    titled = {(unit.step, unit.label): unit.owner for unit in units if unit.owner}
    found: dict[tuple[int, Place, int], dict[int, Owner | None]] = {}
    for unit in units:
        owner = unit.owner or titled.get((unit.step, unit.text))
        found.setdefault((unit.step, unit.place, unit.answer), {})[unit.index] = owner
    return found


def is_shared(unit: Unit) -> bool:
    """Whether it is what all rows of a table have in common, and no row."""
    return unit.form is Form.ROW and unit.text.startswith(EACH)


def composed(
    outline: Outline,
    chosen: Sequence[tuple[Unit, str]],
    numbers: Sequence[int],
    totals: UnitTotals,
) -> Record:
    """Each step's line with its units below, and other units under their headings."""
    by_heading: dict[str, dict[int, list[Unit]]] = {}
    remarks: dict[int, list[Unit]] = {}
    for unit, heading in chosen:
        if heading == "facts" and unit.place is Place.SAID:
            remarks.setdefault(unit.step, []).append(unit)
        else:
            by_heading.setdefault(heading, {}).setdefault(unit.step, []).append(unit)
    steps_units = by_heading.pop("facts", {})
    facts = {place: list(_told(units, totals)) for place, units in steps_units.items()}
    lines = dict(outline.lines)
    for place, units in steps_units.items():
        if _each_answered(lines.get(place, "")):
            sent = [unit for unit in units if unit.place is not Place.OBSERVED]
            facts[place] = list(_told(sent, totals))
    for place, said in remarks.items():
        head = WROTE_AFTER if place else WROTE
        facts.setdefault(max(0, place - 1), []).extend(f"{head}{run}" for run in spoken(said))
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
        conclusions=entries.get("conclusions", ()),
        failures=outline.failures,
        unresolved=entries.get("unresolved", ()),
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
        told = [unit for unit in told if unit.place is Place.SAID]
    yield from lines_of(told, totals)
    if sent := list(lines_of([unit for unit in units if unit.place is Place.CALL], totals)):
        yield from (f"{SENT_PART} {sent[0]}",) if len(sent) == 1 else (SENT_PART, *_indented(sent))


def _indented(lines: Sequence[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def lines_of(units: Sequence[Unit], totals: UnitTotals) -> Iterator[str]:
    """The lines that show these units of one step; what the agent said is marked as its own."""
    said = [unit for unit in units if unit.place is Place.SAID]
    yield from (f"{CONCLUDED}{run}" for run in spoken(said))
    shown = [unit for unit in units if unit.place is not Place.SAID]
    labels = {part for unit in shown for part in (unit.label, unit.label.partition("; ")[0])}
    # A line that is the title of others stands above them.
    runs = _runs([u for u in shown if u.owner or u.form is not Form.LINE or u.text not in labels])
    bare, named = _called(runs, totals)
    yield from bare
    yield from _in_order([run for place, run in enumerate(runs) if place not in named], totals)


def _in_order(runs: Sequence[Sequence[Unit]], totals: UnitTotals) -> Iterator[str]:
    """Runs below each other, with dots where something stood between two of them."""
    before: Unit | None = None
    inside = ""
    for place, run in enumerate(runs):
        first, owner, rest = run[0], run[0].owner, runs[place + 1 :]
        if first.form is Form.FIELD:
            yield from _fields(first.label, run, _left(owner, run, totals.fields) > 0)
            yield from _others(first, runs, rest, totals)
            before, inside = None, ""
            continue
        starts = not owner or first.form is Form.CODE  # a title says where it stands
        if totals.left_out(before, first) if before else starts and begins_late(first, runs[0][0]):
            yield GAP
        mine = [unit for other in runs for unit in other if unit.owner == owner]
        left = _left(owner, mine, totals.below)
        yield from _below("" if first.label == inside else first.label, run, left > 0)
        last = all(other[0].owner != owner for other in rest)
        if last and owner and left > 0 and first.form in COUNTED:
            yield f"  (and {left} more)"
        before, inside = run[-1], _inside(run[-1])
    if before and before.index < before.count - 1:
        listed = before.form is Form.LINE and not before.owner
        if listed or before.form is Form.CODE:
            yield GAP  # a list must not end as if that were all


def _others(
    unit: Unit, runs: Sequence[Sequence[Unit]], rest: Sequence[Sequence[Unit]], totals: UnitTotals
) -> Iterator[str]:
    """How many more things of its kind there were, behind the last of those that are shown."""
    kind = name_in(unit.label)[0]
    if kind and not any(name_in(run[0].label)[0] == kind for run in rest):
        shown = {name_in(run[0].label)[1] for run in runs if name_in(run[0].label)[0] == kind}
        left = totals.called.get((unit.step, kind), 0) - len(shown)
        if left > 0:
            yield f"  (and {left} more)"


def _left(owner: Owner | None, shown: Sequence[Unit], whole: Mapping[Owner | None, int]) -> int:
    """How many more of its owner there were than are shown."""
    left = whole.get(owner, 0) - sum(1 for unit in shown if not is_shared(unit))
    if shown[0].form is Form.FIELD:
        # The label may be a field of its own.
        left -= all(unit.text != shown[0].label.rpartition("; ")[2] for unit in shown)
    return left


def _runs(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units in their order, those of one owner that follow each other together.

    The fields of an object stand together where the first of them stood.
    """
    runs: list[list[Unit]] = []
    objects: dict[Owner, list[Unit]] = {}
    for unit in units:
        field = unit.form is Form.FIELD
        known = objects.get(unit.owner) if field and unit.owner else None
        last = runs[-1][-1] if runs else None
        if known is not None:
            known.append(unit)
        elif last and not field and last.form is not Form.FIELD and last.owner is unit.owner:
            runs[-1].append(unit)
        else:
            runs.append([unit])
            if field and unit.owner:
                objects[unit.owner] = runs[-1]
    return runs


def _inside(unit: Unit) -> str:
    """The label of what follows a block of a program, where the block shows it already."""
    if unit.form is not Form.CODE:
        return ""
    return unit.label or f"in `{unit.text.split(chr(10))[0].strip()}`"


def _called(runs: Sequence[Sequence[Unit]], totals: UnitTotals) -> tuple[list[str], frozenset[int]]:
    """Things of which nothing but the name is shown, on one line, and which runs these are."""
    names: dict[str, list[str]] = {}
    found: dict[str, list[int]] = {}
    for place, run in enumerate(runs):
        kind, value = name_in(run[0].label)
        name = kind.rpartition("; ")[2]
        if run[0].form is Form.FIELD and kind and {u.text for u in run} == {f"{name}: {value}"}:
            names.setdefault(kind, []).append(value)
            found.setdefault(kind, []).append(place)
    several = {name: values for name, values in names.items() if len(values) > 2}
    lines = []
    for name, values in several.items():
        left = totals.called.get((runs[found[name][0]][0].step, name), 0) - len(values)
        lines.append(f"{name}: {', '.join(values)}" + (f" (and {left} more)" if left > 0 else ""))
    return lines, frozenset(place for name in several for place in found[name])


def name_in(label: str) -> tuple[str, str]:
    """What an owner's label says it is called by, with what it is part of, and its name."""
    head, colon, value = label.rpartition("; ")[2].partition(": ")
    return (f"{label.removesuffix(f'{head}: {value}')}{head}", value) if colon else ("", "")


def _fields(label: str, units: Sequence[Unit], part: bool) -> Iterator[str]:
    """The fields of one object on one line, behind what tells the object from others."""
    known = label.split("; ") if label else []
    others = [unit for unit in units if unit.text not in known]
    if units[0].place is Place.CALL:
        yield from dict.fromkeys(unit.text for unit in others)
        return
    yield "; ".join((*known, *_merged(others), *((GAP,) if part else ())))


def _merged(units: Sequence[Unit]) -> Iterator[str]:
    """The fields, runs of one list under its name said once, with dots where some are left out."""
    for key, run in groupby(units, key=lambda unit: _key_of(unit.text)):
        first, *others = run
        told, before = first.text, first
        for unit in others:
            text = unit.text.removeprefix(f"{key}: ")
            if unit.index == before.index + 1:
                text = text.removeprefix(f"{GAP}, ")
            told, before = f"{told}{', ' if key else '; '}{text}", unit
        yield told


def _key_of(text: str) -> str:
    key, colon, _ = text.partition(": ")
    return key if colon else ""


def _below(label: str, units: Sequence[Unit], part: bool) -> Iterator[str]:
    """The units of a table, a section or a function below its label.

    One of several does not stand behind the label: "43 found: a.txt" would be a claim.
    """
    form = units[0].form
    if label and form in (Form.LINE, Form.RULE) and len(units) == 1 and not part:
        yield f"{label.rstrip(':')}: {units[0].text}"
        return
    margin = "  " if label and not (form is Form.CODE and _INSIDE.match(label)) else ""
    if label:
        yield label
    before = units[0]
    for unit in units:
        if parted(before, unit):
            yield f"{margin}{GAP}"
        before = unit
        for line in filter(str.strip, unit.text.split("\n")):
            yield f"{margin}{line.rstrip()}"


def label_cost(unit: Unit, opened: Mapping[tuple[int, Owner], bool]) -> int:
    """The characters its owner's label adds where nothing of that owner is shown yet."""
    if unit.owner is None or (unit.step, unit.owner) in opened:
        return 0
    return len(unit.label) if unit.text not in unit.label else 0
