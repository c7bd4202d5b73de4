"""Bounded memories: what was used last stays, what was not is forgotten.

What holds much is weighed, and all such memories of a process share one budget of bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from itertools import count, islice
from threading import Lock
from typing import Generic, Protocol, TypeVar
from weakref import WeakSet

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_clock = count(1)


class LruCache(Generic[Key, Value]):
    """The `size` most recently used values by key; safe to share between threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Key, value: Value) -> Value:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        return value

    def pop(self, key: Key) -> Value | None:
        with self._lock:
            return self._values.pop(key, None)

    def items(self, most: int) -> list[tuple[Key, Value]]:
        """Up to so many, the longest unused first."""
        with self._lock:
            return list(islice(self._values.items(), most))

    def values(self) -> list[Value]:
        with self._lock:
            return list(self._values.values())

    def __len__(self) -> int:
        return len(self._values)


def now() -> int:
    """A moment in the order of all uses of all memories."""
    return next(_clock)


class Weighty(Protocol):
    """A memory that shares a budget."""

    @property
    def bytes(self) -> int: ...

    def oldest(self) -> int | None:
        """When its least recently used value was used; None where nothing can be spared."""
        ...

    def forget_oldest(self) -> None: ...


class MemoryBudget:
    """Bytes that memories hold together; what was used longest ago goes first, whosever it is.

    Bytes are estimates.  Memories that are gone, with the engine they belonged to, count no more.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._members: WeakSet[Weighty] = WeakSet()
        self._grown = 0
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        return sum(member.bytes for member in self._all())

    def join(self, member: Weighty) -> None:
        with self._lock:
            self._members.add(member)

    def grown(self, by_bytes: int) -> None:
        """To be called by a member that holds no lock; looks only where it may matter."""
        self._grown += by_bytes
        if self._grown > self.most_bytes >> 8:
            self._grown = 0
            self._make_room()

    def _make_room(self) -> None:
        members = self._all()
        over = sum(member.bytes for member in members) - self.most_bytes
        if over <= 0:
            return
        aged = [(age, n) for n, member in enumerate(members) if (age := member.oldest())]
        heapify(aged)
        # Each member is asked its age once, and again after it gave something: a service for many
        # tenants has thousands of members, and room is made of as many small things.
        while over > 0 and aged:
            _, n = aged[0]
            member = members[n]
            before = member.bytes
            member.forget_oldest()
            over -= max(1, before - member.bytes)
            if age := member.oldest():
                heapreplace(aged, (age, n))
            else:
                heappop(aged)

    def _all(self) -> list[Weighty]:
        with self._lock:
            return list(self._members)


MEMORY = MemoryBudget(512 << 20)
"""What this process may remember; a service sets its own bound."""


@dataclass(slots=True)
class _Entry(Generic[Value]):
    value: Value
    weight: int
    used: int


class Weighed(Generic[Key, Value]):
    """Values by key within a budget, and at most `size` of them; safe to share between threads."""

    def __init__(
        self, size: int, bytes_of: Callable[[Value], int], budget: MemoryBudget | None = None
    ) -> None:
        self.bytes = 0
        self._size = size
        # Uses so near to each other count as one: to move each of a hundred states of a history
        # to the end with every request takes longer than to find them.
        self._near = size >> 6
        self._bytes_of = bytes_of
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()
        self._lock = Lock()
        self._budget = budget if budget is not None else MEMORY
        self._budget.join(self)

    def get(self, key: Key) -> Value | None:
        return self.get_all((key,)).get(key)

    def get_all(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """The values that are remembered, by key."""
        found, used = {}, now()
        with self._lock:
            entries, long_ago = self._entries, used - self._near
            for key in keys:
                entry = entries.get(key)
                if entry is None:
                    continue
                found[key] = entry.value
                if entry.used < long_ago:
                    entry.used = used
                    entries.move_to_end(key)
        return found

    def put(self, key: Key, value: Value) -> Value:
        """Also for a value that has grown since it was put."""
        self.put_all({key: value})
        return value

    def put_all(self, news: Mapping[Key, Value]) -> None:
        used, before = now(), self.bytes
        with self._lock:
            for key, value in islice(news.items(), max(0, len(news) - self._size), None):
                weight = self._bytes_of(value)
                known = self._entries.pop(key, None)
                self._entries[key] = _Entry(value, weight, used)
                self.bytes += weight - (known.weight if known is not None else 0)
                if len(self._entries) > self._size:
                    self._forget_oldest()
        self._budget.grown(self.bytes - before)

    def drop(self, keys: Iterable[Key]) -> None:
        with self._lock:
            for key in keys:
                if (entry := self._entries.pop(key, None)) is not None:
                    self.bytes -= entry.weight

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.bytes = 0

    def oldest(self) -> int | None:
        with self._lock:
            return next((entry.used for entry in self._entries.values()), None)

    def forget_oldest(self) -> None:
        with self._lock:
            if self._entries:
                self._forget_oldest()

    def _forget_oldest(self) -> None:
        self.bytes -= self._entries.popitem(last=False)[1].weight

    def values(self) -> list[Value]:
        with self._lock:
            return [entry.value for entry in self._entries.values()]

    def __len__(self) -> int:
        return len(self._entries)
