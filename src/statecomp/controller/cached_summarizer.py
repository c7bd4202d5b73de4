"""A summariser that is not asked again for what it wrote or was refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from statecomp.errors import SummaryFailed
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.llm.chat import ChatFailed
from statecomp.recent import LruCache, Weighed
from statecomp.records.record import Objection, Record
from statecomp.strategy import Summarizer

PAUSE_S = 60.0
"""How long a summariser that could not be reached is left alone about one span."""
OBJECTED = "the writer of its record wants it kept"


@dataclass(frozen=True)
class CachedSummarizer:
    """For one decision; what it learns stays in what it is given."""

    inner: Summarizer
    refused: Callable[[Sequence[str]], bool]
    paused: LruCache[tuple[str, ...], float]
    written: Weighed[tuple[str, ...], Record]
    answered: list[tuple[tuple[str, ...], int, int]] = field(default_factory=list)
    objections: dict[str, str] = field(default_factory=dict)
    """By interaction, why its writer wants it kept."""
    stands_in: Callable[[], bool] = lambda: False
    """Whether another writes now for the usual writer, who is to be asked when it answers again."""

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        sources = _sources(span)
        if why := self._not_to_ask(sources):
            raise SummaryFailed(why)
        try:
            # Facts it need not tell when it was written are added by whoever verifies it.
            record = self.written.get(sources) or self._ask(span, situation)
        except Objection as error:
            self.objections.update(_kept(span, error))
            for (first, last), record in error.records.items():
                run = tuple(member.id for member in span if first <= member.number <= last)
                self.written.put(run, record)
            raise
        except SummaryFailed as error:
            # A server that was down says nothing about the span; anything else would come again.
            if isinstance(error.__cause__, ChatFailed):
                self.paused.put(sources, monotonic() + PAUSE_S)
            else:
                self.answered.append((sources, span[0].number, span[-1].number))
            raise
        self.answered.append((sources, span[0].number, span[-1].number))
        return record if self.stands_in() else self.written.put(sources, record)

    def _not_to_ask(self, sources: tuple[str, ...]) -> str:
        if self.refused(sources):
            return "its summary was refused before"
        if (until := self.paused.get(sources)) is not None and monotonic() < until:
            return "the summariser could not be reached a moment ago"
        return ""

    def _ask(self, span: Sequence[Interaction], situation: Situation) -> Record:
        named = ((other, _sources(other)) for other in situation.also)
        also = tuple(
            other
            for other, sources in named
            if self.written.get(sources) is None and not self._not_to_ask(sources)
        )
        return self.inner.summarize(span, replace(situation, also=also))


def _sources(span: Sequence[Interaction]) -> tuple[str, ...]:
    return tuple(interaction.id for interaction in span)


def _kept(span: Sequence[Interaction], error: Objection) -> dict[str, str]:
    reasons = {member.id: error.keep.get(member.number) for member in span}
    return {name: f"{OBJECTED}: {why}" for name, why in reasons.items() if why is not None}
