"""Calls and results in their places.

Recordings are written as things happened: results arrive late, twice, or never, and people speak
between a call and its result.  The wire protocols want each call answered once, at once.  Nothing
a source recorded is dropped here: late results move up to their call, a call without one gets
"[no result recorded]", and a result without its call becomes a user message.  A call that is open
at the very end stays open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from statecomp.history.interaction import JsonObject

NOTHING: JsonObject = MappingProxyType({})
# Stands where the protocol wants a message and the source kept none; the recordings we are
# trained on use the same words.
NO_RESULT = "[no result recorded]"
NO_BEGINNING = "[the beginning was not recorded]"
NO_ENDING = "[nothing more was recorded of this turn]"


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """A message of the source's protocol, and what the source says about it (time, usage, ids)."""

    message: JsonObject
    about: JsonObject = field(default_factory=lambda: NOTHING)

    def rest(self, field: str) -> JsonObject:
        """The message without this field, to be kept beside what stands for it."""
        return {name: value for name, value in self.message.items() if name != field}


@dataclass(slots=True)
class RecordedTurn:
    """An entry with the calls it makes and the results found for them so far."""

    head: RecordedMessage
    waiting: list[str] = field(default_factory=list)
    results: dict[str, RecordedMessage] = field(default_factory=dict)
