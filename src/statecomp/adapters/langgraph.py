"""LangGraph: a `pre_model_hook`, and messages shortened for the node of a graph of your own.

hook = StateCompHook()
create_react_agent(model, tools, pre_model_hook=hook.runnable)      # stored nowhere
model.invoke(hook.shorten(state["messages"], model="gpt-5"))        # in a node of your own
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.adapters.account import Savings
from statecomp.adapters.catalogue import needs
from statecomp.adapters.shortener import Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.anthropic.thinking import THINKING
from statecomp.wire.content import blocks

needs("langgraph")

from langchain_core.messages import (  # noqa: E402  what is missing is said first
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import Runnable, RunnableLambda  # noqa: E402

# What providers put into the content beside the words; the calls stand in `tool_calls` as well.
CALLS = ("tool_use", "tool_call", "function_call")
THOUGHTS = (*THINKING, "reasoning", "reasoning_content")
ROLES: Mapping[Any, str] = {HumanMessage: "user", SystemMessage: "system", ChatMessage: "system"}


def to_chat(message: BaseMessage) -> list[JsonObject]:
    """One message as OpenAI's chat protocol has it; raises TypeError for what is none."""
    if isinstance(message, ToolMessage):
        answered = {"role": "tool", "tool_call_id": message.tool_call_id}
        return [{**answered, "content": message.content}]
    if isinstance(message, AIMessage):
        return [_assistant(message)]
    for kind, role in ROLES.items():
        if isinstance(message, kind):
            return [{"role": role, "content": message.content}]
    raise TypeError(f"a {type(message).__name__} is no message that is sent")


def _assistant(message: AIMessage) -> JsonObject:
    parts = blocks(message.content)
    kinds = [part.get("type") if isinstance(part, Mapping) else "text" for part in parts]
    made: dict[str, Any] = {"role": "assistant"}
    beside = (*CALLS, *THOUGHTS)
    made["content"] = [p for p, kind in zip(parts, kinds, strict=True) if kind not in beside]
    if thoughts := [p for p, kind in zip(parts, kinds, strict=True) if kind in THOUGHTS]:
        made["reasoning_details"] = thoughts
    if message.tool_calls:
        made["tool_calls"] = [_call(call) for call in message.tool_calls]
    return made


def _call(call: Mapping[str, Any]) -> JsonObject:
    arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
    function = {"name": call["name"], "arguments": arguments}
    return {"id": call.get("id") or "", "type": "function", "function": function}


def to_record(message: JsonObject) -> BaseMessage:
    """Its content may carry the cache marker of what it replaces."""
    return HumanMessage(content=message["content"])


class StateCompHook:
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        self.shortener = shortener or Shortener("langgraph", **options)

    @property
    def savings(self) -> Savings:
        return self.shortener.savings

    def shorten(self, messages: Sequence[BaseMessage], **beside: Any) -> list[BaseMessage]:
        """What to send instead; the messages themselves stay as they are.

        `beside` is what else is sent: model="gpt-5", tools=[...] as JSON.
        """
        return self.shortener.rewrite(messages, to_chat, to_record, beside=beside)

    async def ashorten(self, messages: Sequence[BaseMessage], **beside: Any) -> list[BaseMessage]:
        return await self.shortener.arewrite(messages, to_chat, to_record, beside=beside)

    @property
    def runnable(self) -> Runnable[Any, Any]:
        """For `create_react_agent(pre_model_hook=...)`: only this call sees what it returns."""

        def hook(state: Mapping[str, Any]) -> dict[str, Any]:
            return {"llm_input_messages": self.shorten(state["messages"])}

        async def ahook(state: Mapping[str, Any]) -> dict[str, Any]:
            return {"llm_input_messages": await self.ashorten(state["messages"])}

        return RunnableLambda(hook, afunc=ahook, name="statecomp")
