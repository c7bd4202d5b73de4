"""Where the agent stands when a span is about to be replaced: what a writer knows besides it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from statecomp.history.documents import readings
from statecomp.history.facts import FactIndex
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary

LATEST = 3
"""How many of the last steps say what the agent is busy with."""

_LIST = re.compile(r"todo|update_?plan|task_?(?:tracker|list)", re.IGNORECASE)


class Noted(NamedTuple):
    """What the agent noted down as done and open, and at which step."""

    step: int
    text: str


@dataclass(frozen=True)
class Situation:
    """The history around a span; `rest` knows the identifiers of all of it.

    A writer that is told nothing else still knows the names that stand elsewhere.  `going` are the
    other spans that are replaced at this checkpoint; `also`, latest last, those of them that it
    will be asked for, and may write in one go.  `finished` says that the user has moved on to
    another task since.
    """

    rest: FactIndex = field(default_factory=FactIndex)
    before: tuple[Segment, ...] = ()
    after: tuple[Segment, ...] = ()
    also: tuple[tuple[Interaction, ...], ...] = ()
    going: tuple[tuple[Interaction, ...], ...] = ()
    finished: bool = False

    @classmethod
    def around(
        cls, span: Span, history: History, rest: FactIndex, also: Sequence[Span] = ()
    ) -> Situation:
        """What surrounds a span of this history."""
        finished = history.is_chapter(span)
        # A chapter is written for another reader than the steps of today: nothing rides along.
        steps = () if finished else [other for other in also if not history.is_chapter(other)]
        others = tuple(map(history.members, steps))
        before, after = history.segments[: span.start], history.segments[span.stop :]
        return cls(rest, before, after, others, others, finished)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """Every message of the user, oldest first: the task, and each later word."""
        users = (s for s in self._segments() if isinstance(s, Pinned) and s.role == "user")
        return tuple(segment.text for segment in users)

    @property
    def preambles(self) -> int:
        """How many messages of the user's stand before the one that the first step follows."""
        opening = takewhile(lambda segment: isinstance(segment, Pinned), self.before)
        users = sum(isinstance(segment, Pinned) and segment.role == "user" for segment in opening)
        return max(0, users - 1)

    @cached_property
    def records(self) -> tuple[Summary, ...]:
        """What stands for earlier replaced steps."""
        return tuple(s for s in self._segments() if isinstance(s, Summary))

    @cached_property
    def interactions(self) -> tuple[Interaction, ...]:
        """The steps that stay as they are."""
        return tuple(s for s in self._segments() if isinstance(s, Interaction))

    @property
    def latest(self) -> tuple[Interaction, ...]:
        """The last steps before the checkpoint, as far as the span leaves them."""
        return self.interactions[-LATEST:]

    @cached_property
    def documents(self) -> Mapping[str, Interaction]:
        """Where the documents that the user names stay to be read, by path."""
        going = {step.id for span in self.going for step in span}
        return readings(self.asked, [step for step in self.interactions if step.id not in going])

    def noted(self, steps: Iterable[Interaction]) -> Noted | None:
        """The newest list that the agent keeps, in these steps or in those that stay."""
        known = sorted((*self.interactions, *steps), key=lambda step: -step.number)
        for step in known:
            for call in reversed(step.calls):
                if _LIST.search(call.name):
                    return Noted(step.number, call.arguments)
        return None

    def _segments(self) -> Iterator[Segment]:
        yield from self.before
        yield from self.after
