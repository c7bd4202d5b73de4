"""Conversations as they were last read, and how much of a request is one of them.

A message counts as known when it compares equal, cache markers aside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import is_
from threading import Lock
from typing import Any, TypeAlias

from statecomp.history.history import History
from statecomp.history.identity import canonical
from statecomp.history.interaction import Interaction, JsonObject, Segment
from statecomp.recent import MEMORY, MemoryBudget, now
from statecomp.wire.assemble import Cursor
from statecomp.wire.content import strip_markers

NO_HISTORY = History(())


@dataclass(frozen=True, slots=True)
class KnownConversation:
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
    history: History = NO_HISTORY  # what stands before the messages, and the segments

    @property
    def bytes(self) -> int:
        return sum(self.sizes)

    @property
    def preamble(self) -> tuple[Segment, ...]:
        return self.history.segments[: len(self.history.segments) - len(self.segments)]


NOTHING = KnownConversation((), (), (), (), (), 0)
Place: TypeAlias = tuple[object, str]


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
        self._used: dict[Place, int] = {}
        self._budget = budget
        budget.join(self)
        self._most = conversations
        self._most_tokens = tokens
        # The newest conversation is the last in its row.
        self._rows: OrderedDict[Place, tuple[KnownConversation, ...]] = OrderedDict()
        self._count = self._tokens = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return self._count

    def row(self, place: Place) -> Sequence[KnownConversation]:
        """The conversations that begin alike."""
        return self._rows.get(place, ())

    def put(self, place: Place, known: KnownConversation, instead_of: KnownConversation) -> None:
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


def nearest(
    row: Sequence[KnownConversation], messages: Sequence[JsonObject], unchanging: bool
) -> tuple[KnownConversation, int]:
    """The remembered conversation with the longest common beginning, and its length."""
    best, length = NOTHING, 0
    for known in reversed(row):
        same = _common(known, messages, unchanging)
        if same > length:
            best, length = known, same
        if length == len(messages):
            break
    return best, length


def _common(known: KnownConversation, messages: Sequence[JsonObject], unchanging: bool) -> int:
    """How many leading messages are the ones we know, cache markers aside."""
    place = 0
    if unchanging:
        place = sum(takewhile(bool, map(is_, known.messages, messages)))
    for mine, theirs in zip(known.copies[place:], messages[place:], strict=False):
        if mine != theirs and canonical(strip_markers(mine)) != canonical(strip_markers(theirs)):
            return place
        place += 1
    return place


def settled(known: KnownConversation, same: int) -> int:
    """How many segments cannot change any more: all before the last interaction.

    The last interaction may still gain results, and what follows it may turn out to be one.
    """
    whole = bisect_right(known.starts, same) - 1
    while whole > 0:
        whole -= 1
        if isinstance(known.segments[whole], Interaction):
            return whole
    return 0


def size_of(value: Any) -> int:
    """Bytes of a message, of its copy and of what was read from it, about."""
    if isinstance(value, str):
        return 100 + 2 * len(value)
    if isinstance(value, Mapping):
        return 400 + sum(size_of(item) for item in value.values())
    if isinstance(value, list | tuple):
        return 150 + sum(map(size_of, value))
    return 30


def copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copied(item) for item in value]
    return value
