"""A chat that says what it was told to say: for tests, examples and dry runs.

Nothing in it is random and nothing leaves the process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from statecomp.llm.chat import ChatUsage, Completion

Reply: TypeAlias = str | Completion | Exception
"""A text, a completion with its own usage, or an error to raise."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, as the chat received it."""

    system: str
    prompt: str
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    deadline_s: float | None = None


class ScriptBroken(AssertionError):
    """The script and the calls do not match.

    It is no StateCompError, so that nothing takes a wrong test for a failing model.
    """


def quarter(text: str) -> int:
    """A token is about four characters: good enough for invented usage."""
    return -(-len(text) // 4)


class ScriptedChat:
    """Answers from a list, one reply a call, or from a function of the question."""

    def __init__(
        self,
        script: Callable[[Asked], Reply] | Iterable[Reply],
        *,
        model: str = "scripted",
        count: Callable[[str], int] = quarter,
    ) -> None:
        self.model = model
        self.asked: list[Asked] = []
        self._answer = script if callable(script) else None
        self._replies = deque(() if callable(script) else script)
        self._count = count

    def ask(
        self,
        system: str,
        prompt: str,
        *,
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
    ) -> Completion:
        question = Asked(system, prompt, max_tokens, schema, deadline_s)
        self.asked.append(question)
        reply = self._reply(question)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        usage = ChatUsage(self._count(system) + self._count(prompt), self._count(reply))
        return Completion(reply, usage, stop="stop", model=self.model)

    def _reply(self, question: Asked) -> Reply:
        if self._answer is not None:
            return self._answer(question)
        if not self._replies:
            raise ScriptBroken(f"call {len(self.asked)} was not in the script")
        return self._replies.popleft()

    def assert_exhausted(self) -> None:
        """Raise ScriptBroken if replies are left; a function has none to leave."""
        if self._replies:
            raise ScriptBroken(f"{len(self._replies)} scripted replies were never asked for")
