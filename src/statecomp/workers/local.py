"""Offline work on this machine's processes."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic

from statecomp.workers.engine import (
    AHEAD,
    RETRIES,
    In,
    Out,
    Watch,
    WorkersLost,
    in_order,
    unwatched,
)


@dataclass(frozen=True)
class LocalEngine:
    """`jobs` processes; with one job the work is done in this process."""

    jobs: int = 1

    def map(
        self, job: Callable[[In], Out], items: Iterable[In], *, watch: Watch = unwatched
    ) -> Iterator[Out]:
        if self.jobs <= 1:
            for done, item in enumerate(items, start=1):
                result = job(item)
                watch(done)
                yield result
            return
        with closing(_Processes(job, self.jobs)) as crew:
            yield from in_order(crew, items, AHEAD * self.jobs, watch)


IN_PROCESS = LocalEngine()


class _Processes(Generic[In, Out]):
    """Processes that hold the job; when one dies, only what has no result yet is done again."""

    def __init__(self, job: Callable[[In], Out], jobs: int) -> None:
        self._packed = pickle.dumps(job)
        self._jobs = jobs
        self._items: deque[tuple[In, Future[Out]]] = deque()
        self._pool = self._spawned()

    def put(self, item: In) -> None:
        self._items.append((item, self._submitted(item)))

    def take(self) -> Out:
        for attempt in range(RETRIES + 1):
            if attempt:
                self._renew()
            with suppress(BrokenProcessPool):
                result = self._items[0][1].result()
                self._items.popleft()
                return result
        raise WorkersLost(
            f"a worker process died {RETRIES + 1} times on the same runs, perhaps for want of "
            "memory; try fewer --jobs"
        )

    def waiting(self) -> int:
        return len(self._items)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _spawned(self) -> ProcessPoolExecutor:
        # Forking a process that has threads (progress bars) can deadlock; spawning cannot.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(
            self._jobs, mp_context=context, initializer=_receive, initargs=(self._packed,)
        )

    def _submitted(self, item: In) -> Future[Out]:
        try:
            return self._pool.submit(_work, item)
        except BrokenProcessPool as lost:
            # Found out by whoever takes the result, in one place.
            future: Future[Out] = Future()
            future.set_exception(lost)
            return future

    def _renew(self) -> None:
        self._pool.shutdown()  # waits until every future of the broken pool is settled
        self._pool = self._spawned()
        self._items = deque(
            (item, self._submitted(item) if _lost(future) else future)
            for item, future in self._items
        )


def _lost(future: Future[Any]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


_received = b""


def _receive(packed: bytes) -> None:
    """In a new worker process: the job, once for all items."""
    global _received
    _received = packed


@cache
def _job() -> Callable[[Any], Any]:
    # Unpacked with the first item, not before: a job that cannot be is an error with a name, where
    # a failing initializer would only say that the process died.
    job: Callable[[Any], Any] = pickle.loads(_received)
    return job


def _work(item: Any) -> Any:
    return _job()(item)
