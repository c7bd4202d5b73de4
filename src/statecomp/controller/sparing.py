"""A summariser that is not asked again for what it wrote or was refused."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from statecomp.errors import SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.ledger.commits import CommitLog
from statecomp.llm.chat import ChatFailed
from statecomp.llm.record import Record
from statecomp.recent import Recent
from statecomp.strategy import Summarizer

PAUSE_S = 60.0
"""How long a summariser that could not be reached is left alone about one span."""


class Sparing:
    """For one decision; what it learns stays in what it is given."""

    def __init__(
        self,
        inner: Summarizer,
        log: CommitLog,
        paused: Recent[tuple[str, ...], float],
        written: Recent[tuple[str, ...], Record],
    ) -> None:
        self._inner = inner
        self._log = log
        self._paused = paused
        self._written = written
        self.answered: list[tuple[tuple[str, ...], int, int]] = []

    def summarize(self, span: Sequence[Interaction], rest: FactIndex) -> Record:
        sources = tuple(interaction.id for interaction in span)
        if self._log.refused(sources):
            raise SummaryFailed("its summary was refused before")
        if (until := self._paused.get(sources)) is not None and monotonic() < until:
            raise SummaryFailed("the summariser could not be reached a moment ago")
        try:
            # Facts it need not tell when it was written are added by whoever verifies it.
            record = self._written.get(sources) or self._inner.summarize(span, rest)
        except SummaryFailed as error:
            # A server that was down says nothing about the span; anything else would come again.
            if isinstance(error.__cause__, ChatFailed):
                self._paused.put(sources, monotonic() + PAUSE_S)
            else:
                self.answered.append((sources, span[0].number, span[-1].number))
            raise
        self.answered.append((sources, span[0].number, span[-1].number))
        return self._written.put(sources, record)
