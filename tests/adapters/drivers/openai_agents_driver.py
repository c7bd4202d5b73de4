"""The OpenAI Agents SDK over both of its APIs; its sessions in SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from drill import MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main, tool
from openai import AsyncOpenAI

from statecomp.adapters.openai_agents import StateCompFilter, StateCompModel

set_tracing_disabled(disabled=True)


def agent(errand: Errand, kind: Any, *, set_once: bool) -> tuple[Agent, RunConfig]:
    client = AsyncOpenAI(base_url=f"{errand.url}/v1", api_key=errand.key_)
    model: Any = kind(model=MODEL, openai_client=client)
    config = RunConfig()
    if errand.adapted and set_once:
        model = StateCompModel(model, shortener=errand.shortener("openai_agents"))
    elif errand.adapted:
        adapter = StateCompFilter(shortener=errand.shortener("openai_agents"))
        config = RunConfig(call_model_input_filter=adapter)
    tools = [function_tool(tool(errand))]
    return Agent(name="one", instructions=SYSTEM, model=model, tools=tools), config


def held(kind: Any, *, set_once: bool = False, streams: bool = False) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals = []
        for turns in (TURNS[:2], TURNS[2:]):
            session = SQLiteSession("one", errand.folder / "sessions.sqlite")
            made, config = agent(errand, kind, set_once=set_once)
            for turn in turns:
                more = {"session": session, "run_config": config, "max_turns": 100}
                if streams:
                    done: Any = Runner.run_streamed(made, turn, **more)
                    async for _ in done.stream_events():
                        pass
                else:
                    done = await Runner.run(made, turn, **more)
                finals.append(done.final_output)
            stored = await session.get_items()
            session.close()
        return Ended(finals, stored)

    return run


def at_once(errand: Errand) -> Ended:
    """As from a program without a loop."""
    finals = []
    for turns in (TURNS[:2], TURNS[2:]):
        session = SQLiteSession("one", errand.folder / "sessions.sqlite")
        made, config = agent(errand, OpenAIChatCompletionsModel, set_once=False)
        for turn in turns:
            more = {"session": session, "run_config": config, "max_turns": 100}
            finals.append(Runner.run_sync(made, turn, **more).final_output)
        stored = asyncio.run(session.get_items())
        session.close()
    return Ended(finals, stored)


def elsewhere(*, set_once: bool) -> Callable[[Errand], Any]:
    """The provider keeps the history."""

    async def run(errand: Errand) -> Ended:
        finals, last = [], None
        for turns in (TURNS[:2], TURNS[2:]):
            made, config = agent(errand, OpenAIResponsesModel, set_once=set_once)
            for turn in turns:
                more = {"run_config": config, "max_turns": 100, "auto_previous_response_id": True}
                done = await Runner.run(made, turn, previous_response_id=last, **more)
                last = done.last_response_id
                finals.append(done.final_output)
        return Ended(finals, [])

    return run


if __name__ == "__main__":
    main(
        {
            "chat": awaited(held(OpenAIChatCompletionsModel)),
            "sync": at_once,
            "responses": awaited(held(OpenAIResponsesModel)),
            "streamed": awaited(held(OpenAIResponsesModel, streams=True)),
            "set once": awaited(held(OpenAIChatCompletionsModel, set_once=True)),
            "kept elsewhere": awaited(elsewhere(set_once=False)),
            "set once, kept elsewhere": awaited(elsewhere(set_once=True)),
            "set once, streamed": awaited(held(OpenAIResponsesModel, set_once=True, streams=True)),
        }
    )
