"""Gemini's two APIs in front of the scripted provider, as far as Google ADK speaks them.

What comes in is told to the provider in a protocol it checks: `generateContent`, whose calls have
no names, as a chat; an interaction, which goes on from one the provider keeps, as a response.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.refusals import Refused, insist

CALLS = "/{version}/models/{model}:generateContent"
INTERACTIONS = "/{version}/interactions"


def beside(provider: ScriptedUpstream) -> Starlette:
    """The provider's own APIs, and Gemini's."""
    front = _Front(provider)
    return Starlette(
        routes=[
            Route(CALLS, front.generate, methods=["POST"]),
            Route(INTERACTIONS, front.interact, methods=["POST"]),
            Mount("/", provider.app),
        ]
    )


class _Front:
    def __init__(self, provider: ScriptedUpstream) -> None:
        self._inner = httpx.ASGITransport(app=provider.app)

    async def generate(self, request: Request) -> Response:
        body = await request.json()
        try:
            messages = list(_messages(body))
        except Refused as refused:
            error = {"code": 400, "message": str(refused), "status": "INVALID_ARGUMENT"}
            return JSONResponse({"error": error}, 400)
        asked = {"model": request.path_params["model"], "messages": messages, "tools": _tools(body)}
        status, told = await self._asked(request, "/v1/chat/completions", asked)
        return JSONResponse(_candidate(told) if status == 200 else told, status)

    async def interact(self, request: Request) -> Response:
        body = await request.json()
        asked = {
            "model": body["model"],
            "instructions": body.get("system_instruction"),
            "input": list(_items(body["input"])),
            "tools": body.get("tools") or [],
            "previous_response_id": body.get("previous_interaction_id"),
        }
        status, told = await self._asked(request, "/v1/responses", asked)
        return JSONResponse(_interaction(told) if status == 200 else told, status)

    async def _asked(
        self, request: Request, path: str, body: Mapping[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        headers = {"authorization": f"Bearer {request.headers['x-goog-api-key']}"}
        async with httpx.AsyncClient(transport=self._inner, base_url="http://inner") as client:
            reply = await client.post(path, json=body, headers=headers)
        told: dict[str, Any] = reply.json()
        return reply.status_code, told


def _name(arguments: Mapping[str, Any]) -> str:
    """What the provider calls this call: it is known by what it asks for."""
    return f"call_{arguments['step']:04d}_{arguments['part']}"


def _signature(name: str) -> str:
    return base64.b64encode(f"thought of {name}".encode()).decode()


def _tools(body: Mapping[str, Any]) -> list[Any]:
    held = [one for tool in body.get("tools") or () for one in tool["functionDeclarations"]]
    return [{"type": "function", "function": {"name": one["name"]}} for one in held]


def _messages(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Gemini's contents as a chat; raises Refused where a call has lost its thought."""
    first = body.get("systemInstruction") or {}
    yield {"role": "system", "content": _words(first.get("parts") or ())}
    waiting: list[str] = []
    for content in body["contents"]:
        parts = content["parts"]
        called = [part for part in parts if "functionCall" in part]
        for part in parts:
            if "functionResponse" in part:
                insist(bool(waiting), "Number of function responses exceeds that of calls.")
                answer = json.dumps(part["functionResponse"]["response"])
                yield {"role": "tool", "tool_call_id": waiting.pop(0), "content": answer}
        if content["role"] == "user" and _words(parts):
            yield {"role": "user", "content": _words(parts)}
        if content["role"] == "model":
            waiting = [_name(part["functionCall"]["args"]) for part in called]
            if called:
                thought = called[0].get("thoughtSignature")
                insist(thought == _signature(waiting[0]), "Function call has no thought_signature.")
            made = [_call(name, part) for name, part in zip(waiting, called, strict=True)]
            said = {"role": "assistant", "content": _words(parts) or None}
            yield {**said, "tool_calls": made} if made else said


def _call(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    given = part["functionCall"]
    function = {"name": given["name"], "arguments": json.dumps(given["args"])}
    return {"id": name, "type": "function", "function": function}


def _words(parts: Sequence[Mapping[str, Any]]) -> str:
    return "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))


def _candidate(told: Mapping[str, Any]) -> dict[str, Any]:
    message = told["choices"][0]["message"]
    parts: list[dict[str, Any]] = []
    if message.get("reasoning_content"):
        parts.append({"text": message["reasoning_content"], "thought": True})
    if message["content"]:
        parts.append({"text": message["content"]})
    for number, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        made = {"name": function["name"], "args": json.loads(function["arguments"])}
        signed = {} if number else {"thoughtSignature": _signature(call["id"])}
        parts.append({"functionCall": made, **signed})
    content = {"role": "model", "parts": parts}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


def _items(steps: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        if step["type"] == "function_result":
            output = json.dumps(step["result"])
            yield {"type": "function_call_output", "call_id": step["call_id"], "output": output}
        elif step["type"] == "user_input":
            yield {"role": "user", "content": "".join(part["text"] for part in step["content"])}


def _interaction(told: Mapping[str, Any]) -> dict[str, Any]:
    steps = [step for item in told["output"] for step in _steps(item)]
    acts = any(step["type"] == "function_call" for step in steps)
    made = {"id": told["id"], "model": told["model"], "object": "interaction", "steps": steps}
    return {**made, "status": "requires_action" if acts else "completed"}


def _steps(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if item["type"] == "message":
        text = {"type": "text", "text": item["content"][0]["text"]}
        yield {"type": "model_output", "content": [text]}
    elif item["type"] == "function_call":
        arguments = json.loads(item["arguments"])
        named = {"id": item["call_id"], "name": item["name"]}
        yield {"type": "function_call", **named, "arguments": arguments}
