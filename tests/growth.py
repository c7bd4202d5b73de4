"""How the work for a text grows with it, in processor time of one thread, compared in one run.

No time is asserted, only what a tenfold text costs beside the text itself.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import thread_time
from typing import TypeVar

Given = TypeVar("Given")

TIMES = 3
ENOUGH_S = 0.2
"""What takes so long is measured well enough the first time."""


def cost_s(work: Callable[[Given], object], given: Given) -> float:
    """The least processor time of a few tries: what disturbs a measurement only adds to it."""
    tries: list[float] = []
    gc.collect()
    while len(tries) < TIMES and sum(tries) < ENOUGH_S:
        begun = thread_time()
        work(given)
        tries.append(thread_time() - begun)
    return min(tries)


def growth(work: Callable[[Given], object], small: Given, large: Given, times: float) -> float:
    """The cost of `large`, which is `times` as large as `small`, beside that many `small` ones.

    1 is in proportion, `times` is the square.
    """
    return cost_s(work, large) / (times * cost_s(work, small))
