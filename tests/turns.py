"""How often another thread gets its turn while some work goes on."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

MANY = 20
"""What one long call in C never gives."""


def turns_during(work: Callable[[], object]) -> int:
    ended, turns = Event(), [0]

    def other() -> None:
        while not ended.wait(0.0005):
            turns[0] += 1

    thread = Thread(target=other)
    thread.start()
    before = turns[0]
    work()
    during = turns[0] - before
    ended.set()
    thread.join()
    return during
