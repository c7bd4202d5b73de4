"""The one shape of every wire protocol: group messages, check them, write a summary into them.

A protocol knows nothing of ids, numbers or tokens; `assemble` adds those the same way for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from statecomp.history.interaction import Call, JsonObject, Observation


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive messages that form one segment, with what was read from them.

    `role` is empty for an interaction.  `essence` is the JSON value that identifies the group:
    content without cache markers and reasoning, both of which clients move and drop.
    """

    messages: tuple[JsonObject, ...]
    essence: Any
    role: str = ""
    text: str = ""
    reasoning: str = ""
    said: str = ""
    calls: tuple[Call, ...] = ()
    observations: tuple[Observation, ...] = ()
    locked: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """How a summary stands among the messages.

    `role` must be one that strict chat templates accept between turns; never system.  `merge`
    writes the summary into a neighbouring user message, for back ends that refuse two user
    messages in a row; otherwise neighbours go out untouched.
    """

    role: Literal["user", "assistant"] = "user"
    merge: bool = False


@dataclass(frozen=True, slots=True)
class Adapted:
    """A request body made fit for a rewritten history, and headers it must be sent with."""

    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken wire rule: which rule, where it is broken, and one sentence for a person."""

    rule: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text} [{self.rule}]"


Edit = Callable[[str], str]


class Wire(Protocol):
    """One provider protocol; what most of them have nothing to say about has a default."""

    @property
    def name(self) -> str: ...

    @property
    def placement(self) -> Placement: ...

    @property
    def key(self) -> str:
        """The field of a request body that holds the message list."""
        ...

    def preamble(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """(role, text) of pinned text that stands outside the message list."""
        return ()

    def groups(self, messages: Sequence[JsonObject], start: int = 0) -> Iterator[Group]:
        """Segments of `messages[start:]`; `start` must be a place where a segment begins.

        Raises InvalidHistory where the messages cannot be read at all.
        """
        ...

    def check(self, messages: Sequence[JsonObject], *, opening: bool = True) -> list[Violation]:
        """Broken rules.  `opening` is false for a window cut out of a longer list."""
        ...

    def write_summary(self, text: str) -> tuple[JsonObject, ...]: ...

    def lead_in(self, before: JsonObject) -> tuple[JsonObject, ...]:
        """What must stand between this message and a summary."""
        return ()

    def edit_observations(self, messages: Sequence[JsonObject], edit: Edit) -> list[JsonObject]:
        """An interaction's messages with each observation's text passed through.

        A message whose text stays as it was goes out as the very object that came in.
        """
        ...

    def untouchable(self, body: Mapping[str, Any]) -> str:
        """Why the history of this request must not be rewritten, or nothing."""
        return ""

    def adapt(
        self,
        body: Mapping[str, Any],
        messages: Sequence[JsonObject],
        first: int,
        anchor: JsonObject | None = None,
    ) -> Adapted:
        """The body with the rewritten messages; `first` is the first position that changed.

        `anchor` is the message up to which the provider should look for what it has cached, and
        keep it, where it must be told.
        Raises InvalidHistory where the provider would refuse this rewrite.
        """
        return Adapted({**body, self.key: list(messages)})
