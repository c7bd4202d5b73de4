"""Values and files that a later step replaced: of one thing only the last one holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp.history.interaction import Interaction
from statecomp.records.extracting.arguments import arguments_of, edit_of, target_of
from statecomp.records.extracting.pieces import Form, one_line
from statecomp.records.extracting.reading.window import WHOLE_FILE
from statecomp.records.extracting.units import WORDS, Place, Unit, parts_of

_OPENED = re.compile(r"^\[File: (.{1,400}) \(\d+ lines total\)\]", re.MULTILINE)
_WRITES = re.compile(r"write|create|save", re.IGNORECASE)
SHORTEST = 4
"""Characters of a line that tells one version of a file from another."""


def superseded(units: Sequence[Unit]) -> frozenset[int]:
    """Places of values that a later step replaced, also where a call sent such a value again."""
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
    return frozenset(p for p, unit in enumerate(units) if _is_stale(unit, stale, last))


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


def overwritten(
    units: Sequence[Unit], span: Sequence[Interaction], after: Sequence[Interaction]
) -> frozenset[int]:
    """Places of what an older version of a file had, and one that is shown whole since has not."""
    steps = (*span, *after)
    shown, wrote = list(map(_path, steps)), list(map(_written, steps))
    sent = [path or written for path, (written, _) in zip(shown, wrote, strict=True)]
    asked = {*filter(None, (*shown[: len(span)], *sent[: len(span)]))}
    newest: dict[str, tuple[int, frozenset[str]]] = {}
    for step, member in enumerate(steps):
        if asked.isdisjoint((shown[step], wrote[step][0])):
            continue  # it need not be read: most steps are about no file, or about another
        texts = [p.text for p in parts_of(member).payloads if p.window.startswith(WHOLE_FILE)]
        path, text = (shown[step], texts[0]) if len(texts) == 1 else wrote[step]
        if path and text:
            newest[path] = step, frozenset(map(one_line, text.split("\n")))
    found = set()
    for place, unit in enumerate(units if newest else ()):
        paths = sent if unit.place is Place.CALL else shown
        step, lines = newest.get(paths[unit.step], (-1, frozenset()))
        if step > unit.step and unit.place not in WORDS:
            told = (one_line(line) for line in unit.text.split("\n"))
            if any(len(line) >= SHORTEST and line not in lines for line in told):
                found.add(place)
    return frozenset(found)


def _written(member: Interaction) -> tuple[str, str]:
    """The file that a call writes as a whole, and its text."""
    if len(member.calls) != 1 or not _WRITES.search(member.calls[0].name):
        return "", ""
    arguments = arguments_of(member.calls[0])
    path = target_of(arguments)
    texts = [v for v in arguments.values() if isinstance(v, str) and v != path and "\n" in v]
    return (path, texts[0]) if len(texts) == 1 and not edit_of(arguments) else ("", "")


def _path(member: Interaction) -> str:
    """The one file that an answer says it shows."""
    found = dict.fromkeys(_OPENED.findall(member.observed))
    return next(iter(found)) if len(found) == 1 else ""
