"""Reading Anthropic content blocks: what kind each is, and what a person would read in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from statecomp.history.interaction import Call, JsonObject, Observation
from statecomp.wire.content import block_text, blocks, compact, text_of

SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
# Text in these tags is written by the agent's own harness, beside the results it sends back.
REMINDER = ("<system-reminder>", "</system-reminder>")
# Signed or encrypted for the provider, or binary: of no use to a reader.
UNREADABLE = ("encrypted_content", "encrypted_index", "encrypted_stdout", "page_age", "data")


def kind_of(block: Any) -> str:
    return str(block.get("type", "")) if isinstance(block, Mapping) else ""


def entries(message: JsonObject) -> Iterator[tuple[int, JsonObject]]:
    """The blocks of a message with their places in its content."""
    for number, block in enumerate(blocks(message.get("content"))):
        if isinstance(block, Mapping):
            yield number, block


def call_ids(message: JsonObject) -> list[str]:
    return [str(b.get("id", "")) for _, b in entries(message) if kind_of(b) == "tool_use"]


def results_of(message: JsonObject) -> list[tuple[int, JsonObject]]:
    return [(n, block) for n, block in entries(message) if kind_of(block) == "tool_result"]


def is_server_result(block: JsonObject) -> bool:
    """A result the provider wrote into the assistant message (`web_search_tool_result`, ...)."""
    return kind_of(block).endswith("_tool_result")


def caller_of(block: JsonObject) -> str:
    """The id of the server call that made this call, where code and not the model made it."""
    caller = block.get("caller")
    return str(caller.get("tool_id") or "") if isinstance(caller, Mapping) else ""


def call_of(block: JsonObject) -> Call:
    name, arguments = str(block.get("name", "")), compact(block.get("input"))
    return Call(str(block.get("id", "")), name, arguments)


def observation_of(block: JsonObject) -> Observation:
    """A result as an observation; so is what stands beside results in their message."""
    if "tool_use_id" not in block:
        return Observation("", block_text(block))
    content = block.get("content")
    failed = any(kind_of(part).endswith("_error") for part in blocks(content))
    return Observation(
        call_id=str(block["tool_use_id"]),
        text=text_of(content) if kind_of(block) == "tool_result" else _server_text(content),
        is_error=bool(block.get("is_error")) or (is_server_result(block) and failed),
    )


def thought_in(block: JsonObject) -> str:
    if kind_of(block) == "redacted_thinking":
        return "[redacted thinking]"
    return block_text(block) if kind_of(block) == "thinking" else ""


def harness_wrote(block: JsonObject) -> bool:
    if kind_of(block) != "text":
        return False
    opening, closing = REMINDER
    rest = block_text(block).strip()
    while rest.startswith(opening) and closing in rest:
        rest = rest.split(closing, 1)[1].lstrip()
    return not rest


def loads_tools(block: JsonObject) -> bool:
    """Whether the model can call a tool only because this block stands in its history."""
    if kind_of(block) == "tool_search_tool_result":
        return True
    return any(kind_of(part) == "tool_reference" for _, part in entries(block))


def _server_text(content: Any) -> str:
    if all(kind_of(part) == "text" for part in blocks(content)):
        return text_of(content)
    return compact(_readable(content))


def _readable(value: Any) -> Any:
    if isinstance(value, Mapping):
        text_source = value.get("type") == "text"  # a document's plain text is named `data` too
        return {
            key: _readable(item)
            for key, item in value.items()
            if key not in UNREADABLE or (key == "data" and text_source)
        }
    if isinstance(value, list | tuple):
        return [_readable(item) for item in value]
    return value
