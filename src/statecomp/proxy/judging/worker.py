"""The process that judges: it keeps what it was told of conversations, and knows no store."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from statecomp.compressor import StateComp
from statecomp.controller.judging import Judging
from statecomp.errors import StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import Segment
from statecomp.ledger.audit import LedgerFailed
from statecomp.proxy.judging.asked import (
    READY,
    AnsweredState,
    Engine,
    Failed,
    Missing,
    Name,
    Opening,
    Refusing,
    SentJudgement,
    StateQuestion,
)
from statecomp.recent import MEMORY, LruCache, Weighed

NOTHING = History(())
ENGINES, SEGMENTS = 64, 400_000
TIMES = 3
"""A segment in memory, over the same one pickled."""
BEHIND = 5
"""How far this process stands back, where cores are few, from the one that answers requests."""


def work(pipe: Connection[Any, Any], opening: Opening) -> None:
    """Answers until the service is gone, which ends by itself what it interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        os.nice(BEHIND)
    MEMORY.most_bytes = opening.memory_bytes
    worker = Worker(pipe, opening)
    gc.freeze()
    with suppress(EOFError, OSError):
        pipe.send(READY)
        while True:
            worker.answer(pipe.recv())


class Worker:
    def __init__(self, pipe: Connection[Any, Any], opening: Opening) -> None:
        self._pipe = pipe
        self._opening = opening
        self._method = opening.method()
        self._engines: LruCache[Engine, StateComp] = LruCache(ENGINES)
        self._segments: Weighed[tuple[Engine, Name], tuple[Segment, int]] = Weighed(
            SEGMENTS, lambda known: known[1]
        )

    def answer(self, question: StateQuestion) -> None:
        try:
            found = self._found(question)
        except (EOFError, OSError):
            raise
        except Exception as error:  # noqa: BLE001  the service is told, whatever it is
            told = str(error) if isinstance(error, StateCompError) else type(error).__name__
            found = Failed(told)
        self._pipe.send(AnsweredState(found, MEMORY.bytes))
        if isinstance(found, SentJudgement):
            self._read_ahead(question)

    def _read_ahead(self, question: StateQuestion) -> None:
        """Read what is new while nobody waits for this process."""
        names = [(question.engine, name) for name in question.names]
        known = self._segments.get_all(names)
        history = History(tuple(known[name][0] for name in names if name in known))
        self._engine(question.engine).read_ahead(history)

    def _found(self, question: StateQuestion) -> SentJudgement | dict[str, float] | Failed:
        history = self._history(question)
        judge = self._engine(question.engine).judge
        assert isinstance(judge, Judging)
        if question.now is None:
            return dict(judge.controller.scorer.score(history))
        found = judge.judged(history, question.now, question.refetches, self._refused)
        places = {id(segment): place for place, segment in enumerate(history.segments)}
        order = tuple(places.get(id(s), s) for s in found.view.history.segments)
        return SentJudgement(replace(found, view=replace(found.view, history=NOTHING)), order)

    def _engine(self, name: Engine) -> StateComp:
        known = self._engines.get(name)
        if known is not None:
            return known
        return self._engines.put(
            name, self._method.engine(name[1], mark_key=self._opening.mark_key)
        )

    def _history(self, question: StateQuestion) -> History:
        names = [(question.engine, name) for name in question.names]
        known = self._segments.get_all(names)
        missing = [place for place, name in enumerate(names) if name not in known]
        if missing:
            self._pipe.send(Missing(tuple(missing)))
            sent: Sequence[bytes] = self._pipe.recv()
            news = {
                names[place]: (pickle.loads(pickled), 500 + TIMES * len(pickled))
                for place, pickled in zip(missing, sent, strict=True)
            }
            self._segments.put_all(news)
            known |= news
        return History(tuple(known[name][0] for name in names))

    def _refused(self, sources: Sequence[str]) -> bool:
        self._pipe.send(Refusing(tuple(sources)))
        told: bool | None = self._pipe.recv()
        if told is None:
            raise LedgerFailed("the ledger does not say what was refused before")
        return told
