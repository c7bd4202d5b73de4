"""Deciding while the upstream works: one decision at a time for a session, the newest one only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from time import monotonic, sleep, thread_time
from typing import Generic, TypeAlias, TypeVar

Result = TypeVar("Result")
Wanted: TypeAlias = Callable[[], bool]

REST_S = 0.02
MOST_REST_S = 1.0
MAKE_WAY_S = 0.25
"""How long a decision waits for a moment without requests; models take longer to answer."""


@dataclass
class _Job(Generic[Result]):
    work: Callable[[Wanted], Result]
    due_s: float  # from then on it is done, however busy it is
    at_once: bool = False
    future: Future[Result | None] = field(default_factory=Future)


class Background(Generic[Result]):
    """A few threads and a short queue.

    What is dropped (a newer state came, the queue is full, the end) ends as None.  Work that runs
    is never cut off; it is told through `wanted` that its deadline is over.  While requests are
    `busy` a decision makes way for a moment, and all threads together take at most half of the
    processor: what waits meanwhile is replaced by newer states, so nothing piles up.
    """

    def __init__(
        self,
        *,
        threads: int,
        waiting: int,
        deadline_s: float,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._busy = busy
        self._threads = threads
        self._waiting: OrderedDict[str, _Job[Result]] = OrderedDict()
        self._running: set[str] = set()
        self._most = waiting
        self._deadline_s = deadline_s
        self._open = True
        self._changed = Condition()
        # Daemons: a summariser that hangs must not keep the process from ending.
        for number in range(threads):
            name = f"statecomp-decide-{number}"
            Thread(target=self._serve, name=name, daemon=True).start()

    def submit(
        self, session: str, work: Callable[[Wanted], Result], *, at_once: bool = False
    ) -> Future[Result | None]:
        """`at_once` is for what somebody waits for.  A newer state takes the place of the older."""
        job = _Job(work, monotonic() + (0.0 if at_once else MAKE_WAY_S), at_once)
        with self._changed:
            dropped = self._waiting.get(session)
            taken = self._open and (dropped is not None or len(self._waiting) < self._most)
            if dropped is not None:
                job.due_s = min(job.due_s, dropped.due_s)
            if taken:
                self._waiting[session] = job
            if taken and (dropped is None or at_once):
                self._changed.notify()
        # Outside the lock: whoever waits for a result may well submit something.
        if dropped is not None:
            dropped.future.set_result(None)
        if not taken:
            job.future.set_result(None)
        return job.future

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._running

    def close(self, patience_s: float) -> None:
        """Drop what waits; give what runs some time to end."""
        with self._changed:
            self._open = False
            dropped = list(self._waiting.values())
            self._waiting.clear()
            self._changed.notify_all()
        for job in dropped:
            job.future.set_result(None)
        with self._changed:
            self._changed.wait_for(lambda: not self._running, patience_s)

    def _serve(self) -> None:
        while True:
            with self._changed:
                while (session := self._next()) is None:
                    if not self._open:
                        return
                    self._changed.wait(REST_S if self._waiting else None)
                job = self._waiting.pop(session)
                self._running.add(session)
            before = thread_time()
            self._run(job)
            with self._changed:
                self._running.discard(session)
                self._changed.notify_all()
            if not job.at_once:
                self._rest(thread_time() - before)

    def _rest(self, worked_s: float) -> None:
        """As long as the work took, once for each thread; waiting for a model is no work."""
        ends = monotonic() + min(worked_s * self._threads, MOST_REST_S)
        while self._open and self._busy() and (left := ends - monotonic()) > 0:
            sleep(min(left, REST_S))

    def _next(self) -> str | None:
        """The session that has waited longest among those nobody works on and whose turn it is."""
        free = [s for s in self._waiting if s not in self._running]
        if not free or not self._busy():
            return free[0] if free else None
        now = monotonic()
        return next((s for s in free if self._waiting[s].due_s <= now), None)

    def _run(self, job: _Job[Result]) -> None:
        ends = monotonic() + self._deadline_s
        try:
            result = job.work(lambda: self._open and monotonic() < ends)
        except Exception as error:  # noqa: BLE001  a decision may fail in any way; the thread goes on
            job.future.set_exception(error)
        else:
            job.future.set_result(result)
