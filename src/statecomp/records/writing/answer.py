"""What a model answers: how likely each step is needed again, and records of the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.errors import SummaryFailed
from statecomp.llm.answer import json_object
from statecomp.records.record import HEADINGS, Record
from statecomp.records.writing.orders import without_orders

WHY_CHARS = 200
KEEP_CHANCE = 20
"""In percent: from here on a step that may be needed again is kept (the prompt says so too).

Of 25 steps that were replaced too early, by labels, a large language model gave 15 such a chance,
and of 145 that could go 12 (docs/lab-log.md, 2026-11-17).
"""

_RECORD = r"(?:record|summary|steps?|entry)\b"
_EARLIER = r"(?:earlier|previous|prior|older|other|another) records?"
_OTHER = rf"(?:an?|the|that)? ?(?:{_EARLIER}|record of steps? \d)"
_GIVEN = (
    r"(?:told|listed|quoted|shown|given|included|recorded|noted|said|reproduced|copied|repeated)"
)
# What was not shown again, or was left out, is something that happened.
_HAPPENED = r"(?<!\bwas )(?<!\bwere )(?<!\bbeen )"
_ELSEWHERE = (
    rf"(?:{_HAPPENED}not (?:repeated|restated|reproduced|{_GIVEN} again) here\b|"
    rf"{_HAPPENED}not {_GIVEN} again\W*\Z|{_HAPPENED}omitted (?:here|for brevity)\b|"
    rf"not (?:restated|{_GIVEN})(?: again)? in (?:this|these) {_RECORD}|"
    rf"(?:omitted|left out) (?:from|of|in) (?:this|these) {_RECORD}|"
    rf"\b(?:see|(?:is|are|as) {_GIVEN} in|stands? in) {_OTHER}\b|"
    rf"{_OTHER}\b.{{0,40}}\bnot (?:{_GIVEN}|restated)\b)"
)
_ASIDE = re.compile(
    rf"\s?\((?:[^()]*{_ELSEWHERE}[^()]*|not (?:repeated|shown)(?: again)?)\)", re.IGNORECASE
)
_REMARK = re.compile(_ELSEWHERE, re.IGNORECASE)
"""What stands elsewhere stands there; that it is not said here tells a reader nothing."""
_CLAUSE_END = re.compile(r"(?<=[.;,])\s+(?!(?:and|nor)\b)")

_LISTS: dict[str, Any] = {name: {"type": "array", "items": {"type": "string"}} for name in HEADINGS}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_NUMBER = {"type": "integer"}
SCHEMA: dict[str, Any] = _object(**_LISTS)
"""One record of six lists."""
RECORDS: dict[str, Any] = _object(
    again={
        "type": "array",
        "items": _object(step=_NUMBER, chance=_NUMBER, why={"type": "string"}),
    },
    records={"type": "array", "items": _object(first=_NUMBER, last=_NUMBER, **_LISTS)},
)
"""What is kept, and records of the rest."""
ENTRIES: dict[str, Any] = _object(
    entries={"type": "array", "items": _object(number=_NUMBER, text={"type": "string"})}
)
"""Entries that were mended, by number."""


@dataclass(frozen=True)
class WrittenRecords:
    """The steps that should stay, each with the reason, and records by first and last step."""

    keep: Mapping[int, str] = field(default_factory=dict)
    records: Mapping[tuple[int, int], Record] = field(default_factory=dict)


def parse_written(answer: str, steps: Sequence[int], *, alone: bool = True) -> WrittenRecords:
    """What an answer says of these steps; a record without numbers is one of all of them.

    A step that is none of these cannot be kept; where all of them are there is nothing to record.
    Where others were asked for too (not `alone`), only numbers tell which record is whose.
    """
    value = _object_in(answer)
    if "records" not in value and alone:
        return WrittenRecords(records={(steps[0], steps[-1]): _record(value)})
    keep = _kept(value.get("again", []), frozenset(steps))
    if len(keep) == len(steps):
        return WrittenRecords(keep)
    given = value.get("records")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise SummaryFailed("the summary's 'records' is not a list of objects")
    runs = runs_without(steps, keep)
    if alone and len(given) == len(runs) == 1:
        # With one record for one run the numbers can only mean that.
        return WrittenRecords(keep, {runs[0]: _record(given[0])})
    by_numbers = {(str(one.get("first")), str(one.get("last"))): one for one in given}
    named = {run: by_numbers.get((str(run[0]), str(run[1]))) for run in runs}
    found = {run: _record(one) for run, one in named.items() if one is not None}
    if not found:
        raise SummaryFailed("the summary is of other steps than it was asked for")
    return WrittenRecords(keep, found)


def runs_without(steps: Sequence[int], keep: Mapping[int, str]) -> list[tuple[int, int]]:
    """The unbroken runs of the steps that are not kept: first and last of each."""
    runs: list[tuple[int, int]] = []
    before = None
    for step in steps:
        if step not in keep:
            if runs and before == runs[-1][1]:
                runs[-1] = (runs[-1][0], step)
            else:
                runs.append((step, step))
        before = step
    return runs


def parse_record(answer: str) -> Record:
    """The record in a model's answer: a JSON object, bare or in a fenced block.

    Keys we do not know are left aside; a heading that is missing has no entries.
    """
    return _record(_object_in(answer))


def parse_entries(answer: str) -> dict[int, str]:
    """Mended entries by their number; whatever is none is left aside."""
    try:
        given = json_object(answer).get("entries")
    except ValueError:
        return {}
    entries = given if isinstance(given, list) else []
    return {
        one["number"]: without_orders(_without_remarks(_line(one["text"])))
        for one in entries
        if isinstance(one, dict)
        and isinstance(one.get("number"), int)
        and isinstance(one.get("text"), str)
    }


def _object_in(answer: str) -> dict[str, Any]:
    try:
        return json_object(answer)
    except ValueError as error:
        raise SummaryFailed(f"the summary {error}") from error


def _kept(given: object, steps: frozenset[int]) -> dict[int, str]:
    kept: dict[int, str] = {}
    for one in given if isinstance(given, list) else []:
        if not isinstance(one, dict):
            continue
        step, chance = one.get("step"), one.get("chance")
        likely = isinstance(chance, int | float) and chance >= KEEP_CHANCE
        if isinstance(step, int) and step in steps and likely:
            kept[step] = _line(str(one.get("why", "")))[:WHY_CHARS]
    return kept


def _record(value: Mapping[str, Any]) -> Record:
    told = {name: _entries(name, value.get(name, [])) for name in HEADINGS}
    # A writer may have obeyed what it was to report: an order costs its entry, not the record.
    record = Record(*(tuple(filter(None, map(without_orders, lines))) for lines in told.values()))
    if not record:
        ordered = any(told.values())
        raise SummaryFailed(
            f"the summary {'gives orders to its reader' if ordered else 'is empty'}"
        )
    return record


def _entries(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise SummaryFailed(f"the summary's {name!r} is not a list of strings")
    return tuple(filter(None, (_without_remarks(_line(entry)) for entry in value)))


def _without_remarks(entry: str) -> str:
    """An entry without the clauses that only say what is not in it."""
    entry = _ASIDE.sub("", entry)
    if not _REMARK.search(entry):
        return entry
    clauses = _CLAUSE_END.split(entry)
    left = [clause for clause in clauses if not _REMARK.search(clause)]
    told = " ".join(left).rstrip(" ,;") if len(left) < len(clauses) else ""
    return told if re.search(r"[^\W\d_]{2}", told) else ""


def _line(entry: str) -> str:
    """One entry as one line of text that can be encoded: a record has no other kind."""
    joined = " ".join(part.strip() for part in entry.splitlines())
    return joined.encode("utf-8", "replace").decode("utf-8").strip()
