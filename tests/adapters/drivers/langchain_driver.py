"""LangChain's agent: sync, async and streamed, over three APIs; checkpoints in SQLite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deepagents import create_deep_agent
from drill import (
    BETA,
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
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool as langchain_tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from statecomp.adapters.langchain import StateCompMiddleware

THREAD = {"configurable": {"thread_id": "one"}, "recursion_limit": 1000}


def openai(errand: Errand) -> Any:
    return ChatOpenAI(model=MODEL, base_url=f"{errand.url}/v1", api_key=errand.key_)


def responses(errand: Errand) -> Any:
    url = f"{errand.url}/v1"
    return ChatOpenAI(
        model=MODEL, base_url=url, api_key=errand.key_, use_responses_api=True, store=False,
        include=["reasoning.encrypted_content"], reasoning={"effort": "low"},
    )  # fmt: skip


def elsewhere(errand: Errand) -> Any:
    """The provider keeps the history."""
    url = f"{errand.url}/v1"
    more = {"use_responses_api": True, "use_previous_response_id": True}
    return ChatOpenAI(model=MODEL, base_url=url, api_key=errand.key_, **more)


def claude(model: str, **more: Any) -> Callable[[Errand], Any]:
    given = {"model": model, "max_tokens": 2000, **more}
    return lambda errand: ChatAnthropic(base_url=errand.url, api_key=errand.key_, **given)


class Second(StateCompMiddleware):
    """Another of the same: LangChain takes no two of one name."""


def twice(*args: Any, **more: Any) -> Any:
    return create_agent(*args, **more)


def agent(
    errand: Errand, model: Callable[[Errand], Any], saver: Any, make: Any = create_agent
) -> Any:
    middleware: list[AgentMiddleware] = []
    if errand.adapted:
        middleware.append(StateCompMiddleware(shortener=errand.shortener("langchain")))
    if errand.adapted and make is twice:
        middleware.append(Second(shortener=errand.shortener("langchain")))
    tools = [langchain_tool(tool(errand))]
    return make(
        model(errand), tools, system_prompt=SYSTEM, middleware=middleware, checkpointer=saver
    )


def essence(message: BaseMessage) -> Any:
    """A signature is made over what stands before it, so it is another one behind a record."""
    parts = message.content if isinstance(message.content, list) else [message.content]
    bare = [{k: v for k, v in p.items() if k != "signature"} for p in parts if isinstance(p, dict)]
    return {
        "type": message.type,
        "content": bare or message.content,
        "calls": getattr(message, "tool_calls", None),
    }


def ended(finals: list[str], state: Any) -> Ended:
    return Ended(finals, [essence(message) for message in state.values["messages"]])


def asked(turn: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": turn}]}


def called(
    model: Callable[[Errand], Any], *, streams: bool = False, make: Any = create_agent
) -> Callable[[Errand], Ended]:
    def run(errand: Errand) -> Ended:
        finals = []
        # The third turn is held by a new agent, with a new adapter, over what was stored.
        for turns in (TURNS[:2], TURNS[2:]):
            with SqliteSaver.from_conn_string(str(errand.folder / "state.sqlite")) as saver:
                made = agent(errand, model, saver, make)
                for turn in turns:
                    if streams:
                        list(made.stream(asked(turn), THREAD, stream_mode="messages"))
                    else:
                        made.invoke(asked(turn), THREAD)
                    finals.append(made.get_state(THREAD).values["messages"][-1].text)
                state = made.get_state(THREAD)
        return ended(finals, state)

    return run


async def later(errand: Errand) -> Ended:
    finals = []
    place = str(errand.folder / "state.sqlite")
    for turns in (TURNS[:2], TURNS[2:]):
        async with AsyncSqliteSaver.from_conn_string(place) as saver:
            made = agent(errand, openai, saver)
            for turn in turns:
                done = await made.ainvoke(asked(turn), THREAD)
                finals.append(done["messages"][-1].text)
            state = await made.aget_state(THREAD)
    return ended(finals, state)


if __name__ == "__main__":
    main(
        {
            "sync": called(openai),
            "async": awaited(later),
            "streamed": called(openai, streams=True),
            "responses": called(responses),
            "anthropic": called(claude(CLAUDE)),
            "thinking": called(claude(CLAUDE, thinking={"type": "enabled", "budget_tokens": 1024})),
            "bound": called(claude(BINDING, thinking={"type": "adaptive"})),
            "forbidden": called(claude(BINDING, thinking=FORBIDDEN, betas=[BETA])),
            "kept elsewhere": called(elsewhere),
            "twice": called(openai, make=twice),
            "deepagents": called(openai, make=create_deep_agent),
        }
    )
