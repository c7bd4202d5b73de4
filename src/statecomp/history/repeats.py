"""Calls that are made again, and whether the answer says what was known before.

The same call with another answer is news: a test after a fix, a page that has changed.  With the
same answer it is a return to what was known.  A run, such as a test or a build, asks how things
stand now: made again after an edit it is no return, whatever it answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from statecomp.history.given import NotGiven, given
from statecomp.history.interaction import Call, Interaction
from statecomp.history.kinds import kind_of
from statecomp.recent import Weighed

REMEMBERED = 4096

# What differs between two answers that say the same: when it was, how long it took, where in
# memory.  Counts stay: three failures are not two.
_MOMENT = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d\d:?\d\d)?|"
    r"\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|"
    r"\b\d{1,9}(?:\.\d{1,9})? ?(?:ns|us|µs|ms|s|sec|secs|seconds|minutes?)\b|"
    r"\b0x[0-9a-fA-F]{6,16}\b"
)


class ToldCall(NamedTuple):
    """A call and its answer as they compare; `edits` counts those before a run."""

    name: str
    arguments: str
    answer: int
    edits: int = 0


class _Read(NamedTuple):
    kind: str
    told: tuple[tuple[ToldCall, int], ...]  # each with the length of its answer

    def weight(self) -> int:
        """Bytes it takes, about."""
        return 400 + sum(300 + len(one.arguments) for one, _ in self.told)


_memory: Weighed[tuple[str, int], _Read] = Weighed(REMEMBERED, _Read.weight)


def told(
    interactions: Sequence[Interaction], least_chars: int = 0
) -> Iterator[tuple[Interaction, list[ToldCall]]]:
    """Each interaction with what its calls were told; equal ones are returns to each other.

    Answers shorter than `least_chars` are left out.
    """
    edits = 0
    for interaction in interactions:
        kind, known = _known(interaction)
        found = [one for one, chars in known if chars >= least_chars]
        if edits and kind == "run":
            found = [one._replace(edits=edits) for one in found]
        yield interaction, found
        edits += kind == "edit"


def call_key(call: Call) -> tuple[str, str]:
    """Name and arguments; the order of keys and the spaces between them say nothing."""
    try:
        return call.name, json.dumps(given(call.arguments), sort_keys=True)
    except NotGiven:
        return call.name, call.arguments


def _known(interaction: Interaction) -> _Read:
    """Read once: answers are long, and a history is looked at with every request."""
    key = (interaction.id, hash((interaction.calls, interaction.observations)))
    return _memory.get(key) or _memory.put(
        key, _Read(kind_of(interaction), tuple(_told_calls(interaction)))
    )


def _told_calls(interaction: Interaction) -> Iterator[tuple[ToldCall, int]]:
    answers = {seen.call_id: seen.text for seen in interaction.observations}
    for call in interaction.calls:
        answer = answers.get(call.id, "")
        same = " ".join(_MOMENT.sub("~", answer).split())
        yield ToldCall(*call_key(call), hash(same)), len(answer)
