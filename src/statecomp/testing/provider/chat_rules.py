"""What an OpenAI chat completions server refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from statecomp.testing.provider.refusals import Refused, Strictness, insist, parts_of
from statecomp.testing.provider.turns import Body

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_SPOKEN = re.compile(r"\bcall_\d{4}_\d+")
TEXT_PARTS = ("text", "image_url", "input_audio", "file", "refusal")


def check(body: Body, headers: Mapping[str, str], rules: Strictness) -> None:
    messages = body.get("messages")
    insist(isinstance(messages, list), "Missing required parameter: 'messages'.", "messages")
    assert isinstance(messages, list)
    insist(bool(messages), "Invalid 'messages': empty array.", "messages")
    for place, message in enumerate(messages):
        _check_shape(message, f"messages[{place}]")
    _check_pairs(messages)
    if rules.alternate:
        _check_alternation([str(message["role"]) for message in messages])


def _check_shape(message: Any, here: str) -> None:
    insist(isinstance(message, Mapping), f"Invalid type for '{here}': expected an object.", here)
    role, content = message.get("role"), message.get("content")
    insist(role in ROLES, f"Invalid value: {role!r} for '{here}.role'.", here)
    acts = bool(message.get("tool_calls") or message.get("function_call"))
    may_be_null = role == "assistant" and bool(acts or message.get("refusal"))
    if content is None:
        text = f"Invalid value for 'content': expected a string, got null ('{here}')."
        insist(may_be_null, text, here)
    elif isinstance(content, list):
        insist(bool(content) or may_be_null, f"Invalid '{here}.content': empty array.", here)
        for part in content:
            known = isinstance(part, Mapping) and part.get("type") in TEXT_PARTS
            insist(known, f"Invalid value: content part {part!r} in '{here}'.", here)
    else:
        insist(isinstance(content, str), f"Invalid type for '{here}.content'.", here)
    if "tool_calls" in message and message["tool_calls"] is not None:
        insist(role == "assistant", f"Unexpected '{here}.tool_calls'.", here)
        insist(bool(message["tool_calls"]), f"Invalid '{here}.tool_calls': empty array.", here)
        for call in message["tool_calls"]:
            _check_call(call, here)
    if role == "tool":
        text = f"Missing required parameter: '{here}.tool_call_id'."
        insist(bool(message.get("tool_call_id")), text, here)


def _check_call(call: Any, here: str) -> None:
    insist(isinstance(call, Mapping) and bool(call.get("id")), f"'{here}.tool_calls' has no id.")
    kind = call.get("type")
    inner = call.get(kind) if kind in ("function", "custom") else None
    insist(isinstance(inner, Mapping), f"Invalid value: {kind!r} for a call in '{here}'.", here)
    assert isinstance(inner, Mapping)
    field = inner.get("arguments" if kind == "function" else "input")
    insist(bool(inner.get("name")) and isinstance(field, str), f"Invalid call in '{here}'.", here)


def asked_by(message: Mapping[str, Any]) -> list[str]:
    """The ids that must be answered, in order; the legacy form is named by its function."""
    made = [str(call["id"]) for call in message.get("tool_calls") or ()]
    legacy = message.get("function_call")
    return [*made, f"function {legacy.get('name')}"] if isinstance(legacy, Mapping) else made


def _check_pairs(messages: list[Any]) -> None:
    """Answers stand right behind the message that asked, each once, before anything else."""
    missing: list[str] = []
    for place, message in enumerate(messages):
        here = f"messages[{place}]"
        if message["role"] in ("tool", "function"):
            answer = str(message.get("tool_call_id") or f"function {message.get('name')}")
            text = (
                f"Invalid parameter: messages with role '{message['role']}' must be a response to "
                f"a preceding message with 'tool_calls' ({answer!r} is not waited for)."
            )
            insist(answer in missing, text, f"{here}.role")
            missing.remove(answer)
            continue
        _insist_answered(missing, here)
        missing = asked_by(message) if message["role"] == "assistant" else []
        insist(len(set(missing)) == len(missing), f"Duplicate tool call id in '{here}'.", here)
    _insist_answered(missing, f"messages[{len(messages)}]")


def _insist_answered(missing: list[str], here: str) -> None:
    insist(
        not missing,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(missing),
        f"{here}.role",
    )


def _check_alternation(roles: list[str]) -> None:
    for place, role in enumerate(roles[1:], start=1):
        if role in ("system", "developer"):
            raise Refused("System message must be at the beginning.", param=f"messages[{place}]")
        if role == roles[place - 1] == "user":
            text = "Conversation roles must alternate user/assistant/user/assistant/..."
            raise Refused(text, param=f"messages[{place}]")


def call_ids(body: Body) -> Iterator[str]:
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            yield str(call["id"])
        # Some clients send calls back as the words of the assistant.
        if message["role"] == "assistant" and not message.get("tool_calls"):
            for part in parts_of(message.get("content")):
                yield from _SPOKEN.findall(str(part.get("text", "")))
