"""LlamaIndex: a model class of yours, sent less; memory and context stay as they are.

    llm = shorter(OpenAI)(model="gpt-5")        # shorter(OpenAI, recipe="careful")
    FunctionAgent(tools=tools, llm=llm)

Its memory would be the wrong place: it sees nothing of the turn that is running.
"""

from __future__ import annotations

from typing import Any, ClassVar

from statecomp.adapters.catalogue import needs
from statecomp.adapters.chat import assistant, call, result
from statecomp.adapters.shortener import Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

needs("llama_index")

from llama_index.core.base.llms.types import ChatMessage  # noqa: E402  what is missing is said first

ROLES = {"system": "system", "developer": "developer", "user": "user"}


def to_chat(message: Any) -> list[JsonObject]:
    role = str(getattr(message.role, "value", message.role))
    said = [_words(block) for block in message.blocks if block.block_type != "tool_call"]
    if role in ("tool", "function"):
        return [{**result(message.additional_kwargs.get("tool_call_id"), ""), "content": said}]
    if role != "assistant":
        return [{"role": ROLES.get(role, "system"), "content": said}]
    called = [block for block in message.blocks if block.block_type == "tool_call"]
    calls = [call(one.tool_call_id, one.tool_name, one.tool_kwargs) for one in called]
    # As models kept their calls before there were blocks for them.
    older = message.additional_kwargs.get("tool_calls") or ()
    calls = calls or [one if isinstance(one, dict) else one.model_dump() for one in older]
    return [assistant(said, calls)]


def _words(block: Any) -> JsonObject:
    text = getattr(block, "text", None)
    return {"type": "text", "text": f"[{block.block_type}]" if text is None else text}


def to_record(message: JsonObject) -> Any:
    return ChatMessage(role="user", content=text_of(message["content"]))


def shorter(llm_class: Any, *, shortener: Shortener | None = None, **options: Any) -> Any:
    """The class, whose `shortener` tells the savings; takes what `Shortener` takes."""
    used = shortener or Shortener("llama_index", **options)

    def beside(llm: Any) -> Any:
        return {"beside": {"model": str(getattr(llm, "model", ""))}}

    class Shorter(llm_class):
        shortener: ClassVar[Shortener] = used

        def chat(self, messages: Any, **more: Any) -> Any:
            return super().chat(used.rewrite(messages, to_chat, to_record, **beside(self)), **more)

        def stream_chat(self, messages: Any, **more: Any) -> Any:
            made = used.rewrite(messages, to_chat, to_record, **beside(self))
            return super().stream_chat(made, **more)

        async def achat(self, messages: Any, **more: Any) -> Any:
            made = await used.arewrite(messages, to_chat, to_record, **beside(self))
            return await super().achat(made, **more)

        async def astream_chat(self, messages: Any, **more: Any) -> Any:
            made = await used.arewrite(messages, to_chat, to_record, **beside(self))
            return await super().astream_chat(made, **more)

    Shorter.__name__ = Shorter.__qualname__ = llm_class.__name__
    return Shorter
