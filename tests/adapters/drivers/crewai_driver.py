"""A CrewAI agent without a crew; the messages it ends with are where it begins again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from crewai import Agent
from crewai.llms.providers.anthropic.completion import AnthropicCompletion
from crewai.llms.providers.openai.completion import OpenAICompletion
from crewai.tools import tool as crew_tool
from drill import BINDING, MODEL, SYSTEM, TURNS, Ended, Errand, awaited, main
from drill import tool as plain

from statecomp.adapters.crewai import shorter


class News(OpenAICompletion):
    """CrewAI sends everything again beside the response it goes on from.

    A strict provider refuses what it holds already, so here only what is new is sent.
    """

    def call(self, messages: Any, *others: Any, **more: Any) -> Any:
        said = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
        fresh = messages[said[-1] + 1 :] if self._last_response_id and said else messages
        return super().call(fresh, *others, **more)


def elsewhere(errand: Errand) -> Any:
    """The provider keeps the history."""
    chained = {"api": "responses", "auto_chain": True}
    kind = adapted(errand, News)
    return kind(model=MODEL, base_url=f"{errand.url}/v1", api_key=errand.key_, **chained)


def openai(**more: Any) -> Callable[[Errand], Any]:
    def make(errand: Errand) -> Any:
        kind = adapted(errand, OpenAICompletion)
        return kind(model=MODEL, base_url=f"{errand.url}/v1", api_key=errand.key_, **more)

    return make


def claude(errand: Errand) -> Any:
    """CrewAI sends no thinking back beside calls, so none is bound to what stands before it."""
    kind = adapted(errand, AnthropicCompletion)
    thinking = {"thinking": {"type": "adaptive"}}
    return kind(model=BINDING, base_url=errand.url, api_key=errand.key_, additional_params=thinking)


def adapted(errand: Errand, kind: Any) -> Any:
    return shorter(kind, shortener=errand.shortener("crewai")) if errand.adapted else kind


def agent(errand: Errand, make: Callable[[Errand], Any]) -> Agent:
    return Agent(
        role="engineer",
        goal=SYSTEM,
        backstory="You look at things.",
        llm=make(errand),
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


def held(make: Callable[[Errand], Any], *, later: bool = False) -> Callable[[Errand], Any]:
    async def run(errand: Errand) -> Ended:
        finals: list[str] = []
        history: list[Any] = []
        for turns in (TURNS[:2], TURNS[2:]):
            made = agent(errand, make)
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
            "sync": called(held(openai())),
            "async": awaited(held(openai(), later=True)),
            "streamed": called(held(openai(stream=True))),
            "responses": called(held(openai(api="responses", store=False))),
            "bound": called(held(claude)),
            "kept elsewhere": called(held(elsewhere)),
        }
    )
