"""Histories of each protocol built by hand, and a plain client that sends them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx
import pytest

from statecomp.testing.provider.app import Received
from tests.proxy.upstream import KEY, SCHEMA, look

Message: TypeAlias = dict[str, Any]
TEXT_KINDS = {"anthropic": "text", "openai-responses": "input_text"}


@dataclass(frozen=True)
class Tongue:
    """One protocol: how a user speaks, how an agent acts, how a body looks."""

    protocol: str
    path: str
    key: str
    model: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    def user(self, text: str) -> list[Message]:
        if self.protocol == "openai-chat":
            return [{"role": "user", "content": text}]
        return [{"role": "user", "content": [{"type": TEXT_KINDS[self.protocol], "text": text}]}]

    def turn(self, step: int, *, calls: int = 1, results: Sequence[str] = ()) -> list[Message]:
        """A turn with its results; by default those of the agents' tool."""
        arguments = [json.dumps({"step": step, "part": part}) for part in range(calls)]
        answers = list(results) or [look(given) for given in arguments]
        made = list(zip(range(calls), arguments, answers, strict=True))
        if self.protocol == "openai-chat":
            return _chat_turn(step, made)
        return (_messages_turn if self.protocol == "anthropic" else _responses_turn)(step, made)

    def run(self, steps: int, *, start: int = 0) -> list[Message]:
        """Turns one after the other, every fifth with three calls at once."""
        return [
            message
            for step in range(start, start + steps)
            for message in self.turn(step, calls=3 if step % 5 == 2 else 1)
        ]

    def body(self, messages: Sequence[Message], **more: Any) -> Message:
        return {"model": self.model, **self.extra, self.key: list(messages), **more}

    def growing(self, messages: Sequence[Message]) -> Iterator[list[Message]]:
        """The history before each of the model's answers, as an agent would send it."""
        for stop in range(1, len(messages) + 1):
            if stop == len(messages) or (_opens(messages[stop]) and not _opens(messages[stop - 1])):
                yield list(messages[:stop])

    def said(self, messages: Iterable[Message]) -> list[str]:
        """The words of every user message that is not a tool's."""
        return [text for m in messages if m.get("role") == "user" for text in _words(m)]


CHAT = Tongue("openai-chat", "/v1/chat/completions", "messages", "gpt-5")
RESPONSES = Tongue("openai-responses", "/v1/responses", "input", "gpt-5", {"store": False})
CLAUDE = Tongue(
    "anthropic",
    "/v1/messages",
    "messages",
    "claude-sonnet-5",
    {"max_tokens": 1000, "tools": [{"name": "look", "input_schema": SCHEMA}]},
)
TONGUES = {"chat": CHAT, "responses": RESPONSES, "messages": CLAUDE}


def _opens(message: Message) -> bool:
    """Whether the model made this."""
    made = ("reasoning", "function_call")
    return message.get("role") == "assistant" or message.get("type") in made


def _words(message: Message) -> Iterator[str]:
    content = message["content"]
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if "text" in block:
            yield str(block["text"])


def _chat_turn(step: int, made: list[tuple[int, str, str]]) -> list[Message]:
    calls = [
        {
            "id": f"call_{step:04d}_{n}",
            "type": "function",
            "function": {"name": "look", "arguments": arguments},
        }
        for n, arguments, _ in made
    ]
    results = [
        {"role": "tool", "tool_call_id": f"call_{step:04d}_{n}", "content": answer}
        for n, _, answer in made
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def _messages_turn(step: int, made: list[tuple[int, str, str]]) -> list[Message]:
    calls = [
        {
            "type": "tool_use",
            "id": f"toolu_{step:04d}_{n}",
            "name": "look",
            "input": json.loads(arguments),
        }
        for n, arguments, _ in made
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"toolu_{step:04d}_{n}", "content": answer}
        for n, _, answer in made
    ]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def _responses_turn(step: int, made: list[tuple[int, str, str]]) -> list[Message]:
    summary = [{"type": "summary_text", "text": f"step {step} is next"}]
    thought = {"type": "reasoning", "id": f"rs_{step:04d}", "summary": summary}
    calls = [
        {
            "type": "function_call",
            "id": f"fc_r{step:04d}_{n}",
            "call_id": f"call_{step:04d}_{n}",
            "name": "look",
            "arguments": arguments,
        }
        for n, arguments, _ in made
    ]
    outputs = [
        {"type": "function_call_output", "call_id": f"call_{step:04d}_{n}", "output": answer}
        for n, _, answer in made
    ]
    return [thought, *calls, *outputs]


HEADERS = {
    "authorization": f"Bearer {KEY}",
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
}


# Making a client reads all certificates, which takes longer than a request.
PLAIN = httpx.Client(timeout=60, trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))


def post(
    url: str, tongue: Tongue, body: Mapping[str, Any] | bytes, **headers: str
) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return PLAIN.post(f"{url}{tongue.path}", content=content, headers=given)


def sent(received: Received) -> list[Message]:
    """The messages that reached the upstream."""
    body = received.body
    messages: list[Message] = body["input"] if "input" in body else body["messages"]
    return messages


each_protocol = pytest.mark.parametrize("tongue", TONGUES.values(), ids=TONGUES)
