"""Reading a history that is re-sent with every request, each message once.

A client sends the same prefix again and again.  The reader remembers conversations and parses
only what is new, so the cost of a request grows with its news, not with its length, and hardly
with the number of conversations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import is_
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.history import History
from statecomp.history.identity import canonical, digest
from statecomp.history.interaction import Interaction, JsonObject, Pinned, Segment
from statecomp.recent import LruCache, Weighed
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.assemble import Cursor, assemble, message_list
from statecomp.wire.content import strip_markers
from statecomp.wire.conversations import (
    NOTHING,
    ConversationCache,
    KnownConversation,
    copied,
    nearest,
    settled,
    size_of,
)
from statecomp.wire.protocol import Wire

OPENING = 3
"""Messages that name a conversation: the task and the first step; in fewer nothing is settled."""
BRIEF = 512
PREAMBLES = 64


class IncrementalReader:
    """Parses request bodies of one protocol; safe to share between threads."""

    def __init__(
        self, wire: Wire, count: TokenCounter = ESTIMATE, *, shelf: ConversationCache | None = None
    ) -> None:
        self._wire = wire
        self._count = count
        self._shelf = shelf if shelf is not None else ConversationCache()
        self._name = object()
        self._preambles: LruCache[tuple[str, str], Pinned] = LruCache(PREAMBLES)
        # With the messages, so that none of these names is given to others meanwhile.
        self._openings: Weighed[tuple[int, ...], tuple[tuple[JsonObject, ...], str]] = Weighed(
            PREAMBLES, lambda opening: 1000 + sum(map(size_of, opening[0]))
        )

    def read(self, body: Mapping[str, Any]) -> History:
        messages, preamble = message_list(body, self._wire), self._preamble(body)
        try:
            known = self._extend(messages, preamble)
        except RecursionError as error:
            raise InvalidHistory("is nested too deeply to be read", field=self._wire.key) from error
        if all(map(is_, known.messages, messages)):
            return known.history
        return History((*preamble, *_rebound(known, messages)))

    def _preamble(self, body: Mapping[str, Any]) -> tuple[Pinned, ...]:
        """System text outside the messages; long, and nearly always the same."""
        return tuple(
            [
                self._preambles.get((role, text))
                or self._preambles.put(
                    (role, text), Pinned(digest(role, text), (), self._count(text), role, text)
                )
                for role, text in self._wire.preamble(body)
            ]
        )

    def _extend(
        self, messages: Sequence[JsonObject], preamble: tuple[Pinned, ...]
    ) -> KnownConversation:
        """The conversation up to here.


        What was known keeps the objects it was first read in: those of this request would be a
        second copy of every string.
        """
        place = (self._name, self._opening(messages))
        base, same = nearest(self._shelf.row(place), messages, self._shelf.unchanging)
        known = base
        if base is NOTHING or not same == len(messages) == len(base.messages):
            known = self._longer(base, settled(base, same), messages, preamble)
        elif base.preamble != preamble:
            known = replace(base, history=History((*preamble, *base.segments)))
        # A fork, or another conversation that began alike, stands beside the one it came from.
        self._shelf.put(place, known, base if same == len(base.messages) else NOTHING)
        return known

    def _opening(self, messages: Sequence[JsonObject]) -> str:
        """Where to look for a conversation; worked out once for the same message objects."""
        first = tuple(messages[:OPENING])
        key = tuple(map(id, first))
        known = self._openings.get(key)
        return known[1] if known else self._openings.put(key, (first, _opening(first)))[1]

    def _longer(
        self,
        base: KnownConversation,
        kept: int,
        messages: Sequence[JsonObject],
        preamble: tuple[Pinned, ...],
    ) -> KnownConversation:
        """The first `kept` segments of what is known, and the rest read anew."""
        start = stop = base.starts[kept] if base.starts else 0
        cursor = base.cursors[kept] if base.cursors else Cursor()
        segments = list(base.segments[:kept])
        starts, cursors = list(base.starts[:kept]), list(base.cursors[:kept])
        for segment, after in assemble(self._wire.groups(messages, start), self._count, cursor):
            segments.append(segment)
            starts.append(start)
            cursors.append(cursor)
            start, cursor = start + len(segment.messages), after
        return KnownConversation(
            (*base.messages[:stop], *messages[stop:]),
            (*base.copies[:stop], *(copied(message) for message in messages[stop:])),
            tuple(segments),
            tuple(starts),
            tuple(cursors),
            sum(segment.tokens for segment in segments),
            (*base.sizes[:stop], *(size_of(message) for message in messages[stop:])),
            History((*preamble, *segments)),
        )


def _opening(messages: Sequence[JsonObject]) -> str:
    """A short name of the first messages, cache markers aside; strangers may share it."""
    return canonical([_brief(strip_markers(message)) for message in islice(messages, OPENING)])


def _brief(value: Any) -> Any:
    if isinstance(value, str):
        half = BRIEF // 2
        return value if len(value) <= BRIEF else [len(value), value[:half], value[-half:]]
    if isinstance(value, Mapping):
        return {key: _brief(item) for key, item in value.items()}
    return [_brief(item) for item in value] if isinstance(value, list) else value


def _rebound(known: KnownConversation, messages: Sequence[JsonObject]) -> Sequence[Segment]:
    """Known segments holding the objects of this request: those are what must go out."""
    if all(map(is_, known.messages, messages)):
        return known.segments
    return [
        _holding(segment, tuple(messages[start : start + len(segment.messages)]))
        for segment, start in zip(known.segments, known.starts, strict=True)
    ]


def _holding(segment: Segment, messages: tuple[JsonObject, ...]) -> Segment:
    """`dataclasses.replace` by hand, for every segment of every request: five times as fast."""
    if isinstance(segment, Interaction):
        return Interaction(
            segment.id,
            segment.number,
            messages,
            segment.tokens,
            segment.reasoning,
            segment.said,
            segment.calls,
            segment.observations,
            segment.locked,
        )
    assert isinstance(segment, Pinned)  # a reader reads no summaries
    return Pinned(segment.id, messages, segment.tokens, segment.role, segment.text)
