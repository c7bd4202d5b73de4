"""Reading a history that is re-sent with every request, each message once.

A client sends the same prefix again and again.  The reader remembers a few conversations and
parses only what is new, so the cost of a request grows with its news, not with its length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject, Segment
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.assemble import Cursor, assemble, canonical, message_list, preamble
from statecomp.wire.content import strip_markers
from statecomp.wire.protocol import Wire


@dataclass(frozen=True, slots=True)
class _Known:
    """One conversation as it was last read.

    `copies` share the strings of the messages but not their structure, so that a message changed
    in place by its owner no longer compares equal.
    """

    messages: tuple[JsonObject, ...]
    copies: tuple[Any, ...]
    segments: tuple[Segment, ...]
    starts: tuple[int, ...]  # first message of each segment
    cursors: tuple[Cursor, ...]  # in front of each segment


NOTHING = _Known((), (), (), (), ())


class Reader:
    """Parses request bodies of one protocol; safe to share between threads."""

    def __init__(self, wire: Wire, count: TokenCounter = ESTIMATE, *, remember: int = 32) -> None:
        self._wire = wire
        self._count = count
        self._remember = remember
        self._known: list[_Known] = []  # least recently read first
        self._lock = Lock()

    def read(self, body: Mapping[str, Any]) -> History:
        messages = message_list(body, self._wire)
        try:
            known = self._extend(messages)
        except RecursionError as error:
            raise InvalidHistory("is nested too deeply to be read", field=self._wire.key) from error
        return History((*preamble(self._wire, body, self._count), *known.segments))

    def _extend(self, messages: Sequence[JsonObject]) -> _Known:
        base, same = self._nearest(messages)
        kept = _settled(base, same)
        start = base.starts[kept] if base.starts else 0
        cursor = base.cursors[kept] if base.cursors else Cursor()
        segments = list(_rebound(base, kept, messages))
        starts, cursors = list(base.starts[:kept]), list(base.cursors[:kept])
        for segment, after in assemble(self._wire.groups(messages, start), self._count, cursor):
            segments.append(segment)
            starts.append(start)
            cursors.append(cursor)
            start, cursor = start + len(segment.messages), after
        known = _Known(
            tuple(messages),
            (*base.copies[:same], *(_copy(message) for message in messages[same:])),
            tuple(segments),
            tuple(starts),
            tuple(cursors),
        )
        self._keep(known, base)
        return known

    def _nearest(self, messages: Sequence[JsonObject]) -> tuple[_Known, int]:
        """The remembered conversation with the longest common beginning, and its length."""
        best, length = NOTHING, 0
        for known in reversed(self._known):
            same = _common(known, messages)
            if same > length:
                best, length = known, same
            if length == len(messages) or length == len(best.messages) > 0:
                break
        return best, length

    def _keep(self, known: _Known, base: _Known) -> None:
        with self._lock:
            grown = len(known.messages) >= len(base.messages)
            others = [k for k in self._known if not (k is base and grown)]
            self._known = [*others, known][-self._remember :]


def _common(known: _Known, messages: Sequence[JsonObject]) -> int:
    """How many leading messages are the ones we know, cache markers aside."""
    length = min(len(known.copies), len(messages))
    if known.copies[:length] == tuple(islice(messages, length)):
        return length
    for place in range(length):
        mine, theirs = known.copies[place], messages[place]
        if mine != theirs and canonical(strip_markers(mine)) != canonical(strip_markers(theirs)):
            return place
    return length


def _settled(known: _Known, same: int) -> int:
    """How many segments cannot change any more: all before the last interaction.

    The last interaction may still gain results, and what follows it may turn out to be one.
    """
    whole = bisect_right(known.starts, same) - 1
    while whole > 0:
        whole -= 1
        if isinstance(known.segments[whole], Interaction):
            return whole
    return 0


def _rebound(known: _Known, kept: int, messages: Sequence[JsonObject]) -> Sequence[Segment]:
    """Known segments holding the objects of this request: those are what must go out."""
    segments = known.segments[:kept]
    stop = known.starts[kept] if known.starts else 0
    if all(old is new for old, new in zip(islice(known.messages, stop), messages, strict=False)):
        return segments
    return [
        replace(segment, messages=tuple(messages[start : start + len(segment.messages)]))
        for segment, start in zip(segments, known.starts, strict=False)
    ]


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in value]
    return value
