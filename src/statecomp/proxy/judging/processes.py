"""The processes that judge, seen from the service: they may be slow, be killed, or not start.

Then a state is judged at a later request, or, where no process can be had, in a thread of this one.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock
from time import monotonic
from typing import Any, NoReturn
from zlib import crc32

from statecomp.controller.circumstances import Circumstances
from statecomp.controller.judging import Judge, Judgement, Refused
from statecomp.errors import ScoringFailed, StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import Pinned, Summary
from statecomp.proxy.judging.asked import (
    AnsweredState,
    Engine,
    Failed,
    Missing,
    Opening,
    Refusing,
    SentJudgement,
    StateQuestion,
    name_of,
)
from statecomp.proxy.judging.worker import work
from statecomp.strategy import Scorer, Summarizer

FAILURES = 3
"""Processes that ended before they answered once, in a row: then none is started for a while."""
REST_S = 60.0
ENDING_S = 2.0


class JudgingFailed(StateCompError):
    """Nothing was decided at this state; the next request decides anew."""


class _Nowhere(Exception):
    """There is no process to be had."""


class Process:
    """One process, started when it is needed, and again when it ended; one question at a time."""

    def __init__(self, opening: Opening, limit_s: float) -> None:
        self.memory_bytes = self.lost = 0
        self._opening = opening
        self._limit_s = limit_s
        self._lock = Lock()
        self._running: tuple[SpawnProcess, Connection[Any, Any]] | None = None
        self._loaded = False
        self._failures = 0
        self._rests_until = 0.0

    @property
    def pid(self) -> int | None:
        return self._running[0].pid if self._running is not None else None

    def ready(self, patience_s: float = 0.0) -> bool:
        """Whether it has loaded what it needs, after so long at most."""
        with self._lock:
            return self._is_ready(self._started(), patience_s)

    def ask(self, question: StateQuestion, history: History, refused: Refused) -> AnsweredState:
        """Raises JudgingFailed, and _Nowhere where there is no process that could be asked."""
        with self._lock:
            pipe = self._started()
            try:
                ready = self._is_ready(pipe)
                if ready:
                    pipe.send(question)
                    answer = self._answered(pipe, history, refused)
            except Exception as error:
                # It ended, or its time is over; or what was said stays without an answer.
                self._end()
                self._failed()
                raise JudgingFailed("the process that judges did not answer") from error
            if not ready:
                self._not_ready()
            self._failures, self.memory_bytes = 0, answer.memory_bytes
            return answer

    def _is_ready(self, pipe: Connection[Any, Any], patience_s: float = 0.0) -> bool:
        if not self._loaded and pipe.poll(patience_s):
            pipe.recv()
            self._loaded = True
        return self._loaded

    def _not_ready(self) -> NoReturn:
        """What ended one process is not tried on this one while there is no other."""
        if self.lost:
            raise JudgingFailed("the process that judges is being started again")
        raise _Nowhere

    def _started(self) -> Connection[Any, Any]:
        if self._running is not None and self._running[0].is_alive():
            return self._running[1]
        if monotonic() < self._rests_until:
            raise _Nowhere
        self._end()
        spawn = get_context("spawn")
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=work, args=(theirs, self._opening), daemon=True)
        try:
            process.start()
        except OSError as error:
            ours.close()
            self._failed()
            raise _Nowhere from error
        finally:
            theirs.close()
        self._running, self._loaded = (process, ours), False
        return ours

    def _answered(
        self, pipe: Connection[Any, Any], history: History, refused: Refused
    ) -> AnsweredState:
        ends = monotonic() + self._limit_s
        while pipe.poll(max(0.0, ends - monotonic())):
            said = pipe.recv()
            if isinstance(said, AnsweredState):
                return said
            if isinstance(said, Missing):
                # One by one: others get their turn in between.
                pipe.send([pickle.dumps(history.segments[place]) for place in said.places])
            elif isinstance(said, Refusing):
                pipe.send(_asked(refused, said.sources))
        raise TimeoutError

    def _failed(self) -> None:
        self.lost += 1
        self._failures += 1
        if self._failures >= FAILURES:
            self._failures, self._rests_until = 0, monotonic() + REST_S

    def _end(self) -> None:
        if self._running is None:
            return
        process, pipe = self._running
        self._running, self.memory_bytes = None, 0
        pipe.close()
        process.kill()
        process.join(ENDING_S)
        with suppress(ValueError):  # it does not end, whatever that is
            process.close()

    def close(self) -> None:
        self._rests_until = float("inf")
        if self._running is not None:
            self._running[0].kill()
        with self._lock:
            self._end()


def _asked(refused: Refused, sources: Sequence[str]) -> bool | None:
    try:
        return refused(sources)
    except StateCompError:
        return None


class Judges:
    """A few processes; a conversation is always judged by the same one, which remembers it."""

    def __init__(self, opening: Opening, processes: int, limit_s: float) -> None:
        self.processes = [Process(opening, limit_s) for _ in range(processes)]

    @property
    def memory_bytes(self) -> int:
        return sum(process.memory_bytes for process in self.processes)

    @property
    def lost(self) -> int:
        return sum(process.lost for process in self.processes)

    def ready(self, patience_s: float) -> bool:
        return all(process.ready(patience_s) for process in self.processes)

    def judging(self, engine: Engine) -> Callable[[Judge], Judge]:
        return lambda here: _JudgedAway(self, engine, here)

    def scorer(self, engine: Engine, here: Scorer) -> Scorer:
        return _ScoredAway(self, engine, here)

    def ask(self, question: StateQuestion, history: History, refused: Refused) -> AnsweredState:
        process = self.processes[crc32(_run(history).encode()) % len(self.processes)]
        return process.ask(question, history, refused)

    def close(self) -> None:
        for process in self.processes:
            process.close()


def _run(history: History) -> str:
    """The name of the first interaction, which stays when that is replaced."""
    for segment in history.segments:
        if isinstance(segment, Summary):
            return segment.sources[0]
        if not isinstance(segment, Pinned):
            return segment.id
    return ""


@dataclass(frozen=True)
class _JudgedAway:
    judges: Judges
    engine: Engine
    here: Judge

    def judged(
        self,
        history: History,
        now: Circumstances,
        refetches: int,
        refused: Refused,
        summarizer: Summarizer | None = None,
    ) -> Judgement:
        if summarizer is not None:
            return self.here.judged(history, now, refetches, refused, summarizer)
        names = tuple(map(name_of, history.segments))
        question = StateQuestion(self.engine, names, now, refetches)
        try:
            found = self.judges.ask(question, history, refused).found
        except _Nowhere:
            return self.here.judged(history, now, refetches, refused)
        if not isinstance(found, SentJudgement):
            raise JudgingFailed(found.why if isinstance(found, Failed) else "it was not judged")
        segments = history.segments
        order = tuple(segments[s] if isinstance(s, int) else s for s in found.order)
        view = replace(found.judgement.view, history=History(order))
        return replace(found.judgement, view=view)

    def read_ahead(self, history: History) -> None:
        """The process that judges does it by itself, once it has answered."""


@dataclass(frozen=True)
class _ScoredAway:
    """For records that a model writes: it is asked from here, with keys that stay here."""

    judges: Judges
    engine: Engine
    here: Scorer

    @property
    def name(self) -> str:
        return str(getattr(self.here, "name", ""))

    def score(self, history: History) -> Mapping[str, float]:
        question = StateQuestion(self.engine, tuple(map(name_of, history.segments)))
        try:
            found = self.judges.ask(question, history, lambda sources: False).found
        except _Nowhere:
            return self.here.score(history)
        except JudgingFailed as error:
            raise ScoringFailed(str(error)) from error
        if isinstance(found, Failed | SentJudgement):
            raise ScoringFailed(found.why if isinstance(found, Failed) else "it was not scored")
        return found
