"""A turn as an Anthropic message, whole or streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from statecomp.testing.provider.meter import Spent
from statecomp.testing.provider.signing import prefixes, signature
from statecomp.testing.provider.sse import event, pieces
from statecomp.testing.provider.turns import Body, Turn, call_id, reply_id


def reply(body: Body, step: int, turn: Turn, spent: Spent) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    asked = body.get("thinking") or {}
    if asked.get("type") in ("enabled", "adaptive") and turn.thought:
        shown = "" if asked.get("display") == "omitted" else turn.thought
        signed = signature(shown, prefixes(body)[-1])
        content.append({"type": "thinking", "thinking": shown, "signature": signed})
    if turn.said:
        content.append({"type": "text", "text": turn.said, "citations": None})
    content += [
        {
            "type": "tool_use",
            "id": call_id("toolu", step, number),
            "name": call.name,
            "input": json.loads(call.arguments),
        }
        for number, call in enumerate(turn.calls)
    ]
    return {
        "id": reply_id("msg_", step, turn),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": _usage(spent),
    }


def _usage(spent: Spent) -> dict[str, Any]:
    return {
        "input_tokens": spent.input - spent.cached - spent.written,
        "cache_read_input_tokens": spent.cached,
        "cache_creation_input_tokens": spent.written,
        "output_tokens": spent.output,
    }


def events(whole: dict[str, Any], body: Body) -> Iterator[bytes]:
    usage = {**whole["usage"], "output_tokens": 1}
    opening = {**whole, "content": [], "stop_reason": None, "usage": usage}
    yield event({"type": "message_start", "message": opening}, "message_start")
    yield event({"type": "ping"}, "ping")
    for index, block in enumerate(whole["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    spent = {"output_tokens": whole["usage"]["output_tokens"]}
    closing = {"type": "message_delta", "delta": delta, "usage": spent}
    yield event(closing, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    empty: dict[str, dict[str, Any]] = {
        "thinking": {"thinking": "", "signature": ""},
        "text": {"text": ""},
        "tool_use": {"input": {}},
    }
    kind = block["type"]
    start = {"type": "content_block_start", "index": index}
    yield event({**start, "content_block": {**block, **empty[kind]}}, "content_block_start")
    for delta in _deltas(block):
        data = {"type": "content_block_delta", "index": index, "delta": delta}
        yield event(data, "content_block_delta")
    yield event({"type": "content_block_stop", "index": index}, "content_block_stop")


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    if block["type"] == "text":
        for piece in pieces(block["text"]):
            yield {"type": "text_delta", "text": piece}
    elif block["type"] == "thinking":
        for piece in pieces(block["thinking"]):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        for piece in pieces(json.dumps(block["input"])):
            yield {"type": "input_json_delta", "partial_json": piece}
