"""LangGraph: a `pre_model_hook`, and messages shortened for the node of a graph of your own.

hook = StateCompHook()
create_react_agent(model, tools, pre_model_hook=hook.runnable)      # stored nowhere
model.invoke(hook.shorten(state["messages"], model="gpt-5"))        # in a node of your own
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.adapters.catalogue import needs
from statecomp.adapters.chat import assistant, call, result
from statecomp.adapters.shortener import Saving, Shortener
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
        return [{**result(message.tool_call_id, ""), "content": message.content}]
    if isinstance(message, AIMessage):
        return [_assistant(message)]
    for kind, role in ROLES.items():
        if isinstance(message, kind):
            return [{"role": role, "content": message.content}]
    raise TypeError(f"a {type(message).__name__} is no message that is sent")


def _assistant(message: AIMessage) -> JsonObject:
    parts = blocks(message.content)
    kinds = [part.get("type") if isinstance(part, Mapping) else "text" for part in parts]
    beside = (*CALLS, *THOUGHTS)
    said = [p for p, kind in zip(parts, kinds, strict=True) if kind not in beside]
    thoughts = [p for p, kind in zip(parts, kinds, strict=True) if kind in THOUGHTS]
    calls = [call(one.get("id"), one["name"], one["args"]) for one in message.tool_calls]
    return assistant(said, calls, thoughts)


def to_record(message: JsonObject) -> BaseMessage:
    """Its content may carry the cache marker of what it replaces."""
    return HumanMessage(content=message["content"])


def answered_by(messages: Sequence[BaseMessage]) -> str:
    """The model that answered last: a hook before the model is not told which one is asked."""
    for message in reversed(messages):
        told = message.response_metadata if isinstance(message, AIMessage) else {}
        if name := told.get("model_name") or told.get("model"):
            return str(name)
    return ""


class StateCompHook(Saving):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        self.shortener = shortener or Shortener("langgraph", **options)

    def shorten(self, messages: Sequence[BaseMessage], **beside: Any) -> list[BaseMessage]:
        """What to send instead; the messages themselves stay as they are.

        `beside` is what else is sent: model="gpt-5", tools=[...] as JSON.
        """
        beside = {"model": answered_by(messages), **beside}
        return self.shortener.rewrite(messages, to_chat, to_record, beside=beside)

    async def ashorten(self, messages: Sequence[BaseMessage], **beside: Any) -> list[BaseMessage]:
        beside = {"model": answered_by(messages), **beside}
        return await self.shortener.arewrite(messages, to_chat, to_record, beside=beside)

    @property
    def runnable(self) -> Runnable[Any, Any]:
        """For `create_react_agent(pre_model_hook=...)`: only this call sees what it returns."""

        def hook(state: Mapping[str, Any]) -> dict[str, Any]:
            return {"llm_input_messages": self.shorten(state["messages"])}

        async def ahook(state: Mapping[str, Any]) -> dict[str, Any]:
            return {"llm_input_messages": await self.ashorten(state["messages"])}

        return RunnableLambda(hook, afunc=ahook, name="statecomp")
