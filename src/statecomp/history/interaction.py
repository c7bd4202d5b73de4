"""The three things a history is made of: pinned messages, interactions and summaries.

They are values: built once by a parser, never changed, compared by content.  Each keeps the very
wire objects it was read from, so that what is kept goes out exactly as it came in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an assistant action; `arguments` is the text that was sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One answer to an action; `call_id` is empty where the protocol has no call ids."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Interaction:
    """S_i = (R_i, A_i, O_i): reasoning, the assistant's action, and all that answers it.

    `number` is i, counted from one in the raw run.  `locked` says why it may never be replaced
    (an open call, a pending approval, the user's own words merged into a result), or is empty.
    """

    id: str
    number: int
    messages: tuple[JsonObject, ...]
    tokens: int
    reasoning: str = ""
    said: str = ""
    calls: tuple[Call, ...] = ()
    observations: tuple[Observation, ...] = ()
    locked: str = ""

    @property
    def action(self) -> str:
        """What the agent did, in its own words: visible text, then each call."""
        calls = (f"{call.name} {call.arguments}" for call in self.calls)
        return "\n".join(part for part in (self.said, *calls) if part)

    @property
    def observed(self) -> str:
        """All that answered the action, as text."""
        return "\n".join(observation.text for observation in self.observations)

    @property
    def text(self) -> str:
        """Everything readable in it, in order."""
        return "\n".join(part for part in (self.reasoning, self.action, self.observed) if part)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A message that is never replaced: system, developer, task, every real user message.

    `messages` is empty where the protocol keeps the text outside the message list.
    """

    id: str
    messages: tuple[JsonObject, ...]
    tokens: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The committed replacement of a span; `sources` are the interactions it stands for.

    `text` is what the model reads, frame included.  A summary is never summarised again: where a
    record of a finished task may become part of a shorter one, it carries its `originals`.  `by`
    says who wrote a new one, where a model was asked.
    """

    id: str
    messages: tuple[JsonObject, ...]
    tokens: int
    text: str
    sources: tuple[str, ...]
    first: int
    last: int
    originals: tuple[Interaction, ...] = field(default=(), repr=False, compare=False)
    by: str = field(default="", repr=False, compare=False)


Segment: TypeAlias = Pinned | Interaction | Summary
