"""Judging one state: all of a decision that takes long and needs nothing but the history itself.

It may therefore be done elsewhere.  What was committed before, what is secret, whether anybody
still wants to know, and the commit stay with the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from statecomp.controller.cached_summarizer import CachedSummarizer
from statecomp.controller.circumstances import Circumstances
from statecomp.controller.controller import Controller
from statecomp.controller.holds import locked
from statecomp.controller.spans import Rule
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment
from statecomp.recent import LruCache, Weighed
from statecomp.records.record import STANDS_IN, Record
from statecomp.strategy import MayFallSilent, ReadsAhead, Summarizer, View

FORESEEN = 80_000
"""Characters that are read ahead behind one request at most; a longer step is read when it must."""

Refused: TypeAlias = Callable[[Sequence[str]], bool]
"""Whether a summary of these sources was refused before."""


@dataclass(frozen=True)
class Judgement:
    """A view, the spans a summary was had for (sources, first, last), and what its writer objected.

    The objections are by interaction: why it is wanted kept.
    """

    view: View
    answered: tuple[tuple[tuple[str, ...], int, int], ...] = ()
    objections: Mapping[str, str] = field(default_factory=dict)


class Judge(Protocol):
    def judged(
        self,
        history: History,
        now: Circumstances,
        refetches: int,
        refused: Refused,
        summarizer: Summarizer | None = None,
    ) -> Judgement:
        """Algorithm 1; a `summarizer` stands in for the usual one."""
        ...

    def read_ahead(self, history: History) -> None:
        """Read what is new of a history before a record of it is asked for; nobody waits now."""
        ...


class Judging:
    """Judges here, asking for no summary that is known to fail."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self._paused: LruCache[tuple[str, ...], float] = LruCache(1024)
        # What was written and is not committed: it did not pay yet, or came too late.
        self._written: Weighed[tuple[str, ...], Record] = Weighed(
            256, lambda record: 1000 + 2 * len(record.body)
        )
        self._foreseen: LruCache[str, str] = LruCache(16_384)

    def judged(
        self,
        history: History,
        now: Circumstances,
        refetches: int,
        refused: Refused,
        summarizer: Summarizer | None = None,
    ) -> Judgement:
        writer, rule = summarizer or self.controller.summarizer, self.controller.rule
        replaced = sum(len(summary.sources) for summary in history.summaries)

        def rewritten(
            history: History,
            writer: Summarizer,
            rule: Rule,
            stands_in: Callable[[], bool] = lambda: False,
        ) -> Judgement:
            asked = CachedSummarizer(
                writer, refused, self._paused, self._written, stands_in=stands_in
            )
            rule = rule.stricter(refetches, replaced)
            view = replace(self.controller, summarizer=asked, rule=rule).rewrite(history, now)
            return Judgement(view, tuple(asked.answered), asked.objections)

        if not isinstance(writer, MayFallSilent):
            return rewritten(history, writer, rule)
        if writer.is_silent():
            return rewritten(history, writer, rule.for_extracts(), writer.is_silent)
        found = rewritten(history, writer, rule, writer.is_silent)
        stood_in = any(commit.by.startswith(STANDS_IN) for commit in found.view.commits)
        if not (writer.is_silent() and stood_in):
            return found
        # It fell silent meanwhile: what extracts stand for may have been too little sure for them.
        held = locked(history, found.objections)
        again = rewritten(held, writer.stand_in, rule.for_extracts(), lambda: True)
        return replace(again, objections=found.objections)

    def read_ahead(self, history: History) -> None:
        writer = self.controller.summarizer
        if not isinstance(writer, ReadsAhead):
            return
        left = FORESEEN
        for segment in reversed(history.segments):
            if self._foreseen.get(segment.id) or _is_open(segment):
                continue
            if len(segment.text) > left:
                continue
            left -= len(segment.text)
            self._foreseen.put(segment.id, segment.id)
            writer.read_ahead(segment)


def _is_open(segment: Segment) -> bool:
    """Whether it may yet change, or may never be replaced."""
    return isinstance(segment, Interaction) and bool(segment.locked)
