"""smolagents: what an agent writes of its memory before each model call; the memory stays whole.

    savings = attach(agent).savings         # and its managed agents; `detach(agent)` undoes it

There is no hook for this, so one method of the agent is replaced; step callbacks would change what
is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from statecomp.adapters.catalogue import needs
from statecomp.adapters.chat import assistant, call, result
from statecomp.adapters.shortener import Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

needs("smolagents")

from smolagents.memory import ActionStep, TaskStep  # noqa: E402  what is missing is said first
from smolagents.models import ChatMessage, MessageRole  # noqa: E402

METHOD = "write_memory_to_messages"


def to_chat(step: Any) -> list[JsonObject]:
    if isinstance(step, TaskStep):
        return [{"role": "user", "content": step.task}]
    if not isinstance(step, ActionStep) or not step.tool_calls:
        # Plans, and answers that could not be read: pinned.
        texts = [text_of(message.content) for message in step.to_messages()]
        return [{"role": "system", "content": "\n".join(texts)}]
    # Some agents call every call the same.
    names = [f"{step.step_number}.{made.id}" for made in step.tool_calls]
    made = zip(names, step.tool_calls, strict=True)
    calls = [call(name, one.name, one.arguments) for name, one in made]
    said = step.model_output if isinstance(step.model_output, str) else ""
    # One text answers all calls of a step.
    told = [step.observations or str(step.error or ""), *("(see above)" for _ in names[1:])]
    return [assistant(said, calls), *map(result, names, told)]


def to_record(message: JsonObject) -> Any:
    text = {"type": "text", "text": text_of(message["content"])}
    return ChatMessage(role=MessageRole.USER, content=[text])


def attach(agent: Any, *, shortener: Shortener | None = None, **options: Any) -> Shortener:
    """Takes what `Shortener` takes, or one that others use too; gives it back."""
    used = shortener or Shortener("smolagents", **options)
    for each in _all(agent):
        setattr(each, METHOD, partial(_write, each, used))
    return used


def detach(agent: Any) -> None:
    for each in _all(agent):
        vars(each).pop(METHOD, None)


def _all(agent: Any) -> Iterator[Any]:
    yield agent
    for managed in (getattr(agent, "managed_agents", None) or {}).values():
        yield from _all(managed)


def _write(agent: Any, shortener: Shortener, summary_mode: bool = False) -> list[Any]:
    if summary_mode:
        whole: list[Any] = getattr(type(agent), METHOD)(agent, summary_mode=True)
        return whole
    beside = {"model": str(getattr(agent.model, "model_id", ""))}
    steps = shortener.rewrite(agent.memory.steps, to_chat, to_record, beside=beside)
    made: list[Any] = list(agent.memory.system_prompt.to_messages())
    for step in steps:
        made.extend([step] if isinstance(step, ChatMessage) else step.to_messages())
    return made
