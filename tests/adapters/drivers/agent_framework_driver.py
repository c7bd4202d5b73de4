"""Microsoft Agent Framework over both of OpenAI's APIs; its session as the JSON it is dumped to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agent_framework import Agent, AgentSession, InMemoryHistoryProvider, tool
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from drill import MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main
from drill import tool as plain

from statecomp.adapters.agent_framework import StateCompMiddleware


def agent(errand: Errand, kind: Any) -> Agent:
    client = kind(model=MODEL, api_key=errand.key_, base_url=f"{errand.url}/v1")
    more: dict[str, Any] = {}
    if errand.adapted:
        more["middleware"] = [StateCompMiddleware(shortener=errand.shortener("agent_framework"))]
    looking = tool(plain(errand), approval_mode="never_require")
    return Agent(
        client,
        instructions=SYSTEM,
        tools=[looking],
        context_providers=[InMemoryHistoryProvider()],
        default_options={"store": False} if kind is OpenAIChatClient else {},
        **more,
    )


def essence(value: Any) -> Any:
    if isinstance(value, dict):
        unsteady = (
            "id",
            "message_id",
            "raw_representation",
            "session_id",
            "created_at",
            "usage_details",
        )
        return {k: essence(v) for k, v in value.items() if k not in unsteady}
    return [essence(item) for item in value] if isinstance(value, list) else value


def held(kind: Any, *, streams: bool = False) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals = []
        session = AgentSession(session_id="one")
        for turns in (TURNS[:2], TURNS[2:]):
            session = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))
            made = agent(errand, kind)
            for turn in turns:
                if streams:
                    stream = made.run(turn, session=session, stream=True)
                    done = await stream.get_final_response()
                else:
                    done = await made.run(turn, session=session)
                finals.append(done.messages[-1].text)
        state = essence(session.to_dict())
        (messages,) = _lists(state)
        return Ended(finals, messages)

    return run


def _lists(value: Any) -> list[Any]:
    """The one list of messages in what a session is dumped to."""
    if isinstance(value, dict):
        return [m for k, v in value.items() for m in ([v] if k == "messages" else _lists(v))]
    return []


if __name__ == "__main__":
    main(
        {
            "chat": awaited(held(OpenAIChatCompletionClient)),
            "responses": awaited(held(OpenAIChatClient)),
            "streamed": awaited(held(OpenAIChatCompletionClient, streams=True)),
        }
    )
