"""LlamaIndex: a model class of yours, sent less; memory and context stay as they are.

FunctionAgent(tools=tools, llm=shorter(OpenAI)(model="gpt-5"))  # shorter(..., recipe="careful")
Its memory would be the wrong place: it sees nothing of the turn that is running.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from statecomp.adapters.catalogue import needs
from statecomp.adapters.chat import assistant, call, result, thought
from statecomp.adapters.shortener import KEPT_ELSEWHERE, Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

needs("llama_index")

from llama_index.core.base.llms.types import ChatMessage  # noqa: E402  what is missing is said first

BESIDE = ("tool_call", "thinking")
ELSEWHERE = ("track_previous_responses", "_previous_response_id")


def to_chat(message: Any) -> list[JsonObject]:
    role = str(getattr(message.role, "value", message.role))
    said = [_words(block) for block in message.blocks if block.block_type not in BESIDE]
    if role in ("tool", "function"):
        return [{**result(message.additional_kwargs.get("tool_call_id"), ""), "content": said}]
    if role != "assistant":
        return [{"role": role if role in ("developer", "user") else "system", "content": said}]
    called = [block for block in message.blocks if block.block_type == "tool_call"]
    calls = [call(one.tool_call_id, one.tool_name, one.tool_kwargs) for one in called]
    # As models kept their calls before there were blocks for them.
    older = message.additional_kwargs.get("tool_calls") or ()
    calls = calls or [one if isinstance(one, dict) else one.model_dump() for one in older]
    blocks = [block for block in message.blocks if block.block_type == "thinking"]
    return [assistant(said, calls, [thought(block.content) for block in blocks])]


def _words(block: Any) -> JsonObject:
    text = getattr(block, "text", None)
    return {"type": "text", "text": f"[{block.block_type}]" if text is None else text}


def to_record(message: JsonObject) -> Any:
    return ChatMessage(role="user", content=text_of(message["content"]))


def _beside(llm: Any) -> dict[str, Any]:
    said = {"model": str(llm.model), "thinking": getattr(llm, "thinking_dict", None)}
    return {**said, KEPT_ELSEWHERE: [name for name in ELSEWHERE if getattr(llm, name, None)]}


def shorter(llm_class: Any, *, shortener: Shortener | None = None, **options: Any) -> Any:
    """The class, whose `shortener` tells the savings; takes what `Shortener` takes."""
    used = shortener or Shortener("llama_index", **options)

    sent: Any = partial(used.rewrite, to_wire=to_chat, record=to_record)
    later: Any = partial(used.arewrite, to_wire=to_chat, record=to_record)

    class Shorter(llm_class):
        shortener: ClassVar[Shortener] = used

        def chat(self, messages: Any, **more: Any) -> Any:
            return super().chat(sent(messages, beside=_beside(self)), **more)

        def stream_chat(self, messages: Any, **more: Any) -> Any:
            return super().stream_chat(sent(messages, beside=_beside(self)), **more)

        async def achat(self, messages: Any, **more: Any) -> Any:
            return await super().achat(await later(messages, beside=_beside(self)), **more)

        async def astream_chat(self, messages: Any, **more: Any) -> Any:
            return await super().astream_chat(await later(messages, beside=_beside(self)), **more)

    Shorter.__name__ = Shorter.__qualname__ = llm_class.__name__
    return Shorter
