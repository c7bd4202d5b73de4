"""A turn as a chat completion, whole or streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from statecomp.testing.provider.meter import Spent
from statecomp.testing.provider.sse import event, pieces
from statecomp.testing.provider.turns import Body, Turn, call_id, reply_id


def reply(body: Body, step: int, turn: Turn, spent: Spent) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.said or None, "refusal": None}
    if turn.thought:
        message["reasoning_content"] = turn.thought
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call_id("call", step, number),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(turn.calls)
        ]
    reason = "tool_calls" if turn.calls else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    head = {
        "id": reply_id("chatcmpl-", step, turn),
        "object": "chat.completion",
        "created": 1_700_000_000,
    }
    return {**head, "model": body.get("model"), "choices": [choice], "usage": _usage(spent)}


def _usage(spent: Spent) -> dict[str, Any]:
    return {
        "prompt_tokens": spent.input,
        "completion_tokens": spent.output,
        "total_tokens": spent.input + spent.output,
        "prompt_tokens_details": {"cached_tokens": spent.cached},
    }


def events(whole: dict[str, Any], body: Body) -> Iterator[bytes]:
    message = whole["choices"][0]["message"]
    head = {**whole, "object": "chat.completion.chunk"}
    del head["usage"]

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return event({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for field in ("reasoning_content", "content"):
        for piece in pieces(message.get(field) or ""):
            yield chunk({field: piece})
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = {**call["function"], "arguments": ""}
        yield chunk({"tool_calls": [{**call, "index": index, "function": function}]})
        for piece in pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, whole["choices"][0]["finish_reason"])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield event({**head, "choices": [], "usage": whole["usage"]})
    yield b"data: [DONE]\n\n"
