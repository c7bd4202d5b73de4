"""Text-action runs: the assistant's text holds the action, the next user message its observation.

Chosen by name only.  In an ordinary chat the user message after an assistant message is the user
speaking, and must never be taken for tool output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from statecomp.history.interaction import JsonObject, Observation
from statecomp.wire.content import strip_markers
from statecomp.wire.openai_chat.pairing import paired
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.protocol import Group
from statecomp.wire.provider import Provider


@dataclass(frozen=True, slots=True)
class TextAction(OpenAIChat):
    """Chat messages, grouped otherwise: the user message behind an action is its result."""

    name: str = "text-action"

    def groups(self, messages: Sequence[JsonObject], start: int = 0) -> Iterator[Group]:
        """As in a chat, but the user message behind an unanswered action joins it."""
        waiting: Group | None = None
        for group in OpenAIChat(self.placement).groups(messages, start):
            if waiting is not None and group.role == "user":
                yield _answered(waiting, group)
                waiting = None
                continue
            if waiting is not None:
                yield waiting
            waiting = None if group.role or group.observations else group
            if waiting is None:
                yield group
        if waiting is not None:
            yield waiting


def _answered(action: Group, answer: Group) -> Group:
    message = answer.messages[0]
    return replace(
        action,
        messages=(*action.messages, message),
        essence=[*action.essence, strip_markers(message)],
        observations=(Observation("", answer.text),),
    )


TEXT_ACTION = Provider("text-action", TextAction, paired=paired, user_answers=True)
