"""Text-action runs: the assistant's text holds the action, the next user message its observation.

Chosen by name only.  In an ordinary chat the user message after an assistant message is the user
speaking, and must never be taken for tool output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from statecomp.history.interaction import JsonObject, Observation
from statecomp.history.validity import Violation
from statecomp.wire.content import edited_content, strip_markers
from statecomp.wire.openai_chat.pairing import paired
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.protocol import Adapted, Edit, Group, Placement
from statecomp.wire.provider import Provider


@dataclass(frozen=True, slots=True)
class TextAction:
    placement: Placement = Placement()
    name: str = "text-action"
    key: str = "messages"

    def preamble(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        return ()

    def groups(self, messages: Sequence[JsonObject], start: int = 0) -> Iterator[Group]:
        """Chat groups, where the user message behind an unanswered action joins it."""
        waiting: Group | None = None
        for group in OpenAIChat().groups(messages, start):
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

    def check(self, messages: Sequence[JsonObject], *, opening: bool = True) -> list[Violation]:
        return OpenAIChat().check(messages, opening=opening)

    def write_summary(self, text: str) -> tuple[JsonObject, ...]:
        return ({"role": self.placement.role, "content": text},)

    def lead_in(self, before: JsonObject) -> tuple[JsonObject, ...]:
        return ()

    def edit_observations(self, messages: Sequence[JsonObject], edit: Edit) -> list[JsonObject]:
        return [
            message if message.get("role") == "assistant" else edited_content(message, edit)
            for message in messages
        ]

    def untouchable(self, body: Mapping[str, Any]) -> str:
        return ""

    def adapt(self, body: Mapping[str, Any], messages: Sequence[JsonObject], first: int) -> Adapted:
        return Adapted({**body, self.key: list(messages)})


def _answered(action: Group, answer: Group) -> Group:
    message = answer.messages[0]
    return replace(
        action,
        messages=(*action.messages, message),
        essence=[*action.essence, strip_markers(message)],
        observations=(Observation("", answer.text),),
    )


TEXT_ACTION = Provider("text-action", TextAction, paired=paired, user_answers=True)
