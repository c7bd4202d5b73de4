"""A turn as an OpenAI response, whole or streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from statecomp.testing.provider.meter import Spent
from statecomp.testing.provider.signing import encrypted
from statecomp.testing.provider.sse import event, pieces
from statecomp.testing.provider.turns import Body, Turn, call_id, reply_id


def reply(body: Body, step: int, turn: Turn, spent: Spent) -> dict[str, Any]:
    return {
        "id": reply_id("resp_", step, turn),
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": body.get("model"),
        "output": list(_output(body, step, turn)),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "usage": _usage(spent),
    }


def _output(body: Body, step: int, turn: Turn) -> Iterator[dict[str, Any]]:
    # The ids of items behind reasoning say so: sent back without it they are refused.
    mark = f"r{step:04d}" if turn.thought else f"p{step:04d}"
    if turn.thought:
        name = f"rs_{step:04d}"
        summary = [{"type": "summary_text", "text": turn.thought}]
        item = {"type": "reasoning", "id": name, "summary": summary, "status": "completed"}
        wanted = "reasoning.encrypted_content" in (body.get("include") or ())
        yield {**item, "encrypted_content": encrypted(name)} if wanted else item
    if turn.said:
        part = {"type": "output_text", "text": turn.said, "annotations": [], "logprobs": []}
        item = {"type": "message", "id": f"msg_{mark}_0", "role": "assistant"}
        yield {**item, "status": "completed", "content": [part]}
    for number, call in enumerate(turn.calls):
        item = {"call_id": call_id("call", step, number), "name": call.name, "status": "completed"}
        if call.free:
            named = {"type": "custom_tool_call", "id": f"ctc_{mark}_{number}"}
            yield {**named, **item, "input": call.arguments}
        else:
            named = {"type": "function_call", "id": f"fc_{mark}_{number}"}
            yield {**named, **item, "arguments": call.arguments}


def _usage(spent: Spent) -> dict[str, Any]:
    return {
        "input_tokens": spent.input,
        "input_tokens_details": {"cached_tokens": spent.cached, "cache_write_tokens": 0},
        "output_tokens": spent.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": spent.input + spent.output,
    }


def events(whole: dict[str, Any], body: Body) -> Iterator[bytes]:
    opening = {**whole, "status": "in_progress", "output": [], "usage": None}
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": opening},
        {"type": "response.in_progress", "response": opening},
    ]
    for index, item in enumerate(whole["output"]):
        told += _item_events(index, item)
    told.append({"type": "response.completed", "response": whole})
    for number, data in enumerate(told):
        yield event({**data, "sequence_number": number}, data["type"])


def _item_events(index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    here = {"output_index": index, "item_id": item["id"]}
    empty: dict[str, dict[str, Any]] = {
        "reasoning": {"summary": []},
        "message": {"content": []},
        "function_call": {"arguments": ""},
        "custom_tool_call": {"input": ""},
    }
    started = {**item, **empty[item["type"]], "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": started}
    if item["type"] == "message":
        yield from _text_events(item["content"][0], {**here, "content_index": 0})
    elif item["type"] == "reasoning":
        yield from _summary_events(item["summary"][0], {**here, "summary_index": 0})
    elif item["type"] == "custom_tool_call":
        yield from _written("response.custom_tool_call_input", "input", item, here)
    else:
        name = {**here, "name": item["name"]}
        yield from _written("response.function_call_arguments", "arguments", item, name)
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _written(
    name: str, field: str, item: dict[str, Any], here: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """What a call is made with, piece by piece and then whole."""
    for piece in pieces(item[field]):
        yield {"type": f"{name}.delta", **here, "delta": piece}
    yield {"type": f"{name}.done", **here, field: item[field]}


def _text_events(part: dict[str, Any], here: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.content_part.added", **here, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.output_text.delta", **here, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **here, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **here, "part": part}


def _summary_events(part: dict[str, Any], here: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name = "response.reasoning_summary"
    yield {"type": f"{name}_part.added", **here, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": f"{name}_text.delta", **here, "delta": piece}
    yield {"type": f"{name}_text.done", **here, "text": part["text"]}
    yield {"type": f"{name}_part.done", **here, "part": part}
