"""Two routers on the same pairs: how far apart they are, and how sure that is.

Pairs of one task hang together, so whole tasks are drawn anew, the same for both routers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from statecomp.router.pairs import Flags, Floats

DRAWS: Final = 500
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """One minus the other, and where it lies with 95 % of all draws; `above` is the share of them
    in which the first is ahead."""

    value: float
    low: float
    high: float
    above: float


def difference(
    measure: Callable[[Floats, Flags], float | None],
    one: Floats,
    other: Floats,
    ready: Flags,
    tasks: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Difference | None:
    """Of a measure that either router may not have, where a class is missing; then None."""
    ahead = _gap(measure, one, other, ready)
    if ahead is None:
        return None
    _, place = np.unique(np.asarray(tasks), return_inverse=True)  # (pairs,)
    rows = [np.flatnonzero(place == task) for task in range(int(place.max()) + 1)]
    random = np.random.default_rng(seed)
    gaps = []
    for _ in range(draws):
        drawn = np.concatenate([rows[task] for task in random.integers(len(rows), size=len(rows))])
        gap = _gap(measure, one[drawn], other[drawn], ready[drawn])
        if gap is not None:
            gaps.append(gap)
    if not gaps:
        return Difference(ahead, -np.inf, np.inf, 0.5)
    low, high = np.quantile(gaps, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(ahead, float(low), float(high), float(np.mean(np.array(gaps) > 0)))


def _gap(
    measure: Callable[[Floats, Flags], float | None], one: Floats, other: Floats, ready: Flags
) -> float | None:
    first, second = measure(one, ready), measure(other, ready)
    return None if first is None or second is None else first - second
