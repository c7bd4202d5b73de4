"""Which protocol a recorded body or message list is written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from statecomp.errors import BadInput
from statecomp.wire.anthropic import Anthropic
from statecomp.wire.content import blocks
from statecomp.wire.openai_chat import OpenAIChat
from statecomp.wire.openai_responses import OpenAIResponses
from statecomp.wire.protocol import Placement, Wire
from statecomp.wire.responses_items import Maker, maker_of
from statecomp.wire.text_action import TextAction

WIRES: dict[str, Callable[[Placement], Wire]] = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic": Anthropic,
    "text-action": TextAction,
}
AS_USER = Placement()

_ANTHROPIC_FIELDS = ("system", "anthropic_version", "anthropic_beta", "stop_sequences")
_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}
    | {"mcp_tool_use", "compaction", "document"}
)
_RESPONSES_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_CHAT_FIELDS = ("tool_calls", "function_call", "tool_call_id", "reasoning_content", "refusal")


def wire_named(name: str, placement: Placement = AS_USER) -> Wire:
    if name not in WIRES:
        known = ", ".join(WIRES)
        raise BadInput(f"there is no protocol named {name!r}; the known ones are {known}")
    return WIRES[name](placement)


def detect(source: Mapping[str, Any] | Sequence[Any]) -> str:
    """The protocol's name, by content; chat where nothing tells.

    Never text-action: its user messages are tool output, which only the caller can know.
    """
    body = source if isinstance(source, Mapping) else {"messages": source}
    if "input" in body and "messages" not in body:
        return "openai-responses"
    messages = body.get("messages")
    for message in messages if isinstance(messages, list | tuple) else ():
        if isinstance(message, Mapping) and (found := _protocol_of(message)):
            return found
    return "anthropic" if any(name in body for name in _ANTHROPIC_FIELDS) else "openai-chat"


def _protocol_of(message: Mapping[str, Any]) -> str:
    """What one message tells; most tell nothing."""
    if message.get("role") in ("tool", "function") or any(f in message for f in _CHAT_FIELDS):
        return "openai-chat"
    content = message.get("content")
    kinds = {str(block.get("type")) for block in blocks(content) if isinstance(block, Mapping)}
    if kinds & _ANTHROPIC_BLOCKS or ("image" in kinds and "image_url" not in kinds):
        return "anthropic"
    plain = message.get("type") == "message" and isinstance(content, str)
    item = "role" not in message and maker_of(message) is not Maker.UNKNOWN
    return "openai-responses" if plain or item or kinds & _RESPONSES_BLOCKS else ""
