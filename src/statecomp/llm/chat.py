"""What asking a model means: a question, a whole answer and its cost, or ChatFailed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from statecomp.errors import StateCompError


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """What a call was billed; `cached_tokens` are those of `input_tokens` read from a cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


NOTHING_USED = ChatUsage()


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer; `stop` is the server's own word for why it ended."""

    text: str
    usage: ChatUsage
    stop: str = ""
    model: str = ""


class ChatFailed(StateCompError):
    """No usable answer; `retryable` says whether the same question may fare better later.

    `usage` is what the useless answer cost, where the server said so.
    """

    def __init__(
        self, problem: str, *, retryable: bool = False, usage: ChatUsage = NOTHING_USED
    ) -> None:
        self.retryable = retryable
        self.usage = usage
        super().__init__(problem)


class QuestionFailed(ChatFailed):
    """No answer to this question, which says nothing about the next.

    The model called a tool, refused or was cut off, or the question was too long for it.
    """


class Chat(Protocol):
    """A model that answers one prompt with one text, or raises ChatFailed."""

    @property
    def model(self) -> str: ...

    def ask(
        self,
        system: str,
        prompt: str,
        *,
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> Completion:
        """The answer; with a `schema`, JSON that should fit it (the caller still checks)."""
        ...
