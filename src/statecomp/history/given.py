"""What an agent gave a tool: the arguments of a call as a value, read once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from statecomp.recent import Weighed

LONGEST = 500_000
"""Characters that a model writes in one call at most (128,000 tokens); what is longer is text."""


class NotGiven(ValueError):
    """Arguments that are no JSON, or none that is read."""


_NOTHING = object()


def _weight(known: tuple[int, object]) -> int:
    return known[0]


_memory: Weighed[str, tuple[int, object]] = Weighed(4096, _weight)


def given(arguments: str) -> Any:
    """The value of a call's arguments, which is everybody's: it is not to be changed.

    Raises NotGiven.
    """
    known = _memory.get(arguments) or _memory.put(arguments, _read(arguments))
    if known[1] is _NOTHING:
        raise NotGiven("the arguments are no JSON")
    return known[1]


def argument_object(arguments: str) -> Mapping[str, Any]:
    """A call's arguments by name; none where they are no JSON object."""
    try:
        value = given(arguments)
    except NotGiven:
        return {}
    return value if isinstance(value, dict) else {}


def _read(arguments: str) -> tuple[int, object]:
    """With the bytes it takes, about."""
    weight = 500 + 2 * len(arguments)
    if len(arguments) > LONGEST:
        return weight, _NOTHING
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return weight, _NOTHING
    return weight + 100 * sum(map(arguments.count, "[{,")), value
