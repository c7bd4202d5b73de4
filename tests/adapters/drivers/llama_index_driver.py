"""LlamaIndex's function agent; its context as the JSON it is dumped to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drill import MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main, tool
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI

from statecomp.adapters.llama_index import shorter


def agent(errand: Errand, *, streams: bool) -> FunctionAgent:
    kind: Any = OpenAI
    if errand.adapted:
        kind = shorter(OpenAI, shortener=errand.shortener("llama_index"))
    llm = kind(model=MODEL, api_base=f"{errand.url}/v1", api_key=errand.key_)
    return FunctionAgent(
        tools=[FunctionTool.from_defaults(tool(errand))],
        llm=llm,
        system_prompt=SYSTEM,
        streaming=streams,
        timeout=None,
    )


def held(*, streams: bool) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        memory = Memory.from_defaults(session_id="one", token_limit=10_000_000)
        for turns in (TURNS[:2], TURNS[2:]):
            made = agent(errand, streams=streams)
            for turn in turns:
                done = await made.run(turn, memory=memory, max_iterations=100)
                finals.append(str(done))
        kept = await memory.aget_all()
        return Ended(finals, [essence(message) for message in kept])

    return run


def essence(message: Any) -> Any:
    blocks = [block.model_dump(mode="json") for block in message.blocks]
    return [str(message.role.value), blocks]


if __name__ == "__main__":
    main({"async": awaited(held(streams=False)), "streamed": awaited(held(streams=True))})
