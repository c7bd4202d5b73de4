"""What a construction costs over a whole run: tokens the model reads, and its longest input.

Counted for every checkpoint and every target, from lengths alone, so it is exact also where only a
sample was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from statecomp.features import view
from statecomp.features.states import ReaderSettings
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned

ROOM_FOR_TARGET: Final = 2_048
"""Of a model's context, what Recent2 and Recent4 leave to the target; they know no other limit."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The latest `recent` interactions in at most `base` tokens, the target in at most `target`."""

    recent: int
    base: int
    target: int


@dataclass(frozen=True, slots=True)
class Cost:
    """`apart`: each input read whole; `shared`: what inputs begin with alike read once."""

    apart: int
    shared: int
    peak: int


def budgets(context: int) -> dict[str, Budget]:
    """The constructions with a view for each target, for a model that reads `context` tokens."""
    room = min(ROOM_FOR_TARGET, context // 4)
    target = min(view.TARGET_TOKENS, context // 4)
    return {
        "local": Budget(0, 0, target),
        "recent2": Budget(2, context - room, room),
        "recent4": Budget(4, context - room, room),
        "capped-recent4": Budget(4, min(view.BASE_TOKENS, context - target), target),
    }


def full_window(context: int) -> ReaderSettings:
    """Full context: all the model can read, and a quarter of it again where that is full."""
    return ReaderSettings(window=context, overlap=context // 4)


ONCE: Final = ReaderSettings()


def cost_of(history: History, construction: str, count: Callable[[str], int], context: int) -> Cost:
    """Of all checkpoints k = 2..T with all their targets."""
    lengths = [count(view.serialize(segment)) for segment in history.segments]
    places = [p for p, s in enumerate(history.segments) if isinstance(s, Interaction)]
    before = [0, *accumulate(lengths)]  # before[p] tokens stand before segment p
    seen = [before[place] for place in places[1:]]  # L_k for k = 2..T
    if construction == "full":
        return Cost(sum(seen), seen[-1] if seen else 0, max(seen, default=0))
    if construction == "once":
        read = _with_restarts(seen[-1] if seen else 0, ONCE)
        return Cost(read, read, min(ONCE.window, read))
    return _of_views(history, lengths, places, budgets(context)[construction])


def _of_views(
    history: History, lengths: Sequence[int], places: Sequence[int], budget: Budget
) -> Cost:
    targets = [min(lengths[place], budget.target) for place in places]
    if not budget.recent:
        read = sum(targets[:-1])  # a view of the target alone never changes
        return Cost(read, read, max(targets[:-1], default=0))
    apart = shared = peak = 0
    for k in range(1, len(places)):
        asked = [
            lengths[p]
            for p, segment in enumerate(history.segments[: places[k]])
            if isinstance(segment, Pinned) and segment.role == "user"
        ]
        recent = [lengths[place] for place in places[max(0, k - budget.recent) : k]]
        base = min(budget.base, sum(asked[-1:]) + sum(recent))
        apart += k * base + sum(targets[:k])
        shared += base + sum(targets[:k])
        peak = max(peak, base + max(targets[:k]))
    return Cost(apart, shared, peak)


def _with_restarts(tokens: int, settings: ReaderSettings) -> int:
    """A full window begins anew with its overlap."""
    more = max(0, tokens - settings.window)
    step = settings.window - settings.overlap
    return tokens + -(-more // step) * settings.overlap
