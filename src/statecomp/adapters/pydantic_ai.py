"""Pydantic AI: a capability; and for versions whose capabilities change what is stored, a model.

Agent(model, capabilities=[StateCompCapability()])
Agent(StateCompModel(model))                        # every version since 1.107, set once
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from statecomp.adapters.binding import dropping, with_beta
from statecomp.adapters.catalogue import NotSupported, client_name, needs, proved_versions
from statecomp.adapters.chat import assistant, call, result, thought
from statecomp.adapters.ownership import unchanged
from statecomp.adapters.shortener import Saving, Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

needs("pydantic_ai")

from pydantic_ai.messages import (  # noqa: E402  what is missing is said first
    ModelMessage,
    ModelRequest,
    ModelResponse,
    UserPromptPart,
)
from pydantic_ai.models.wrapper import WrapperModel  # noqa: E402

try:
    from pydantic_ai.capabilities import AbstractCapability
except ImportError:
    AbstractCapability = object

# Nothing but these may go: whatever else a response holds is kept with its whole step.
ORDINARY = ("text", "thinking", "tool-call")
ANSWERS = ("tool-return", "retry-prompt")
OLD = "has no hook that leaves what is stored alone; StateCompModel(model) does the same"
CLAUDE, THINKING = "anthropic", "anthropic_thinking"
KEPT_ELSEWHERE = ("openai_previous_response_id", "openai_conversation_id")


def to_chat(message: ModelMessage) -> list[JsonObject]:
    if isinstance(message, ModelRequest):
        return [_part(part) for part in _in_order(message)] or [{"role": "system", "content": ""}]
    said = "".join(part.content for part in message.parts if part.part_kind == "text")
    thoughts = [thought(part.content) for part in message.parts if part.part_kind == "thinking"]
    called = [part for part in message.parts if part.part_kind == "tool-call"]
    calls = [call(one.tool_call_id, one.tool_name, one.args_as_json_str()) for one in called]
    return [assistant(said, calls, thoughts)]


def _in_order(message: ModelRequest) -> list[Any]:
    """Answers to calls first: that is where every protocol wants them."""
    return sorted(message.parts, key=lambda part: not _answers(part))


def _answers(part: Any) -> bool:
    return part.part_kind in ANSWERS and bool(getattr(part, "tool_name", None))


def _part(part: Any) -> JsonObject:
    if _answers(part):
        read = getattr(part, "model_response_str", None) or part.model_response
        return result(part.tool_call_id, read())
    if part.part_kind == "user-prompt":
        return {"role": "user", "content": _words(part.content)}
    # System prompts, and what changes instructions or tools on the way: pinned.
    return {"role": "system", "content": str(getattr(part, "content", part.part_kind))}


def _words(content: str | Sequence[Any]) -> Any:
    if isinstance(content, str):
        return content
    return [
        {"type": "text", "text": one if isinstance(one, str) else f"[{type(one).__name__}]"}
        for one in content
    ]


def to_record(message: JsonObject) -> ModelMessage:
    return ModelRequest(parts=[UserPromptPart(text_of(message["content"]))])


def part_of(message: ModelRequest, kept: Sequence[int]) -> ModelMessage:
    """A request may hold the answers to calls and the user's next words."""
    return replace(message, parts=[_in_order(message)[place] for place in kept])


def keep(message: ModelMessage) -> bool:
    return isinstance(message, ModelResponse) and any(
        part.part_kind not in ORDINARY for part in message.parts
    )


async def shorter(
    shortener: Shortener, messages: list[Any], model: Any, settings: Mapping[str, Any] | None
) -> tuple[list[Any], Any]:
    """The messages to send instead, and the settings to send them with."""
    given = settings or {}
    if any(given.get(name) for name in KEPT_ELSEWHERE):
        return messages, settings
    name = str(getattr(model, "model_name", ""))
    beside = {"model": name, "thinking": given.get(THINKING)}
    tells = getattr(model, "system", "") == CLAUDE
    more: Any = {"beside": beside, "keep": keep, "tells": tells}
    made = await shortener.arewrite(messages, to_chat, to_record, part=part_of, **more)
    said = (one for item in messages for one in to_chat(item))
    told = None if unchanged(messages, made) else dropping(name, given.get(THINKING), said)
    if told is None:
        return made, settings
    headers = with_beta(given.get("extra_headers") or {}, told.headers)
    return made, {**given, THINKING: told.body["thinking"], "extra_headers": headers}


class StateCompCapability(Saving, AbstractCapability):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        if not hasattr(AbstractCapability, "prepare_model_request"):
            problem = f"{OLD} ({', '.join(proved_versions('pydantic_ai'))} has one)"
            raise NotSupported(problem, field=client_name("pydantic_ai"))
        self.shortener = shortener or Shortener("pydantic_ai", **options)

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        how = (request_context.model, request_context.model_settings)
        made, settings = await shorter(self.shortener, request_context.messages, *how)
        return replace(request_context, messages=made, model_settings=settings)


class StateCompModel(Saving, WrapperModel):
    """Another model, sent less; takes what the capability takes."""

    def __init__(self, wrapped: Any, *, shortener: Shortener | None = None, **options: Any) -> None:
        super().__init__(wrapped)
        self.shortener = shortener or Shortener("pydantic_ai", **options)

    async def request(self, messages: list[Any], model_settings: Any, *others: Any) -> Any:
        made, settings = await shorter(self.shortener, messages, self.wrapped, model_settings)
        return await super().request(made, settings, *others)

    @asynccontextmanager
    async def request_stream(
        self, messages: list[Any], model_settings: Any, *others: Any
    ) -> AsyncIterator[Any]:
        made, settings = await shorter(self.shortener, messages, self.wrapped, model_settings)
        async with super().request_stream(made, settings, *others) as stream:
            yield stream
