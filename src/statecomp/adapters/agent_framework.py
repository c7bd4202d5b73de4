"""Microsoft Agent Framework: a middleware around each model call; the session stays as it is.

    Agent(client, instructions=..., tools=[...], middleware=[StateCompMiddleware()])

Where the service keeps the conversation only its news is sent, and that goes out as it came.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from statecomp.adapters.catalogue import needs
from statecomp.adapters.chat import assistant, call, result, thought
from statecomp.adapters.shortener import Saving, Shortener
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import text_of

needs("agent_framework")

from agent_framework import ChatContext, ChatMiddleware, Message  # noqa: E402  missing said first

ORDINARY = ("text", "text_reasoning", "function_call", "function_result", "usage")


def to_chat(message: Any) -> list[JsonObject]:
    role = str(getattr(message.role, "value", message.role))
    texts = [one.text or "" for one in message.contents if one.type == "text"]
    said = [{"type": "text", "text": text} for text in texts]
    results = [result(o.call_id, o.result) for o in message.contents if o.type == "function_result"]
    if results:
        return [*results, {"role": "user", "content": said}] if said else results
    called = [one for one in message.contents if one.type == "function_call"]
    calls = [call(one.call_id, one.name, one.arguments) for one in called]
    thoughts = [thought(one.text) for one in message.contents if one.type == "text_reasoning"]
    return [{**assistant(said, calls, thoughts), "role": role}]


def to_record(message: JsonObject) -> Any:
    return Message("user", [text_of(message["content"])])


def keep(message: Any) -> bool:
    """Approvals, files and what a service ran by itself stay."""
    return any(one.type not in ORDINARY for one in message.contents)


class StateCompMiddleware(Saving, ChatMiddleware):
    """Takes what `Shortener` takes, or a shortener that others use too."""

    def __init__(self, *, shortener: Shortener | None = None, **options: Any) -> None:
        self.shortener = shortener or Shortener("agent_framework", **options)

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        options: Mapping[str, Any] = context.options or {}
        if not options.get("conversation_id"):
            model = options.get("model") or getattr(context.client, "model", "")
            context.messages = await self.shortener.arewrite(
                list(context.messages), to_chat, to_record, keep=keep, beside={"model": str(model)}
            )
        await call_next()
