"""LangGraph: its ready-made agent with a hook before the model, and a graph of one's own."""

from __future__ import annotations

from typing import Any

from drill import BETA, BINDING, DROPS, TURNS, Ended, Errand, awaited, main, tool
from langchain_core.tools import tool as langchain_tool
from langchain_driver import MODEL, SYSTEM, THREAD, asked, claude, ended, openai
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

from statecomp.adapters.langgraph import StateCompHook


def ready_made(errand: Errand, saver: Any, model: Any = openai, **options: Any) -> Any:
    shortener = errand.shortener("langgraph", **options) if errand.adapted else None
    hook = StateCompHook(shortener=shortener) if shortener else None
    return create_react_agent(
        model(errand),
        [langchain_tool(tool(errand))],
        prompt=SYSTEM,
        pre_model_hook=hook.runnable if hook else None,
        checkpointer=saver,
    )


def claude_that_drops(errand: Errand, saver: Any) -> Any:
    """The hook cannot set the model, so its owner does."""
    model = claude(BINDING, thinking=DROPS, betas=[BETA])
    return ready_made(errand, saver, model, drops_thinking=True)


def claude_that_refuses(errand: Errand, saver: Any) -> Any:
    return ready_made(errand, saver, claude(BINDING, thinking={"type": "adaptive"}))


def own(errand: Errand, saver: Any) -> Any:
    hook = StateCompHook(shortener=errand.shortener("langgraph")) if errand.adapted else None
    tools = [langchain_tool(tool(errand))]
    model = openai(errand).bind_tools(tools)

    def think(state: MessagesState) -> dict[str, Any]:
        messages = state["messages"]
        given = hook.shorten(messages, model=MODEL) if hook else messages
        return {"messages": [model.invoke([("system", SYSTEM), *given])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile(checkpointer=saver)


def called(errand: Errand, make: Any, *, streams: bool = False) -> Ended:
    finals = []
    for turns in (TURNS[:2], TURNS[2:]):
        with SqliteSaver.from_conn_string(str(errand.folder / "state.sqlite")) as saver:
            made = make(errand, saver)
            for turn in turns:
                if streams:
                    list(made.stream(asked(turn), THREAD, stream_mode="messages"))
                else:
                    made.invoke(asked(turn), THREAD)
                state = made.get_state(THREAD)
                finals.append(state.values["messages"][-1].text)
    return ended(finals, state)


async def later(errand: Errand) -> Ended:
    finals = []
    for turns in (TURNS[:2], TURNS[2:]):
        place = str(errand.folder / "state.sqlite")
        async with AsyncSqliteSaver.from_conn_string(place) as saver:
            made = ready_made(errand, saver)
            for turn in turns:
                done = await made.ainvoke(asked(turn), THREAD)
                finals.append(done["messages"][-1].text)
            state = await made.aget_state(THREAD)
    return ended(finals, state)


if __name__ == "__main__":
    main(
        {
            "sync": lambda errand: called(errand, ready_made),
            "async": awaited(later),
            "streamed": lambda errand: called(errand, ready_made, streams=True),
            "bound": lambda errand: called(errand, claude_that_drops),
            "forbidden": lambda errand: called(errand, claude_that_refuses),
            "own graph": lambda errand: called(errand, own),
        }
    )
