"""Pydantic AI over three APIs; its history as the JSON it is dumped to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from drill import (
    BINDING,
    CLAUDE,
    FORBIDDEN,
    MODEL,
    SYSTEM,
    TURNS,
    Ended,
    Errand,
    awaited,
    main,
    tool,
)
from pydantic_ai import Agent, ModelMessagesTypeAdapter, UsageLimits
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from statecomp.adapters.pydantic_ai import StateCompCapability, StateCompModel

UNSTEADY = (
    "signature",  # made over what stands before it
    "timestamp",
    "history_digest",
    "run_id",
    "conversation_id",
    "usage",
    "provider_response_id",
    "metadata",
)


def chat(errand: Errand) -> Any:
    provider = OpenAIProvider(base_url=f"{errand.url}/v1", api_key=errand.key_)
    return OpenAIChatModel(MODEL, provider=provider)


def responses(errand: Errand) -> Any:
    provider = OpenAIProvider(base_url=f"{errand.url}/v1", api_key=errand.key_)
    return OpenAIResponsesModel(MODEL, provider=provider)


def anthropic(errand: Errand, model: str = CLAUDE) -> Any:
    provider = AnthropicProvider(base_url=errand.url, api_key=errand.key_)
    return AnthropicModel(model, provider=provider)


def binding(errand: Errand) -> Any:
    return anthropic(errand, BINDING)


def agent(errand: Errand, make: Callable[[Errand], Any], *, wrapped: bool) -> Agent:
    model, more = make(errand), {}
    if errand.adapted and wrapped:
        model = StateCompModel(model, shortener=errand.shortener("pydantic_ai"))
    elif errand.adapted:
        capability = StateCompCapability(shortener=errand.shortener("pydantic_ai"))
        more = {"capabilities": [capability]}
    return Agent(model, tools=[tool(errand)], system_prompt=SYSTEM, **more)


def essence(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: essence(v) for k, v in value.items() if k not in UNSTEADY}
    return [essence(item) for item in value] if isinstance(value, list) else value


async def read(ctx: Any, events: Any) -> None:
    """With somebody who listens, the model streams."""
    async for _ in events:
        pass


def held(
    make: Callable[[Errand], Any], *, wrapped: bool = False, streams: bool = False, **settings: Any
) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals, stored = [], b"[]"
        for turns in (TURNS[:2], TURNS[2:]):
            made = agent(errand, make, wrapped=wrapped)
            for turn in turns:
                history = ModelMessagesTypeAdapter.validate_json(stored)
                more: dict[str, Any] = {"message_history": history, "model_settings": settings}
                more["usage_limits"] = UsageLimits(request_limit=None)
                if streams:
                    more["event_stream_handler"] = read
                done = await made.run(turn, **more)
                finals.append(done.output)
                stored = done.all_messages_json()
        return Ended(finals, essence(json.loads(stored)))

    return run


def at_once(errand: Errand, *, wrapped: bool = False) -> Ended:
    """As from a program without a loop."""
    finals, stored = [], b"[]"
    for turns in (TURNS[:2], TURNS[2:]):
        made = agent(errand, chat, wrapped=wrapped)
        for turn in turns:
            history = ModelMessagesTypeAdapter.validate_json(stored)
            limits = UsageLimits(request_limit=None)
            done = made.run_sync(turn, message_history=history, usage_limits=limits)
            finals.append(done.output)
            stored = done.all_messages_json()
    return Ended(finals, essence(json.loads(stored)))


if __name__ == "__main__":
    main(
        {
            "chat": awaited(held(chat)),
            "sync": at_once,
            "streamed": awaited(held(chat, streams=True)),
            "responses": awaited(held(responses)),
            "anthropic": awaited(held(anthropic)),
            "bound": awaited(held(binding, anthropic_thinking={"type": "adaptive"})),
            "forbidden": awaited(held(binding, anthropic_thinking=FORBIDDEN)),
            "model": awaited(held(chat, wrapped=True)),
            "model, sync": lambda errand: at_once(errand, wrapped=True),
            "kept elsewhere": awaited(held(responses, openai_previous_response_id="auto")),
            "model, kept elsewhere": awaited(
                held(responses, wrapped=True, openai_previous_response_id="auto")
            ),
            "model, streamed": awaited(held(chat, wrapped=True, streams=True)),
        }
    )
