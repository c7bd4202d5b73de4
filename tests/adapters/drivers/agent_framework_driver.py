"""Microsoft Agent Framework over three APIs; its session as the JSON it is dumped to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agent_framework import Agent, AgentSession, InMemoryHistoryProvider, tool
from agent_framework.anthropic import AnthropicClient
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from anthropic import AsyncAnthropic
from drill import BETA, BINDING, DROPS, MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main, unsigned
from drill import tool as plain

from statecomp.adapters.agent_framework import StateCompMiddleware

Make = Callable[[Errand], Any]


def chat(errand: Errand) -> Any:
    url = f"{errand.url}/v1"
    return OpenAIChatCompletionClient(model=MODEL, api_key=errand.key_, base_url=url)


def responses(errand: Errand) -> Any:
    return OpenAIChatClient(model=MODEL, api_key=errand.key_, base_url=f"{errand.url}/v1")


def claude(errand: Errand) -> Any:
    inner = AsyncAnthropic(base_url=errand.url, api_key=errand.key_)
    return AnthropicClient(model=BINDING, anthropic_client=inner, additional_beta_flags=[BETA])


def agent(errand: Errand, make: Make, options: Any, drops: bool, more: Any) -> Agent:
    given = dict(more)
    if errand.adapted:
        shortener = errand.shortener("agent_framework", drops_thinking=drops)
        given["middleware"] = [StateCompMiddleware(shortener=shortener)]
    looking = tool(plain(errand), approval_mode="never_require")
    return Agent(
        make(errand), instructions=SYSTEM, tools=[looking], default_options=options, **given
    )


def thinking(setting: Any) -> Any:
    return {"thinking": setting, "max_tokens": 2000}


def essence(value: Any) -> Any:
    if isinstance(value, dict):
        unsteady = (
            "id",
            "message_id",
            "raw_representation",
            "session_id",
            "created_at",
            "usage_details",
            "protected_data",  # a signature, made over what stands before it
        )
        return {k: essence(v) for k, v in value.items() if k not in unsteady}
    return [essence(item) for item in value] if isinstance(value, list) else value


def held(
    make: Make, *, streams: bool = False, drops: bool = False, stored: bool = True, **more: Any
) -> Callable[[Errand], Any]:
    """Where nothing is `stored` here, the service keeps the conversation."""
    options = more.pop("options", {})
    if stored:
        more["context_providers"] = [InMemoryHistoryProvider()]

    async def run(errand: Errand) -> Ended:
        finals = []
        session = AgentSession(session_id="one")
        for turns in (TURNS[:2], TURNS[2:]):
            session = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))
            made = agent(errand, make, options, drops, more)
            for turn in turns:
                if streams:
                    stream = made.run(turn, session=session, stream=True)
                    done = await stream.get_final_response()
                else:
                    done = await made.run(turn, session=session)
                finals.append(done.messages[-1].text)
        state = essence(session.to_dict())
        return Ended(finals, unsigned(_lists(state)[0]) if stored else [])

    return run


def _lists(value: Any) -> list[Any]:
    """The one list of messages in what a session is dumped to."""
    if isinstance(value, dict):
        return [m for k, v in value.items() for m in ([v] if k == "messages" else _lists(v))]
    return []


if __name__ == "__main__":
    main(
        {
            "chat": awaited(held(chat)),
            "responses": awaited(held(responses, options={"store": False})),
            "streamed": awaited(held(chat, streams=True)),
            "bound": awaited(held(claude, drops=True, options=thinking(DROPS))),
            "bound, streamed": awaited(
                held(claude, drops=True, options=thinking(DROPS), streams=True)
            ),
            "forbidden": awaited(held(claude, options=thinking({"type": "adaptive"}))),
            "kept elsewhere": awaited(held(responses, stored=False)),
            "stored by call": awaited(
                held(chat, require_per_service_call_history_persistence=True)
            ),
        }
    )
