"""The units of one step as lines: in their order, each below what it is of."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby

from statecomp.records.extracting.gaps import GAP, begins_late, between, like_told, parted
from statecomp.records.extracting.pieces import Form, Owner
from statecomp.records.extracting.reading.nesting import heads_in
from statecomp.records.extracting.showing.missing import keys_missing, more, rows_missing
from statecomp.records.extracting.showing.nested import Labelled, nested, unlabelled
from statecomp.records.extracting.showing.totals import UnitTotals, is_label, is_shared, name_in
from statecomp.records.extracting.units import Unit, alone

COUNTED = (Form.ROW, Form.RULE, Form.LINE)
"""Forms of which a reader should know how many more there were."""
_INSIDE = re.compile(r"(?:.* )?in `.*`\Z")
"""The label of lines of a program, which keep their margin."""


def lines_of(units: Sequence[Unit], totals: UnitTotals) -> Iterator[str]:
    """The lines that show these units of one step"""
    if not units:
        return
    labels = {part for unit in units for part in (unit.label, unit.label.partition("; ")[0])}
    # A line that is the title of others stands above them.
    runs = _runs([u for u in units if u.owner or u.form is not Form.LINE or u.text not in labels])
    bare, named = _called(runs, totals)
    yield from bare
    known = _names_of([run for place, run in enumerate(runs) if place in named])
    others = [run for place, run in enumerate(runs) if place not in named]
    yield from nested(list(_in_order(others, totals, known)), totals.titles)


def _names_of(runs: Sequence[Sequence[Unit]]) -> dict[str, set[object]]:
    """The things shown, by what they are called; of each also what it is part of, by its name.

    Two that are called alike are two.
    """
    things: dict[str, set[object]] = {}
    told: set[tuple[str, str]] = set()
    for run in runs:
        kind, name = name_in(run[0].label)
        if run[0].form is Form.FIELD and kind:
            things.setdefault(kind, set()).add(run[0].owner)
            told.add((kind, name))
    for run in runs:
        parts = run[0].label.split("; ")
        for stop in range(1, len(parts)):
            kind, name = name_in("; ".join(parts[:stop]))
            if kind and (kind, name) not in told:
                things.setdefault(kind, set()).add(name)
    return things


def _in_order(
    runs: Sequence[Sequence[Unit]], totals: UnitTotals, known: Mapping[str, set[object]]
) -> Iterator[Labelled]:
    """Runs below each other, with dots where something stood between two of them.

    Things that are `known` are named above them.
    """
    before: Unit | None = None
    heads = frozenset[str]()
    texts: dict[Owner | None, list[Unit]] = {}
    names = _names_of(runs)
    tables = {column for run in runs for column in _columns(run[0].label)}
    last: dict[Owner | str | None, int] = {}
    remarked = set[str]()
    things = {name_in(run[0].label)[1] for run in runs if run[0].form is Form.FIELD}
    for place, run in enumerate(runs):
        if run[0].form is Form.FIELD:
            last[name_in(run[0].label)[0]] = place
        else:
            texts.setdefault(run[0].owner, []).extend(run)
            last[run[0].owner] = place
    for place, run in enumerate(runs):
        first, owner = run[0], run[0].owner
        if first.form is Form.FIELD:
            if before and (totals.left_out(before, first) or _like_another(before, first)):
                yield unlabelled(GAP)
            part = owner is not None and _left(owner, run, totals.fields) > 0
            kind = name_in(first.label)[0]
            left_out = _left_out(run, totals, remarked) if part else ""
            yield Labelled(first.label, (_fields(first.label, run, left_out),))
            told = names.get(kind, set()) | known.get(kind, set())
            left = totals.called.get((first.step, first.answer, kind), 0) - len(told)
            # Those of a table are counted there.
            if kind and left > 0 and last[kind] == place and kind not in tables:
                yield unlabelled(f"  {more(left)}")
            before, heads = run[-1], frozenset()
            continue
        yield from map(unlabelled, _gap(before, first, totals))
        left = _left(owner, texts[owner], totals.below)
        named = heads_in(first.label)
        label = "" if named and heads.issuperset(named) else first.label
        lines = tuple(_below(label, run, left > 0))
        if first.form is Form.LIST:
            yield from (Labelled(line, (line,)) for line in lines)
        else:
            # A block of a program below a title that stands above it already has none.
            yield Labelled(label if owner else lines[0], lines)
        if last[owner] == place and owner and left > 0 and first.form in COUNTED:
            missed = _rest(texts[owner], totals.parts[owner], left, things)
            yield from (unlabelled(f"  {told}") for told in missed)
        before, heads = run[-1], _heads_shown(run[-1])
    if before:
        yield from map(unlabelled, _open_end(before))


def _gap(before: Unit | None, first: Unit, totals: UnitTotals) -> Iterator[str]:
    """What stood between a text and what is shown before it, or before the first that is shown."""
    if before and totals.left_out(before, first):
        yield from between(before, first.index)
    starts = not first.owner or first.form is Form.CODE  # a title says where it stands
    if not before and starts and begins_late(first):
        yield GAP


def _open_end(last: Unit) -> Iterator[str]:
    """What stood behind the last that is shown: a list must not end as if that were all."""
    listed = last.form is Form.LINE and not last.owner
    if last.index < last.count - 1 and (listed or last.form is Form.CODE):
        yield from between(last, last.count)


def _rest(
    shown: Sequence[Unit], parts: Sequence[Unit], left: int, things: Container[str]
) -> Iterator[str]:
    """What stands for those of an owner's units that are left, below the last that is shown.

    A line of a text may be several of its lines, or half of one: only rows are named, and lines
    that are alike counted.
    """
    if shown[0].form is Form.ROW:
        if told := rows_missing(shown, parts, things):
            yield told
        return
    yield from between(shown[-1], shown[-1].alike.stop)
    if left > like_told(shown):
        yield GAP


def _left_out(run: Sequence[Unit], totals: UnitTotals, remarked: set[str]) -> str:
    """Which fields of a thing are not shown; of many of a kind the first one says it for all."""
    owner, kind = run[0].owner, name_in(run[0].label)[0]
    if owner is None or kind in remarked:
        return GAP
    remarked.add(kind)
    return keys_missing(run, totals.parts[owner])


def _columns(label: str) -> Iterator[str]:
    """The columns of a table by its label, also with what it is of, as its things are called."""
    of, _, table = label.rpartition("; ")
    name, _, columns = table.rpartition(": ")
    for column in columns.split(" | "):
        yield column
        yield "; ".join(filter(None, (of, name, column)))


def _like_another(before: Unit, first: Unit) -> bool:
    """Whether the thing before is called as this one is, and something stood between them."""
    return before.label == first.label and first.index > before.index + 1


def _left(owner: Owner | None, shown: Sequence[Unit], whole: Mapping[Owner | None, int]) -> int:
    """How many more of its owner there were than are shown."""
    if shown[0].form is Form.FIELD:
        return whole.get(owner, 0) - sum(1 for unit in shown if not is_label(unit))
    return whole.get(owner, 0) - sum(1 for unit in shown if not is_shared(unit))


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


@alone
def _heads_shown(unit: Unit) -> frozenset[str]:
    """The heads of things that a block of a program shows, or names above it."""
    if unit.form is not Form.CODE:
        return frozenset()
    return frozenset((*heads_in(unit.label), *map(str.strip, unit.text.split("\n"))))


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
    shown = _names_of(runs)
    for name, values in several.items():
        # Of those that follow with more than their name the last says how many more there are.
        told, first = len(shown.get(name, ())), runs[found[name][0]][0]
        left = totals.called.get((first.step, first.answer, name), 0) - told
        left = left if told == len(values) else 0
        lines.append(f"{name}: {', '.join(values)}" + (f" {more(left)}" if left > 0 else ""))
    return lines, frozenset(place for name in several for place in found[name])


def _fields(label: str, units: Sequence[Unit], left_out: str) -> str:
    """The fields of one object on one line, behind what tells it from others; last what is left."""
    known = label.split("; ") if label else []
    others = [unit for unit in units if unit.text not in known]
    return "; ".join((*known, *_merged(others), *filter(None, (left_out,))))


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
            yield from (f"{margin}{gap}" for gap in between(before, unit.index))
        before = unit
        for line in filter(str.strip, unit.text.split("\n")):
            yield f"{margin}{line.rstrip()}"
