"""What a service and a process that judges for it say to each other, pickled, through a pipe.

A question names the segments of a history.  The process asks for those it does not have, and may
ask whether a summary was refused before; then it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from statecomp.controller.circumstances import Circumstances
from statecomp.controller.judging import Judgement
from statecomp.history.interaction import Interaction, Segment, Summary
from statecomp.method import Method

Engine: TypeAlias = tuple[str, str]
"""A tenant and a protocol: what is remembered of one is not seen by another."""
Name: TypeAlias = tuple[str, int, str]
READY = "ready"
"""The first that a process says."""


def name_of(segment: Segment) -> Name:
    """Under which a segment is remembered: locked or not, with its originals or without."""
    if isinstance(segment, Interaction):
        return segment.id, segment.number, segment.locked
    if isinstance(segment, Summary):
        return segment.id, segment.first, "told" if segment.originals else ""
    return segment.id, 0, segment.role


@dataclass(frozen=True)
class Opening:
    """What a process is started with; it makes the method for itself."""

    method: Callable[[], Method]
    mark_key: bytes = field(default=b"", repr=False)
    memory_bytes: int = 256 << 20


@dataclass(frozen=True)
class StateQuestion:
    """A state to be judged at this moment; without one, only scores are asked for."""

    engine: Engine
    names: tuple[Name, ...]
    now: Circumstances | None = None
    refetches: int = 0


@dataclass(frozen=True)
class Missing:
    """Places in the question whose segments have to be sent, each pickled."""

    places: tuple[int, ...]


@dataclass(frozen=True)
class Refusing:
    """Was a summary of these refused before?  None says that nobody knows."""

    sources: tuple[str, ...]


@dataclass(frozen=True)
class SentJudgement:
    """A judgement whose view has no history: that is `order`, places in the question, and news."""

    judgement: Judgement
    order: tuple[int | Segment, ...]


@dataclass(frozen=True)
class Failed:
    why: str


@dataclass(frozen=True)
class AnsweredState:
    found: SentJudgement | Mapping[str, float] | Failed
    memory_bytes: int
