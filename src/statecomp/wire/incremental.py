"""Reading a history that is re-sent with every request, each message once.

A client sends the same prefix again and again.  The reader remembers conversations and parses
only what is new, so the cost of a request grows with its news, not with its length, and hardly
with the number of conversations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import is_
from threading import Lock
from typing import Any, TypeAlias

from statecomp.errors import InvalidHistory
from statecomp.history.history import History
from statecomp.history.identity import canonical, digest
from statecomp.history.interaction import Interaction, JsonObject, Pinned, Segment
from statecomp.recent import MEMORY, LruCache, MemoryBudget, Weighed, now
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.assemble import Cursor, assemble, message_list
from statecomp.wire.content import strip_markers
from statecomp.wire.protocol import Wire

OPENING = 3
"""Messages that name a conversation: the task and the first step; in fewer nothing is settled."""
BRIEF = 512
PREAMBLES = 64


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
    tokens: int
    sizes: tuple[int, ...] = ()  # bytes of each message, about

    @property
    def bytes(self) -> int:
        return sum(self.sizes)


NOTHING = _Known((), (), (), (), (), 0)
_Place: TypeAlias = tuple[object, str]


class ConversationCache:
    """Conversations as they were last read; what was not read for longest goes first.

    Several readers may share one, so that all of them together stay in bounds; none sees what
    another read.  Beside their number it is the tokens that count: those stand for memory.
    Where nobody changes a message once it was read, the very same object needs no second look.
    """

    def __init__(
        self,
        conversations: int = 32,
        tokens: int = 8_000_000,
        budget: MemoryBudget = MEMORY,
        *,
        unchanging: bool = False,
    ) -> None:
        self.bytes = 0
        self.unchanging = unchanging
        self._used: dict[_Place, int] = {}
        self._budget = budget
        budget.join(self)
        self._most = conversations
        self._most_tokens = tokens
        self._rows: OrderedDict[_Place, tuple[_Known, ...]] = OrderedDict()  # newest last in a row
        self._count = self._tokens = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return self._count

    def row(self, place: _Place) -> Sequence[_Known]:
        """The conversations that begin alike."""
        return self._rows.get(place, ())

    def put(self, place: _Place, known: _Known, instead_of: _Known) -> None:
        with self._lock:
            row = self._rows.pop(place, ())
            kept = tuple(one for one in row if one is not instead_of)
            self._rows[place], self._used[place] = (*kept, known), now()
            gone = instead_of if len(kept) < len(row) else NOTHING
            self._count += 1 + len(kept) - len(row)
            self._tokens += known.tokens - gone.tokens
            more = known.bytes - gone.bytes
            self.bytes += more
            while self._count > self._most or self._tokens > self._most_tokens:
                if not self._drop_oldest():
                    break
        self._budget.grown(more)

    def oldest(self) -> int | None:
        with self._lock:
            place = next(iter(self._rows), None)
            return self._used[place] if place is not None and self._count > 1 else None

    def forget_oldest(self) -> None:
        with self._lock:
            self._drop_oldest()

    def _drop_oldest(self) -> bool:
        """The conversation just read stays, however long it is."""
        if self._count == 1:
            return False
        place, (oldest, *others) = next(iter(self._rows.items()))
        if others:
            self._rows[place] = tuple(others)
        else:
            del self._rows[place], self._used[place]
        self._count -= 1
        self.bytes -= oldest.bytes
        self._tokens -= oldest.tokens
        return True


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
            PREAMBLES, lambda opening: 1000 + sum(map(_size, opening[0]))
        )

    def read(self, body: Mapping[str, Any]) -> History:
        messages = message_list(body, self._wire)
        try:
            known = self._extend(messages)
        except RecursionError as error:
            raise InvalidHistory("is nested too deeply to be read", field=self._wire.key) from error
        return History((*self._preamble(body), *_rebound(known, messages)))

    def _preamble(self, body: Mapping[str, Any]) -> Sequence[Pinned]:
        """System text outside the messages; long, and nearly always the same."""
        return [
            self._preambles.get((role, text))
            or self._preambles.put(
                (role, text), Pinned(digest(role, text), (), self._count(text), role, text)
            )
            for role, text in self._wire.preamble(body)
        ]

    def _extend(self, messages: Sequence[JsonObject]) -> _Known:
        """The conversation up to here, as far as it was known in the objects it was first read in.

        Later ones would be a second copy of every string.
        """
        place = (self._name, self._opening(messages))
        base, same = _nearest(self._shelf.row(place), messages, self._shelf.unchanging)
        known = base
        if base is NOTHING or not same == len(messages) == len(base.messages):
            known = self._longer(base, _settled(base, same), messages)
        # A fork, or another conversation that began alike, stands beside the one it came from.
        self._shelf.put(place, known, base if same == len(base.messages) else NOTHING)
        return known

    def _opening(self, messages: Sequence[JsonObject]) -> str:
        """Named once for the very objects; a wrong name finds nothing, and no wrong history."""
        first = tuple(messages[:OPENING])
        key = tuple(map(id, first))
        known = self._openings.get(key)
        return known[1] if known else self._openings.put(key, (first, _opening(first)))[1]

    def _longer(self, base: _Known, kept: int, messages: Sequence[JsonObject]) -> _Known:
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
        return _Known(
            (*base.messages[:stop], *messages[stop:]),
            (*base.copies[:stop], *(_copy(message) for message in messages[stop:])),
            tuple(segments),
            tuple(starts),
            tuple(cursors),
            sum(segment.tokens for segment in segments),
            (*base.sizes[:stop], *(_size(message) for message in messages[stop:])),
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


def _nearest(
    row: Sequence[_Known], messages: Sequence[JsonObject], unchanging: bool
) -> tuple[_Known, int]:
    """The remembered conversation with the longest common beginning, and its length."""
    best, length = NOTHING, 0
    for known in reversed(row):
        same = _common(known, messages, unchanging)
        if same > length:
            best, length = known, same
        if length == len(messages):
            break
    return best, length


def _common(known: _Known, messages: Sequence[JsonObject], unchanging: bool) -> int:
    """How many leading messages are the ones we know, cache markers aside."""
    place = 0
    if unchanging:
        place = sum(1 for _ in takewhile(bool, map(is_, known.messages, messages)))
    for mine, theirs in zip(known.copies[place:], messages[place:], strict=False):
        if mine != theirs and canonical(strip_markers(mine)) != canonical(strip_markers(theirs)):
            return place
        place += 1
    return place


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


def _rebound(known: _Known, messages: Sequence[JsonObject]) -> Sequence[Segment]:
    """Known segments holding the objects of this request: those are what must go out."""
    if all(old is new for old, new in zip(known.messages, messages, strict=True)):
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


def _size(value: Any) -> int:
    """Bytes of a message, of its copy and of what was read from it, about."""
    if isinstance(value, str):
        return 100 + 2 * len(value)
    if isinstance(value, Mapping):
        return 400 + sum(_size(item) for item in value.values())
    if isinstance(value, list | tuple):
        return 150 + sum(map(_size, value))
    return 30


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in value]
    return value
