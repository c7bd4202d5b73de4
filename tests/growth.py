"""How the work for a text grows with it, in processor time of one thread, compared in one run.

No time is asserted, only what a tenfold text costs beside the text itself.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import TypeVar

from tests.garbage import set_aside

Given = TypeVar("Given")

TIMES = 3
ENOUGH_S = 0.2
"""What takes so long is measured well enough the first time."""
ROUNDS = 5
"""Whoever else uses the processor can spoil one measurement, not so many in a row."""


def cost_s(work: Callable[[Given], object], given: Given) -> float:
    """The least processor time of a few tries: what disturbs a measurement only adds to it.

    One search for garbage through all that other tests left would cost as much as a large text, and
    fall to the larger one.
    """
    set_aside()
    tries: list[float] = []
    while len(tries) < TIMES and sum(tries) < ENOUGH_S:
        begun = thread_time()
        work(given)
        tries.append(thread_time() - begun)
    return min(tries)


def growth(
    work: Callable[[Given], object],
    small: Given,
    large: Given,
    times: float,
    *,
    enough: float = 0.0,
    nothing_s: float = 0.0,
) -> float:
    """The cost of `large`, which is `times` as large as `small`, beside that many `small` ones.

    1 is in proportion, `times` is the square.  Both are measured in turn, until the growth is below
    `enough`, and the least of each counts; a `large` below `nothing_s` is too little to compare.
    """
    least_small = least_large = float("inf")
    for _ in range(ROUNDS):
        least_large = min(least_large, cost_s(work, large))
        if least_large < nothing_s:
            return 0.0
        least_small = min(least_small, cost_s(work, small))
        if least_large < enough * times * least_small:
            break
    return least_large / (times * least_small)
