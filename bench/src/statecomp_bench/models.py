"""The acting model: whatever answers a list of messages and tools with one assistant message.

`RemoteModel` asks any OpenAI-compatible server; `acting.ScriptedModel` needs none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Protocol, cast

from statecomp.errors import BadInput, StateCompError
from statecomp.history.interaction import JsonObject
from statecomp.llm.chat import NOTHING_USED, ChatUsage, Completion
from statecomp.llm.replies import Json, mapping
from statecomp.wire.chats import open_chat
from statecomp.wire.openai_chat.chat import CompletionsChat

MOST_OUTPUT_TOKENS = 8192
DEADLINE_S = 300.0


class ModelFailed(StateCompError):
    """The model gave no message that an agent could act on."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An assistant message; `usage` is what the server billed, nothing where it did not say."""

    message: JsonObject
    usage: ChatUsage = NOTHING_USED


class Model(Protocol):
    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        """The next assistant message; raises a StateCompError where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class _Turn(CompletionsChat):
    """One request with tools over the chat client's own deadlines and retries."""

    messages: tuple[JsonObject, ...] = ()
    tools: tuple[JsonObject, ...] = ()

    def _body(
        self, system: str, prompt: str, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Json:
        body = super(_Turn, self)._body(system, prompt, max_tokens, schema)
        return {**body, "messages": list(self.messages), "tools": list(self.tools)}

    def _completion(self, reply: Json) -> Completion:
        choices = reply.get("choices")
        choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
        counts = mapping(reply.get("usage"))
        details = mapping(counts.get("prompt_tokens_details"))
        usage = ChatUsage(
            int(counts.get("prompt_tokens") or 0),
            int(counts.get("completion_tokens") or 0),
            int(details.get("cached_tokens") or 0),
        )
        return Completion(json.dumps(mapping(choice.get("message"))), usage)


class RemoteModel:
    """An OpenAI-compatible server behind `Model`."""

    def __init__(self, chat: CompletionsChat, deadline_s: float = DEADLINE_S) -> None:
        self._turn = _Turn(chat.model, chat.base_url, chat.api_key, deadline_s)

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        turn = replace(self._turn, messages=tuple(messages), tools=tuple(tools))
        completion = turn.ask("", "", max_tokens=MOST_OUTPUT_TOKENS)
        return Reply(json.loads(completion.text), completion.usage)


def open_remote(
    spec: str, base_url: str, environ: Mapping[str, str], deadline_s: float = DEADLINE_S
) -> RemoteModel:
    """`openai:NAME`, with the key and default address of the environment."""
    if find_spec("httpx") is None:
        raise BadInput("a remote model needs httpx: install statecomp[chat]")
    if not spec.startswith("openai:"):
        raise BadInput("an acting model is named scripted[:VARIANT] or openai:NAME", field="model")
    chat = open_chat(f"{spec}@{base_url}" if base_url else spec, environ=environ)
    return RemoteModel(cast(CompletionsChat, chat), deadline_s)


def usable(message: object) -> JsonObject:
    """The message with only what a history may hold; raises ModelFailed for garbage or nothing."""
    if not isinstance(message, Mapping):
        raise ModelFailed("the model answered with no message")
    content, calls = message.get("content"), message.get("tool_calls") or []
    if not isinstance(content, str | list | None) or not isinstance(calls, list):
        raise ModelFailed("the model answered with a message of an unknown shape")
    if not content and not calls:
        raise ModelFailed("the model answered with nothing")
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ModelFailed("the model answered with a tool call of an unknown shape")
        if not isinstance(function.get("arguments"), str) or not call.get("id"):
            raise ModelFailed("the model answered with a tool call without id or arguments")
    kept = {"role": "assistant", "content": content}
    return {**kept, "tool_calls": calls} if calls else kept
