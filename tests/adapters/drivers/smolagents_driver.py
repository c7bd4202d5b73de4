"""smolagents' tool calling agent; it stores nothing, so its memory is handed on."""

from __future__ import annotations

from typing import Any

from drill import MODEL, TURNS, Ended, Errand, main
from drill import tool as plain
from smolagents import OpenAIModel, ToolCallingAgent, tool

from statecomp.adapters.smolagents import attach


def agent(errand: Errand, *, streams: bool) -> ToolCallingAgent:
    model = OpenAIModel(model_id=MODEL, api_base=f"{errand.url}/v1", api_key=errand.key_)
    made = ToolCallingAgent(
        [tool(plain(errand))], model, max_steps=100, verbosity_level=0, stream_outputs=streams
    )
    if errand.adapted:
        attach(made, shortener=errand.shortener("smolagents"))
    return made


def essence(step: Any) -> Any:
    calls = [[c.name, c.arguments] for c in getattr(step, "tool_calls", None) or ()]
    return [type(step).__name__, calls, getattr(step, "observations", None)]


def held(errand: Errand, *, streams: bool = False) -> Ended:
    first = agent(errand, streams=streams)
    finals = [first.run(TURNS[0]), first.run(TURNS[1], reset=False)]
    again = agent(errand, streams=streams)
    again.memory.steps = list(first.memory.steps)
    finals.append(again.run(TURNS[2], reset=False))
    return Ended(finals, [essence(step) for step in again.memory.steps])


if __name__ == "__main__":
    main({"sync": held, "streamed": lambda errand: held(errand, streams=True)})
