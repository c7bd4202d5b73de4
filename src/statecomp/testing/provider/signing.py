"""Signatures on thinking and reasoning: over the text itself, and over all that stood before it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from statecomp.testing.provider.refusals import chain, digest, parts_of
from statecomp.testing.provider.turns import Body

MARK = "scripted"
THINKING = ("thinking", "redacted_thinking")
# Families as the documentation dates them: from these versions on a block knows its prefix.
BINDING_MODELS = (
    "claude-fable-5-1",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
)


def binds(model: str) -> bool:
    return model.startswith(BINDING_MODELS)


def signature(text: str, prefix: str) -> str:
    """In base64, as Claude's are: some clients decode it and encode it again."""
    return b64encode(f"{MARK}.{digest(text)}.{prefix}".encode()).decode()


def signed(given: str) -> tuple[str, str]:
    """The names of the text and of the prefix that were signed; empty where nobody here did."""
    try:
        mark, text, prefix = b64decode(given, validate=True).decode().split(".")
    except ValueError:
        return "", ""
    return (text, prefix) if mark == MARK else ("", "")


def prefixes(body: Body) -> list[str]:
    """For each message of a Messages request, the name of what stands before it; one more for
    the reply."""
    head = [body.get("system"), body.get("tools")]
    return list(chain(head, list(body.get("messages") or ())))


def thinking_blocks(body: Body) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """(where, block, name of its prefix) for every thinking block of a request."""
    messages = body.get("messages") or ()
    for place, (message, prefix) in enumerate(zip(messages, prefixes(body), strict=False)):
        for number, block in enumerate(parts_of(message.get("content"))):
            if block.get("type") in THINKING:
                yield f"messages.{place}.content.{number}", block, prefix


def carried(block: Mapping[str, Any]) -> tuple[str, str]:
    """The text and the signature of a thinking block; redacted thinking is its own text."""
    if block["type"] == "redacted_thinking":
        return "", str(block.get("data", ""))
    return str(block.get("thinking", "")), str(block.get("signature", ""))


def sign_messages(body: Body) -> dict[str, Any]:
    """The body with every thinking block signed as if this server had written it there."""
    signed: list[Any] = []
    for message in body["messages"]:
        prefix = prefixes({**body, "messages": signed})[-1]
        content = message.get("content")
        if message.get("role") == "assistant" and isinstance(content, list):
            message = {**message, "content": [_sign(block, prefix) for block in content]}
        signed.append(message)
    return {**body, "messages": signed}


def _sign(block: Any, prefix: str) -> Any:
    if block.get("type") == "thinking":
        return {**block, "signature": signature(str(block["thinking"]), prefix)}
    if block.get("type") == "redacted_thinking":
        return {**block, "data": signature("", prefix)}
    return block


def sign_items(items: list[Any]) -> list[Any]:
    """Reasoning items with the encrypted content this server would have given them."""
    return [
        {**item, "encrypted_content": encrypted(str(item["id"]))}
        if item.get("type") == "reasoning"
        else item
        for item in items
    ]


def encrypted(item_id: str) -> str:
    return f"{MARK}.{digest(item_id)}"
