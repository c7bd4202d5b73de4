"""Deciding while the upstream works: one decision at a time for a session, the newest one only.

Where there is more to decide than time, what could save most comes first, for sessions that are
still there: what somebody waits for, then what was asked for of late.
"""

from __future__ import annotations

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


LIVE_S = 20.0
"""Whoever was heard of so lately will come back with the next step before anybody else does."""
LEFT_S = 120.0
"""Whoever was not heard of for so long is taken to have finished: nothing is decided for them."""


@dataclass
class _Job(Generic[Result]):
    """`worth` is what it could save at most, in tokens; its session waits `since_s`."""

    work: Callable[[Wanted], Result]
    after: Callable[[Result], object]
    worth: int
    asked_s: float
    since_s: float
    due_s: float  # from then on it is done, however busy it is
    awaited_until_s: float = 0.0
    future: Future[Result | None] = field(default_factory=Future)

    @property
    def at_once(self) -> bool:
        return self.awaited_until_s > 0

    def urgency(self, now: float) -> tuple[bool, bool, float]:
        """The longer it waits the more it counts, so that small ones get their turn too."""
        awaited, live = now < self.awaited_until_s, now - self.asked_s < LIVE_S
        return awaited, live, (1 + self.worth) * (1.0 + now - self.since_s)


class Background(Generic[Result]):
    """A few threads and a short queue.

    What is dropped (a newer state came, more urgent ones fill the queue, its session has left, the
    end) ends as None.  Work that runs
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
        self._waiting: dict[str, _Job[Result]] = {}
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
        self,
        session: str,
        work: Callable[[Wanted], Result],
        *,
        worth: int = 0,
        awaited_s: float = 0.0,
        after: Callable[[Result], object] = lambda result: None,
    ) -> Future[Result | None]:
        """A newer state takes the place of the older; `awaited_s` is how long somebody waits.

        What is to be done `after` it keeps nobody waiting for the result; it must not fail.
        """
        now = monotonic()
        job = _Job(work, after, worth, now, now, now + (0.0 if awaited_s else MAKE_WAY_S))
        job.awaited_until_s = now + awaited_s if awaited_s else 0.0
        with self._changed:
            dropped = self._entered(session, job, now)
            if job not in dropped:
                self._changed.notify()
        # Outside the lock: whoever waits for a result may well submit something.
        for one in dropped:
            one.future.set_result(None)
        return job.future

    def _entered(self, session: str, job: _Job[Result], now: float) -> list[_Job[Result]]:
        """Put among those that wait; what had to go for it, which may be itself."""
        if not self._open:
            return [job]
        older = self._waiting.pop(session, None)
        if older is not None:
            job.due_s, job.since_s = min(job.due_s, older.due_s), older.since_s
        self._waiting[session] = job
        gone = [older] if older is not None else []
        if len(self._waiting) > self._most:
            least = min(self._waiting, key=lambda name: self._waiting[name].urgency(now))
            gone.append(self._waiting.pop(least))
        return gone

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
        while self._has_served():
            pass

    def _has_served(self) -> bool:
        """One job, of which nothing stays here: with it goes the credential it may ask with."""
        if (taken := self._taken()) is None:
            return False
        session, job = taken
        before = thread_time()
        self._run(job)
        with self._changed:
            self._running.discard(session)
            self._changed.notify_all()
        if not job.at_once:
            self._rest(thread_time() - before)
        return True

    def _taken(self) -> tuple[str, _Job[Result]] | None:
        """The next to be done, once there is one; None at the end."""
        while True:
            with self._changed:
                left, session = self._left(), self._next()
                if session is not None:
                    job = self._waiting.pop(session)
                    self._running.add(session)
                elif not self._open:
                    return None
                elif not left:
                    self._changed.wait(REST_S if self._waiting else None)
            for gone in left:
                gone.future.set_result(None)
            if session is not None:
                return session, job

    def _rest(self, worked_s: float) -> None:
        """As long as the work took, once for each thread; waiting for a model is no work."""
        ends = monotonic() + min(worked_s * self._threads, MOST_REST_S)
        while self._open and self._busy() and (left := ends - monotonic()) > 0:
            sleep(min(left, REST_S))

    def _next(self) -> str | None:
        """The most urgent session among those nobody works on and whose turn it is."""
        now, free = monotonic(), [s for s in self._waiting if s not in self._running]
        if free and self._busy():
            free = [s for s in free if self._waiting[s].due_s <= now]
        return max(free, key=lambda s: self._waiting[s].urgency(now), default=None)

    def _left(self) -> list[_Job[Result]]:
        """What waited for sessions that were not heard of for long."""
        ago = monotonic() - LEFT_S
        names = [name for name, job in self._waiting.items() if job.asked_s < ago]
        return [self._waiting.pop(name) for name in names]

    def _run(self, job: _Job[Result]) -> None:
        ends = monotonic() + self._deadline_s
        try:
            result = job.work(lambda: self._open and monotonic() < ends)
        except Exception as error:  # noqa: BLE001  a decision may fail in any way; the thread goes on
            job.future.set_exception(error)
        else:
            job.future.set_result(result)
            job.after(result)
