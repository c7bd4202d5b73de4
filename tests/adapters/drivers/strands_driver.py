"""Strands over four APIs, always streamed; its session in files."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from drill import (
    BETA,
    BINDING,
    CLAUDE,
    DROPS,
    MODEL,
    SYSTEM,
    TURNS,
    Ended,
    Errand,
    awaited,
    main,
    unsigned,
)
from drill import tool as plain
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel
from strands.session.file_session_manager import FileSessionManager

from statecomp.adapters.strands import StateCompPlugin


def openai(errand: Errand) -> Any:
    args = {"base_url": f"{errand.url}/v1", "api_key": errand.key_}
    return OpenAIModel(client_args=args, model_id=MODEL)


def anthropic(errand: Errand) -> Any:
    args = {"base_url": errand.url, "api_key": errand.key_}
    return AnthropicModel(client_args=args, model_id=CLAUDE, max_tokens=2000)


def binding(errand: Errand) -> Any:
    """The plugin cannot set the model, so its owner does."""
    args = {"base_url": errand.url, "api_key": errand.key_}
    args["default_headers"] = {"anthropic-beta": BETA}
    more = {"max_tokens": 2000, "params": {"thinking": DROPS}}
    return AnthropicModel(client_args=args, model_id=BINDING, **more)


def refusing(errand: Errand) -> Any:
    """Its owner lets it refuse."""
    args = {"base_url": errand.url, "api_key": errand.key_}
    more = {"max_tokens": 2000, "params": {"thinking": {"type": "adaptive"}}}
    return AnthropicModel(client_args=args, model_id=BINDING, **more)


def responses(errand: Errand) -> Any:
    args = {"base_url": f"{errand.url}/v1", "api_key": errand.key_}
    return OpenAIResponsesModel(client_args=args, model_id=MODEL)


class News(OpenAIResponsesModel):
    """Strands sends the running turn again beside the response it goes on from.

    A strict provider refuses what it holds already, so here only what is new is sent.
    """

    async def stream(self, messages: Any, *others: Any, **more: Any) -> Any:
        fresh = messages[-1:] if (more.get("model_state") or {}).get("response_id") else messages
        async for event in super().stream(fresh, *others, **more):
            yield event


def elsewhere(errand: Errand) -> Any:
    """The provider keeps the history."""
    args = {"base_url": f"{errand.url}/v1", "api_key": errand.key_}
    return News(client_args=args, model_id=MODEL, stateful=True)


class Alternating(OpenAIModel):
    """Takes no two messages of one role in a row, as Bedrock does not."""

    async def stream(self, messages: Any, *others: Any, **more: Any) -> Any:
        roles = [message["role"] for message in messages]
        assert all(a != b for a, b in itertools.pairwise(roles)), roles
        async for event in super().stream(messages, *others, **more):
            yield event


def alternating(errand: Errand) -> Any:
    args = {"base_url": f"{errand.url}/v1", "api_key": errand.key_}
    return Alternating(client_args=args, model_id=MODEL)


def agent(errand: Errand, model: Callable[[Errand], Any]) -> Agent:
    more: dict[str, Any] = {}
    if errand.adapted:
        shortener = errand.shortener("strands", drops_thinking=model is binding)
        more["plugins"] = [StateCompPlugin(shortener=shortener)]
    return Agent(
        model=model(errand),
        tools=[tool(plain(errand))],
        system_prompt=SYSTEM,
        callback_handler=None,
        # A model that keeps the conversation takes no manager.
        conversation_manager=None if model is elsewhere else NullConversationManager(),
        session_manager=FileSessionManager("one", storage_dir=str(errand.folder)),
        **more,
    )


def ended(finals: list[str], made: Agent) -> Ended:
    kept = [{"role": m["role"], "content": unsigned(m["content"])} for m in made.messages]
    return Ended(finals, kept)


def called(model: Callable[[Errand], Any]) -> Callable[[Errand], Ended]:
    def run(errand: Errand) -> Ended:
        finals = []
        for turns in (TURNS[:2], TURNS[2:]):
            made = agent(errand, model)
            finals += [str(made(turn)).strip() for turn in turns]
        return ended(finals, made)

    return run


async def later(errand: Errand) -> Ended:
    finals = []
    for turns in (TURNS[:2], TURNS[2:]):
        made = agent(errand, openai)
        for turn in turns:
            finals.append(str(await made.invoke_async(turn)).strip())
    return ended(finals, made)


if __name__ == "__main__":
    main(
        {
            "sync": called(openai),
            "async": awaited(later),
            "anthropic": called(anthropic),
            "alternating": called(alternating),
            "bound": called(binding),
            "responses": called(responses),
            "forbidden": called(refusing),
            "kept elsewhere": called(elsewhere),
        }
    )
