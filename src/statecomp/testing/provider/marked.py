"""A cache that is written where a request asks for it, as the Messages API documents its own.

A breakpoint writes one entry, for all that stands before it, and finds an earlier entry in the
twenty blocks that end with it.  So a history that changes far from its breakpoints is written again
from the last one in front of the change, however much of it stayed as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from statecomp.recent import LruCache
from statecomp.testing.provider.messages_rules import breakpoints
from statecomp.testing.provider.meter import PREFIXES, Spent
from statecomp.testing.provider.refusals import bare, digest, parts_of
from statecomp.testing.provider.turns import Body
from statecomp.tokens import ESTIMATE, TokenCounter, count_message

LOOKBACK = 20
LIVES_S = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True, slots=True)
class Block:
    """The prompt up to the end of one block; `lives_s` is 0 where no breakpoint stands."""

    prefix: str
    tokens: int
    lives_s: float


class MarkedMeter:
    """Counts Messages requests against the entries that earlier ones wrote."""

    def __init__(
        self, count: TokenCounter = ESTIMATE, clock: Callable[[], float] = monotonic
    ) -> None:
        self._count = count
        self._clock = clock
        self._costs: LruCache[str, int] = LruCache(PREFIXES)  # prefix -> tokens of its last block
        self._alive: LruCache[str, float] = LruCache(PREFIXES)  # entry -> until when

    def read(self, body: Body) -> Spent:
        blocks = list(self._blocks(body))
        marked = [place for place, block in enumerate(blocks) if block.lives_s]
        cached = 0
        for place in marked:
            found = self._entry(blocks[max(0, place + 1 - LOOKBACK) : place + 1])
            if found is not None:
                cached = max(cached, found.tokens)
                self._keep(found, blocks[place].lives_s)
        for place in marked:
            self._keep(blocks[place], blocks[place].lives_s)
        held = max((blocks[place].tokens for place in marked), default=0)
        return Spent(blocks[-1].tokens, cached, held - cached, 0)

    def _entry(self, window: list[Block]) -> Block | None:
        now = self._clock()
        alive = (block for block in reversed(window) if (self._alive.get(block.prefix) or 0) > now)
        return next(alive, None)

    def _keep(self, block: Block, lives_s: float) -> None:
        self._alive.put(block.prefix, self._clock() + lives_s)

    def _blocks(self, body: Body) -> Iterator[Block]:
        prefix, total = digest("tools"), 0
        pieces = list(_pieces(body))
        # With one marker for the whole request the provider sets the breakpoint itself.
        whole = body.get("cache_control")
        for place, (around, block) in enumerate(pieces):
            prefix = digest(prefix, around, bare(block))
            total += self._cost(prefix, around, block)
            markers = [marker for _, marker in breakpoints(block)]
            if isinstance(whole, Mapping) and place == len(pieces) - 1:
                markers.append(whole)
            lives = [LIVES_S[str(marker.get("ttl", "5m"))] for marker in markers]
            yield Block(prefix, total, max(lives, default=0.0))

    def _cost(self, prefix: str, around: Mapping[str, Any], block: Any) -> int:
        known = self._costs.get(prefix)
        if known is None:
            known = self._costs.put(prefix, self._counted(around, block))
        return known

    def _counted(self, around: Mapping[str, Any], block: Any) -> int:
        cost = count_message({**around, "content": [block]}, self._count)
        # What surrounds a message is paid once, with its first block.
        return cost if around else cost - count_message({}, self._count)


def _pieces(body: Body) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """(the message it opens, block), in the order in which a prompt is put together."""
    if body.get("tools"):
        yield {"role": "tools"}, body["tools"]
    for number, block in enumerate(parts_of(body.get("system"))):
        yield ({} if number else {"role": "system"}), block
    for message in body["messages"]:
        around = {key: value for key, value in message.items() if key != "content"}
        for number, block in enumerate(parts_of(message.get("content"))):
            yield ({} if number else around), block
