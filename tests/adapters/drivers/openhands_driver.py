"""The OpenHands SDK with a tool of our own; its conversation in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from uuid import UUID

os.environ.update(OPENHANDS_SUPPRESS_BANNER="1", LOG_LEVEL="WARNING")

from drill import MODEL, TURNS, Ended, Errand, awaited, look, main
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.event import LLMConvertibleEvent
from openhands.sdk.tool import Action, Observation, ToolDefinition, ToolExecutor, register_tool
from pydantic import Field, SecretStr

from statecomp.adapters.openhands import StateCompCondenser

NAME = UUID(int=7)
CURRENT: list[Errand] = []


class LookAction(Action):
    step: int = Field(description="Which step it is.")
    part: int = Field(description="Which part of it.")


class LookObservation(Observation):
    pass


class Looking(ToolExecutor):
    def __call__(self, action: LookAction, conversation: Any = None) -> Any:
        CURRENT[-1].seen.calls.append([action.step, action.part])
        return LookObservation.from_text(look(action.step, action.part))


class LookTool(ToolDefinition[LookAction, LookObservation]):
    name: ClassVar[str] = "look"

    @classmethod
    def create(cls, conv_state: Any = None, **params: Any) -> Sequence[Any]:
        return [
            cls(
                description="Look at one part.",
                action_type=LookAction,
                observation_type=LookObservation,
                executor=Looking(),
            )
        ]


register_tool("LookTool", LookTool)


def conversation(errand: Errand) -> Any:
    llm = LLM(
        model=f"openai/{MODEL}",
        api_key=SecretStr(errand.key_),
        base_url=f"{errand.url}/v1",
        usage_id="agent",
        caching_prompt=False,
    )
    more: dict[str, Any] = {}
    if errand.adapted:
        more["condenser"] = StateCompCondenser().sharing(errand.shortener("openhands"))
    else:
        more["condenser"] = None
    agent = Agent(llm=llm, tools=[Tool(name="LookTool")], include_default_tools=[], **more)
    return Conversation(
        agent=agent,
        workspace=str(errand.folder / "work"),
        persistence_dir=str(errand.folder / "conversations"),
        conversation_id=NAME,
        visualizer=None,
        stuck_detection=False,
    )


def final(made: Any) -> str:
    events = [e for e in made.state.events if isinstance(e, LLMConvertibleEvent)]
    message = events[-1].to_llm_message()
    return "".join(getattr(part, "text", "") for part in message.content).strip()


def ended(finals: list[str], made: Any) -> Ended:
    kept = [
        e.to_llm_message().model_dump(mode="json", exclude_none=True)
        for e in made.state.events
        if isinstance(e, LLMConvertibleEvent)
    ]
    return Ended(finals, [{"role": m["role"], "content": m["content"]} for m in kept])


def called(errand: Errand) -> Ended:
    CURRENT.append(errand)
    finals = []
    for turns in (TURNS[:2], TURNS[2:]):
        made = conversation(errand)
        for turn in turns:
            made.send_message(turn)
            made.run()
            finals.append(final(made))
    return ended(finals, made)


async def later(errand: Errand) -> Ended:
    CURRENT.append(errand)
    finals = []
    for turns in (TURNS[:2], TURNS[2:]):
        made = conversation(errand)
        for turn in turns:
            made.send_message(turn)
            await made.arun()
            finals.append(final(made))
    return ended(finals, made)


VARIANTS: dict[str, Callable[[Errand], Ended]] = {"sync": called, "async": awaited(later)}

if __name__ == "__main__":
    main(VARIANTS)
