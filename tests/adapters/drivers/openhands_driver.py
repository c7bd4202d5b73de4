"""The OpenHands SDK with a tool of our own; its conversation in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from uuid import UUID

os.environ.update(OPENHANDS_SUPPRESS_BANNER="1", LOG_LEVEL="WARNING")

from drill import BETA, BINDING, DROPS, MODEL, TURNS, Ended, Errand, awaited, look, main, unsigned
from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.event import LLMConvertibleEvent
from openhands.sdk.tool import Action, Observation, ToolDefinition, ToolExecutor, register_tool
from pydantic import Field, SecretStr

from statecomp.adapters.openhands import StateCompCondenser

NAME = UUID(int=7)
CURRENT: list[Errand] = []
Model = Callable[[Errand], dict[str, Any]]


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


def openai(errand: Errand) -> dict[str, Any]:
    return {"model": f"openai/{MODEL}", "base_url": f"{errand.url}/v1"}


def streamed(errand: Errand) -> dict[str, Any]:
    return {**openai(errand), "stream": True}


class Dropping(LLM):
    """Claude, set to drop thinking behind a change: no setting of the SDK does that."""

    def completion(self, *args: Any, **more: Any) -> Any:
        return super().completion(*args, thinking=DROPS, **more)


def binding(errand: Errand) -> dict[str, Any]:
    return {**refusing(errand), "extra_headers": {"anthropic-beta": BETA}}


def refusing(errand: Errand) -> dict[str, Any]:
    """What it is set to by the effort, if to anything."""
    return {"model": f"anthropic/{BINDING}", "base_url": errand.url}


def conversation(errand: Errand, model: Model) -> Any:
    key = SecretStr(errand.key_)
    kind = Dropping if model is binding else LLM
    llm = kind(**model(errand), api_key=key, usage_id="agent", caching_prompt=False)
    condenser = None
    if errand.adapted:
        shortener = errand.shortener("openhands", drops_thinking=model is binding)
        condenser = StateCompCondenser().sharing(shortener)
    tools = [Tool(name="LookTool")]
    agent = Agent(llm=llm, tools=tools, include_default_tools=[], condenser=condenser)
    return Conversation(
        agent=agent,
        workspace=str(errand.folder / "work"),
        persistence_dir=str(errand.folder / "conversations"),
        conversation_id=NAME,
        visualizer=None,
        stuck_detection=False,
        token_callbacks=[lambda chunk: None] if model is streamed else None,
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
    names = ("role", "content", "thinking_blocks")
    return Ended(finals, unsigned([{k: m[k] for k in names if k in m} for m in kept]))


def called(model: Model) -> Callable[[Errand], Ended]:
    def run(errand: Errand) -> Ended:
        CURRENT.append(errand)
        finals = []
        for turns in (TURNS[:2], TURNS[2:]):
            made = conversation(errand, model)
            for turn in turns:
                made.send_message(turn)
                made.run()
                finals.append(final(made))
        return ended(finals, made)

    return run


async def later(errand: Errand) -> Ended:
    CURRENT.append(errand)
    finals = []
    for turns in (TURNS[:2], TURNS[2:]):
        made = conversation(errand, openai)
        for turn in turns:
            made.send_message(turn)
            await made.arun()
            finals.append(final(made))
    return ended(finals, made)


VARIANTS: dict[str, Callable[[Errand], Ended]] = {
    "sync": called(openai),
    "async": awaited(later),
    "streamed": called(streamed),
    "bound": called(binding),
    "forbidden": called(refusing),
}

if __name__ == "__main__":
    main(VARIANTS)
