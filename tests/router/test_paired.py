"""Two routers on the same pairs: a real difference is found, chance is not."""

from __future__ import annotations

import numpy as np
import pytest

from statecomp.router.metrics import auroc
from statecomp.router.paired import difference


def made_up(better: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    random = np.random.default_rng(seed)
    ready = random.random(1500) < 0.7
    one = random.normal(size=1500) + (1.0 + better) * ready
    other = random.normal(size=1500) + 1.0 * ready
    return one, other, ready, [f"task {n % 30}" for n in range(1500)]


def test_a_router_that_knows_more_is_ahead_beyond_its_interval() -> None:
    gap = difference(auroc, *made_up(1.0), draws=200)
    assert gap is not None
    assert 0 < gap.low < gap.value < gap.high
    assert gap.above == 1.0


def test_a_router_that_knows_as_much_is_not() -> None:
    gap = difference(auroc, *made_up(0.0), draws=200)
    assert gap is not None
    assert gap.low < 0 < gap.high


def test_the_same_router_is_exactly_as_good() -> None:
    one, _, ready, tasks = made_up(0.5)
    gap = difference(auroc, one, one, ready, tasks, draws=50)
    assert gap is not None
    assert (gap.value, gap.low, gap.high, gap.above) == (0.0, 0.0, 0.0, 0.0)


def test_one_class_has_no_difference() -> None:
    one, other, ready, tasks = made_up(0.5)
    assert difference(auroc, one, other, np.ones_like(ready), tasks) is None


def test_tasks_are_drawn_whole() -> None:
    """With a single task every draw is the same."""
    one, other, ready, _ = made_up(0.2)
    gap = difference(auroc, one, other, ready, ["only"] * len(one), draws=20)
    assert gap is not None
    assert gap.low == pytest.approx(gap.value) == gap.high
