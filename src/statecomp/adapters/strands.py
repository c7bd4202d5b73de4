"""Strands Agents: a plugin before each model call; the agent's messages stay as they are.

    Agent(plugins=[StateCompPlugin()], conversation_manager=NullConversationManager())

The default conversation manager keeps the newest forty messages, and drops the user's task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.adapters.catalogue import needs
from statecomp.adapters.claims import is_record
from statecomp.adapters.shortener import Saving, Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import markers, text_of

needs("strands")

from strands.agent.conversation_manager import (  # noqa: E402  what is missing is said first
    SlidingWindowConversationManager,
)
from strands.middleware import InvokeModelStage  # noqa: E402
from strands.plugins import Plugin  # noqa: E402

WINDOW = (
    "the conversation manager of this agent drops its oldest messages for good, the task among "
    "them; give it conversation_manager=NullConversationManager()"
)
SEPARATE = ("OpenAI", "Anthropic", "LiteLLM")
"""Models that take two user messages in a row; for the others a record is joined to the next."""


def to_anthropic(message: JsonObject) -> list[JsonObject]:
    """One to one: blocks are called otherwise, and a cache point is a marker on its neighbour."""
    made: list[dict[str, Any]] = []
    for block in message["content"]:
        if "cachePoint" not in block:
            made.append(_block(block))
        elif made:
            made[-1]["cache_control"] = block["cachePoint"]
    return [{"role": message["role"], "content": made}]


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    if use := block.get("toolUse"):
        called = {"name": use["name"], "input": use["input"]}
        return {"type": "tool_use", "id": use["toolUseId"], **called}
    if result := block.get("toolResult"):
        told = [{"type": "text", "text": _text(part)} for part in result["content"]]
        return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": told}
    if reasoning := block.get("reasoningContent"):
        said = reasoning.get("reasoningText") or {}
        signed = {"signature": said.get("signature") or ""}
        return {"type": "thinking", "thinking": str(said.get("text", "")), **signed}
    kind = next(iter(block), "block")
    return {"type": "document", "title": kind, "source": {"type": "text", "data": f"[{kind}]"}}


def _text(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return str(part["text"])
    if "json" in part:
        return json.dumps(part["json"], ensure_ascii=False, default=str)
    return f"[{next(iter(part), 'media')}]"


def to_record(message: JsonObject) -> JsonObject:
    content: list[JsonObject] = [{"text": text_of(message["content"])}]
    content += [{"cachePoint": point} for _, point in markers(message)]
    return {"role": message["role"], "content": content}


def _says_record(message: JsonObject) -> bool:
    return is_record({"role": message["role"], "content": message["content"][:1]})


def joined(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """No two messages of one role in a row where one of them is a record."""
    made: list[JsonObject] = []
    for message in messages:
        last = made[-1] if made else None
        both = last is not None and last["role"] == message["role"]
        if last is not None and both and (_says_record(last) or _says_record(message)):
            made[-1] = {**last, "content": [*last["content"], *message["content"]]}
        else:
            made.append(message)
    return made


class StateCompPlugin(Saving, Plugin):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    name = "statecomp"

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        super().__init__()
        self.shortener = shortener or Shortener("strands", **options)

    def init_agent(self, agent: Any) -> None:
        if isinstance(agent.conversation_manager, SlidingWindowConversationManager):
            self.shortener.say(WINDOW)
        agent.add_middleware(InvokeModelStage.Input, self.shorten)

    async def shorten(self, context: Any) -> Any:
        if getattr(context.model, "stateful", False):
            return context
        config = getattr(context.model, "config", None) or {}
        made = await self.shortener.arewrite(
            context.messages,
            to_anthropic,
            to_record,
            protocol="anthropic",
            beside={
                "model": str(config.get("model_id", "")),
                "system": context.system_prompt if isinstance(context.system_prompt, str) else "",
                "tools": [dict(spec) for spec in context.tool_specs],
            },
        )
        if len(made) == len(context.messages):
            return context
        apart = type(context.model).__name__.startswith(SEPARATE)
        return context.replace(messages=made if apart else joined(made))
