"""One request of a framework as the engine is asked about it, and its answer as messages again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar

from statecomp.adapters.ownership import Owned, Part, ToRecord, ToWire
from statecomp.checkpoint import Checkpoint
from statecomp.compressor import Keep
from statecomp.wire.providers import wire_named

Item = TypeVar("Item")


class Beside(TypedDict, Generic[Item], total=False):
    """What an adapter may say beside the messages.

    An item for which `keep` answers true stays, and with it the step it is part of; `part`
    rebuilds an item of which only some messages are kept.  `beside` is what else stands in the
    request: model, tools, the setting for thinking.  Who `tells` sends what `binding.dropping`
    says where anything changed.
    """

    part: Part[Item] | None
    keep: Callable[[Item], object] | None
    protocol: str
    beside: Mapping[str, Any] | None
    tells: bool


@dataclass(frozen=True)
class WireRequest(Generic[Item]):
    """A request in a wire protocol, with whose object is whose."""

    owned: Owned[Item]
    body: Mapping[str, Any]
    protocol: str
    keep: Keep | None
    part: Part[Item] | None
    tells: bool

    @classmethod
    def of(
        cls, items: Sequence[Item], to_wire: ToWire[Item], said: Beside[Item]
    ) -> WireRequest[Item]:
        owned = Owned.of(items, to_wire)
        protocol = said.get("protocol", "openai-chat")
        body = {**(said.get("beside") or {}), wire_named(protocol).key: owned.wire}
        keep = owned.holding(said.get("keep"))
        return cls(owned, body, protocol, keep, said.get("part"), said.get("tells", False))

    def restored(self, made: Checkpoint | None, record: ToRecord[Item]) -> list[Item]:
        if made is None:
            return list(self.owned.items)
        return self.owned.restored(made.messages, record, self.part)
