"""A history: pinned messages, whole interactions and summaries, in the order they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from statecomp.history.interaction import Interaction, JsonObject, Pinned, Segment, Summary
from statecomp.history.referrals import pointed_to


class Span(NamedTuple):
    """Positions `start <= p < stop` in the segments of one history."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class History:
    """An immutable sequence of segments; it never changes, it is replaced.

    `checkpoint` is k: the number of the interaction the agent is about to take.
    """

    segments: tuple[Segment, ...]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The names of the segments, which tell how far another history begins as this one."""
        return tuple([segment.id for segment in self.segments])

    @cached_property
    def tokens(self) -> int:
        """Tok(H): the same serialisation and tokenizer that counted each segment."""
        return sum([segment.tokens for segment in self.segments])

    @cached_property
    def interactions(self) -> tuple[Interaction, ...]:
        """The surviving raw interactions, I_k."""
        return tuple([s for s in self.segments if isinstance(s, Interaction)])

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """The records that stand for replaced interactions, in order."""
        return tuple([s for s in self.segments if isinstance(s, Summary)])

    @cached_property
    def pointed_to(self) -> Mapping[str, str]:
        """The interactions that later answers send the agent to, each with the reason to stay."""
        return pointed_to(self.interactions)

    @cached_property
    def checkpoint(self) -> int:
        """k: the number of the interaction the agent is about to take."""
        for segment in reversed(self.segments):
            if isinstance(segment, Interaction):
                return segment.number + 1
            if isinstance(segment, Summary):
                return segment.last + 1
        return 1

    @property
    def messages(self) -> list[JsonObject]:
        """The wire objects, in order: the very ones that came in, where they were kept."""
        return [message for segment in self.segments for message in segment.messages]

    def members(self, span: Span) -> tuple[Interaction, ...]:
        """The interactions of a span, or the originals of its records.

        Anything else inside it is a mistake of the caller.
        """
        found: list[Interaction] = []
        for segment in self.segments[span.start : span.stop]:
            if isinstance(segment, Interaction):
                found.append(segment)
            elif isinstance(segment, Summary) and segment.originals:
                found += segment.originals
            else:
                raise ValueError(f"{span} of this history holds more than interactions")
        return tuple(found)

    def is_chapter(self, span: Span) -> bool:
        """Whether records stand in the span, to be replaced by one of all their originals."""
        return isinstance(self.segments[span.start], Summary)

    def replace(self, span: Span, summary: Summary) -> History:
        """The history in which `summary` stands where the span stood."""
        return History(
            (*self.segments[: span.start], summary, *self.segments[span.stop :]),
        )

    def shape(self) -> str:
        """One letter a segment (`p`, `i`, `s`): the way tests and logs draw a history."""
        letters = {Pinned: "p", Interaction: "i", Summary: "s"}
        return "".join(letters[type(segment)] for segment in self.segments)
