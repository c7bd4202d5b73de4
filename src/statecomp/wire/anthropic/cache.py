"""A cache breakpoint at a record, where the client leaves one free.

The provider looks for what it has cached at breakpoints, and a little way back from each.  A client
sets its own near the end; once a record stands far before them, nothing between is found any more,
and all of the history is written again.  A breakpoint at the record finds what stands before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.wire.content import blocks, markers

MOST = 4
NAME = "cache_control"


def anchored(
    body: Mapping[str, Any], messages: Sequence[JsonObject], record: JsonObject
) -> Sequence[JsonObject]:
    """The messages, with a breakpoint at the one that is this record.

    Only for a client that uses breakpoints and has one left, and with the lifetime of the client's
    next one: longer-lived ones must come first.
    """
    place = next((p for p, message in enumerate(messages) if message is record), len(messages))
    own = record.get("content")
    # A record of ours is a list of one block; merged into a message of the user it is not.
    if place == len(messages) or not isinstance(own, list) or len(own) != 1 or NAME in own[0]:
        return messages
    before = [marker for message in messages[:place] for marker in markers(message)]
    behind = [marker for message in messages[place:] for marker in markers(message)]
    used = [*_outside(body), *before, *behind]
    if not used or len(used) >= MOST:
        return messages
    _, marker = (behind or used[-1:])[0]
    marked = {**record, "content": [{**own[0], NAME: marker}]}
    return [*messages[:place], marked, *messages[place + 1 :]]


def _outside(body: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Breakpoints of the tools and the system prompt."""
    parts = (*blocks(body.get("tools")), *blocks(body.get("system")))
    return [marker for part in parts if isinstance(part, Mapping) for marker in markers(part)]
