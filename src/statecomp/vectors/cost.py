"""What a construction costs over a whole run: tokens the model reads, and its longest input.

Counted for every checkpoint and every target, from lengths alone, so it is exact also where only a
sample was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from statecomp.features import view
from statecomp.features.constructions import ViewBudget, budget_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned


@dataclass(frozen=True, slots=True)
class Cost:
    """`apart`: each input read whole; `shared`: what inputs begin with alike read once."""

    apart: int
    shared: int
    peak: int


def cost_of(
    history: History,
    construction: str,
    count: Callable[[str], int],
    context: int,
    scale: int = 1,
) -> Cost:
    """Of all checkpoints k = 2..T with all their targets."""
    lengths = [count(view.serialize(segment)) for segment in history.segments]
    places = [p for p, s in enumerate(history.segments) if isinstance(s, Interaction)]
    before = [0, *accumulate(lengths)]  # before[p] tokens stand before segment p
    seen = [before[place] for place in places[1:]]  # L_k for k = 2..T
    budget = budget_of(construction, context, scale)
    if construction == "full":
        return Cost(sum(seen), seen[-1] if seen else 0, max(seen, default=0))
    if construction == "cut-full":
        cut = [min(tokens, budget.window) for tokens in seen]
        return Cost(sum(cut), _with_restarts(seen[-1] if seen else 0, budget), max(cut, default=0))
    if construction == "once":
        read = _with_restarts(seen[-1] if seen else 0, budget)
        return Cost(read, read, min(budget.window, read))
    return _of_views(history, lengths, places, budget)


def _of_views(
    history: History, lengths: Sequence[int], places: Sequence[int], budget: ViewBudget
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


def _with_restarts(tokens: int, budget: ViewBudget) -> int:
    """A full window begins anew with its overlap."""
    more = max(0, tokens - budget.window)
    step = budget.window - budget.overlap
    return tokens + -(-more // step) * budget.overlap
