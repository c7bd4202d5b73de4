"""Whose object is whose: framework messages forward into a wire protocol, and never back.

An engine keeps messages as the very objects that came in.  So what it keeps is given back as the
framework's own object, and only a record becomes a new one.  What a converter loses costs the
judgement something, and never the request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from statecomp.history.interaction import JsonObject

Item = TypeVar("Item")
ToWire: TypeAlias = Callable[[Item], Sequence[JsonObject]]
ToRecord: TypeAlias = Callable[[JsonObject], Item]
Part: TypeAlias = Callable[[Item, Sequence[int]], Item]


class NotOurs(Exception):
    """A converter broke its promise; the request goes out as it came."""


def unchanged(items: Sequence[Item], made: Sequence[Item]) -> bool:
    """Whether nothing was replaced: the same objects in the same order."""
    return len(items) == len(made) and all(a is b for a, b in zip(items, made, strict=True))


@dataclass(frozen=True)
class Owned(Generic[Item]):
    """A framework's messages, each with the wire messages it became."""

    items: tuple[Item, ...]
    wire: tuple[JsonObject, ...]
    owner: dict[int, tuple[int, int]]  # id of a wire message -> its item, and its place in that

    @classmethod
    def of(cls, items: Sequence[Item], to_wire: ToWire[Item]) -> Owned[Item]:
        wire: list[JsonObject] = []
        owner: dict[int, tuple[int, int]] = {}
        for number, item in enumerate(items):
            made = to_wire(item)
            if not made:
                raise NotOurs(f"a {type(item).__name__} became no message at all")
            for place, message in enumerate(made):
                owner[id(message)] = (number, place)
                wire.append(message)
        if len(owner) != len(wire):
            raise NotOurs("a converter gave one message twice")
        return cls(tuple(items), tuple(wire), owner)

    def holding(
        self, keep: Callable[[Item], object] | None
    ) -> Callable[[JsonObject], object] | None:
        """The same question about wire messages."""
        if keep is None or not any(map(keep, self.items)):
            return None
        held = {name for name, (number, _) in self.owner.items() if keep(self.items[number])}
        return lambda message: id(message) in held

    def restored(
        self, messages: Sequence[JsonObject], record: ToRecord[Item], part: Part[Item] | None
    ) -> list[Item]:
        """The original of everything kept, and one new message a record.

        `part` rebuilds an item of which only some messages are kept; most frameworks have none.
        """
        kept: dict[int, list[int]] = {}
        for message in messages:
            if found := self.owner.get(id(message)):
                kept.setdefault(found[0], []).append(found[1])
        sizes = [0] * len(self.items)
        for number, _ in self.owner.values():
            sizes[number] += 1
        given: list[Item] = []
        done: set[int] = set()
        for message in messages:
            found = self.owner.get(id(message))
            if found is None:
                given.append(record(message))
            elif found[0] not in done:
                done.add(found[0])
                given.append(self._whole_or_part(found[0], kept[found[0]], sizes, part))
        return given

    def _whole_or_part(
        self, number: int, kept: Sequence[int], sizes: Sequence[int], part: Part[Item] | None
    ) -> Item:
        item = self.items[number]
        if len(kept) == sizes[number]:
            return item
        if part is None:
            raise NotOurs(f"only a part of a {type(item).__name__} was kept")
        return part(item, kept)
