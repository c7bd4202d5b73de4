"""How values, calls and steps look in words: the patterns behind a plan's reader."""

from __future__ import annotations

import re
from collections.abc import Sequence

from statecomp_bench.plan import PLACE, Step

# "Night hours paid: 4" says nothing about "hours paid".
APART = r"(?:(?<![^\W\d_] )|(?<=[Tt]he )|(?<=and ))"
PREFIX_CHARS, SHORTEST_PIECE = 28, 6
# What follows a label in a quoted program is no value, and neither is what a record cuts off.
NO_VALUE, CUT = ("..", ",", ")", "||", "' ", "',", '" ', '",', "(.", "(\\", "([", "(?"), ".."


def last_value(pattern: re.Pattern[str], text: str) -> str | None:
    """The last value that is one."""
    value = None
    for match in pattern.finditer(text):
        found = match[1].strip()
        value = value if found.startswith(NO_VALUE) or found.endswith(CUT) else found
    return value


def stated_as(label: str) -> re.Pattern[str]:
    """The agent's own way to put a value into words; see `acting`."""
    value = r"(?:is|was|=|:)\s?[`\"']?([^;\n]+?)[`\"']?\.?(?:;|$)"
    return re.compile(rf"{APART}{spaced(label)}\s?{value}", re.MULTILINE)


def spaced(text: str) -> str:
    """The words of a text whatever stands between them; a summary may wrap its lines."""
    return r"\s+".join(map(re.escape, text.split()))


def call_patterns(steps: Sequence[Step]) -> dict[str, tuple[str, re.Pattern[str]]]:
    """How a summary that quotes calls would show each step, by a piece that no other step has."""
    owners: dict[tuple[str, str], set[str]] = {}
    for step in steps:
        for piece in _pieces(step):
            owners.setdefault((step.tool, piece), set()).add(step.id)
    patterns = {}
    for step in steps:
        own = [piece for piece in _pieces(step) if owners[step.tool, piece] == {step.id}]
        if own:
            shown = re.compile(rf"\b{step.tool}\b.{{0,160}}?{spaced(own[0])}")
            patterns[step.id] = own[0], shown
    return patterns


def _pieces(step: Step) -> list[str]:
    """What stands literally in a step's arguments: beginnings, up to where a value would stand."""
    texts = (piece for text in step.arguments.values() for piece in PLACE.split(text)[::2])
    pieces = (" ".join(text.split())[:PREFIX_CHARS].strip() for text in texts)
    return [piece for piece in pieces if len(piece) >= SHORTEST_PIECE]
