"""A CrewAI agent without a crew; the messages it ends with are where it begins again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from crewai import Agent
from crewai.llms.providers.openai.completion import OpenAICompletion
from crewai.tools import tool as crew_tool
from drill import MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main
from drill import tool as plain

from statecomp.adapters.crewai import shorter


def agent(errand: Errand, *, streams: bool) -> Agent:
    kind: Any = OpenAICompletion
    if errand.adapted:
        kind = shorter(OpenAICompletion, shortener=errand.shortener("crewai"))
    llm = kind(model=MODEL, base_url=f"{errand.url}/v1", api_key=errand.key_, stream=streams)
    return Agent(
        role="engineer",
        goal=SYSTEM,
        backstory="You look at things.",
        llm=llm,
        tools=[crew_tool("look")(plain(errand))],
        max_iter=200,
        verbose=False,
    )


def asked(history: list[Any], turn: str) -> list[Any]:
    return [*history, {"role": "user", "content": turn}]


def kept(output: Any) -> list[Any]:
    """Without the prompt of the agent's own, which it writes again."""
    said = [dict(message) for message in output.messages if message["role"] != "system"]
    made: list[Any] = json.loads(json.dumps(said, default=str))
    return made


def held(*, later: bool, streams: bool = False) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        history: list[Any] = []
        for turns in (TURNS[:2], TURNS[2:]):
            made = agent(errand, streams=streams)
            for turn in turns:
                given = asked(history, turn)
                output = await made.kickoff_async(given) if later else made.kickoff(given)
                finals.append(output.raw)
                history = kept(output)
        return Ended(finals, history)

    return run


def called(run: Callable[[Errand], Any]) -> Callable[[Errand], Ended]:
    """Outside of any event loop, as a script would."""

    def done(errand: Errand) -> Ended:
        try:
            run(errand).send(None)
        except StopIteration as end:
            ended: Ended = end.value
            return ended
        raise AssertionError("it waited for something")

    return done


if __name__ == "__main__":
    main(
        {
            "sync": called(held(later=False)),
            "async": awaited(held(later=True)),
            "streamed": called(held(later=False, streams=True)),
        }
    )
