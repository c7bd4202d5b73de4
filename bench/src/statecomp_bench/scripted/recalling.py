"""What an agent knows from its own calls and from the order in which documents were read.

Who sees the call "# page of willow ... price = '700'" that it made itself knows the price of
willow, wherever that was read before.  And who sees that a newer list was read, of which a record
shows a few rows only, does not take a row of the older list for one of the newer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from statecomp.history.interaction import Call
from statecomp_bench.plan import PLACE, Plan, Step
from statecomp_bench.scripted.loops import unrolled
from statecomp_bench.scripted.meaning import form_of

# A record's entries: one for each step.
ENTRY_START = re.compile(r"^(?=[-*] \d+[.:])", re.MULTILINE)

UNKNOWN = "unknown"
"""What is filled in where a value cannot be had."""


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """What a record has of one step: which step it is, and the values that stand there."""

    step: str
    names: frozenset[str]


class Recall:
    """One plan's calls, read back."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._forms = {fact.name: re.compile(form_of(fact.pattern)) for fact in plan.facts}

    def values(self, call: Call, step: Step) -> dict[str, str]:
        """What was filled into the call, where that has the form of the value."""
        given = _parsed(call.arguments)
        found: dict[str, str] = {}
        for key, template in step.arguments.items():
            found.update(_filled(template, given.get(key, "")))
        return {
            name: value
            for name, value in found.items()
            if value != UNKNOWN and name in self._forms and self._forms[name].fullmatch(value)
        }

    def asked(self, call: Call) -> set[str]:
        """The values that a program of its own looks for, by their patterns."""
        code = unrolled(_parsed(call.arguments).get("code", ""))
        return {fact.name for fact in self._plan.facts if repr(fact.pattern) in code}

    def outdated(self, entry: ShownEntry, shown_by: Mapping[str, str]) -> Iterator[str]:
        """Values of another step's list, where the entry of their own step does not show them."""
        for fact in self._plan.facts:
            if fact.source == entry.step and fact.name not in entry.names:
                other = shown_by.get(fact.name, "")
                if other not in ("", entry.step) and not self._plan.step[entry.step].once:
                    yield fact.name


def _parsed(arguments: str) -> dict[str, str]:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return {k: v for k, v in given.items() if isinstance(v, str)} if isinstance(given, dict) else {}


def _filled(template: str, text: str) -> Iterator[tuple[str, str]]:
    """What stands in a text between the literal pieces of its template; nothing from a misfit on.

    Pieces and names take turns.
    """
    pieces = PLACE.split(template)
    place = len(pieces[0]) if text.startswith(pieces[0]) else -1
    for name, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        stop = text.find(literal, place) if literal else len(text)
        if place < 0 or stop < 0:
            return
        yield name, text[place:stop]
        place = stop + len(literal)
