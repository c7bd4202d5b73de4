"""Offline work on this machine's processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


def map_runs(work: Callable[[In], Out], items: Iterable[In], jobs: int = 1) -> Iterator[Out]:
    """`work` over the items, results in the order of the items whatever the number of jobs."""
    if jobs <= 1:
        yield from map(work, items)
        return
    # Forking a process that has threads (progress bars) can deadlock; spawning cannot.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(work, items, chunksize=1)
