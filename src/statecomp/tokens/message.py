"""What one wire message costs, whichever protocol it is written in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from statecomp.history.patient_json import dumps
from statecomp.tokens.counter import TokenCounter

MESSAGE_TOKENS: Final = 4  # what a chat template puts around a message
BLOCK_TOKENS: Final = 3  # and around a content block or a tool call
# An image or file is billed by its size in pixels or pages, which its encoding does not show: 85 to
# 1,600 tokens for an image with the large providers.  Its base64 text would say up to a million.
MEDIA_TOKENS: Final = 1000
# Ids and encrypted parts are no text to the model, but they stand for something: encrypted
# reasoning of n tokens is some 5 n characters of base64, an id is at most a few tokens.
OPAQUE_CHARS_PER_TOKEN: Final = 8

_FREE: Final = frozenset({"type", "status", "cache_control", "logprobs"})
_OPAQUE: Final = frozenset(
    {"id", "call_id", "tool_call_id", "tool_use_id", "item_id", "file_id"}
    | {"signature", "encrypted_content", "encrypted_index"}
)
_ARGUMENTS: Final = frozenset({"input", "arguments"})
_MEDIA_TYPES: Final = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "video_url"}
    | {"computer_screenshot", "image_generation_call"}
)
_NO_JSON: Final = object()  # key of the parts of arguments that could not be written as JSON
_LEAVE: Final = object()  # on the stack: the container with this id is done


def count_message(message: Mapping[str, Any], count: TokenCounter) -> int:
    """What one wire message costs: OpenAI chat, Anthropic, or an OpenAI Responses item.

    Text, names, roles and arguments count as `count` says, each string for itself; objects given
    as arguments count as their compact JSON.  Types, statuses and cache marks cost nothing.
    """
    total = MESSAGE_TOKENS
    stack: list[tuple[Any, Any]] = [("", message)]
    above: set[int] = set()  # containers around the current value: a loop is entered once
    while stack:
        key, value = stack.pop()
        if key is _LEAVE:
            above.discard(value)
        elif id(value) not in above:
            cost, parts = _cost(key, value, count)
            total += cost
            if parts:
                above.add(id(value))
                stack.append((_LEAVE, id(value)))
                stack.extend(parts)
    return total


def _cost(key: Any, value: Any, count: TokenCounter) -> tuple[int, list[tuple[Any, Any]]]:
    """The cost of a value by itself, and the parts that remain to be counted."""
    if value is None or key in _FREE:
        return 0, []
    if isinstance(value, str):
        return _text_cost(key, value, count), []
    if isinstance(value, Mapping):
        return _object_cost(key, value, count)
    if isinstance(value, list | tuple):
        blocks = sum(isinstance(item, Mapping) for item in value)
        return BLOCK_TOKENS * blocks, [(key, item) for item in value]
    return 1, []


def _text_cost(key: Any, text: str, count: TokenCounter) -> int:
    if key in _OPAQUE:
        return -(-len(text) // OPAQUE_CHARS_PER_TOKEN)
    # Only where a link or file belongs: the same characters inside a text are read as text.
    if key in {"media", "url", "image_url", "file_data"} and text.startswith("data:"):
        return MEDIA_TOKENS
    return MEDIA_TOKENS if key == "media" else count(text)


def _object_cost(
    key: Any, value: Mapping[Any, Any], count: TokenCounter
) -> tuple[int, list[tuple[Any, Any]]]:
    # First of all: an argument that happens to be named `type` makes no image of a call.
    if key in _ARGUMENTS:
        try:
            text = dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
            return count(text), []
        except (RecursionError, TypeError, ValueError):
            key = _NO_JSON  # too deep for the encoder, or a loop
    if key is _NO_JSON:
        names = sum(count(str(name)) + 1 for name in value)
        return names, [(_NO_JSON, part) for part in value.values()]
    kind = value.get("type")
    if isinstance(kind, str) and kind in _MEDIA_TYPES:
        return MEDIA_TOKENS, []
    data = _meaning_of_data(value, kind)
    return 0, [(data if name == "data" else name, part) for name, part in value.items()]


def _meaning_of_data(value: Mapping[Any, Any], kind: object) -> str:
    """A field named `data` is a text, an encrypted part or a file; its neighbours tell."""
    if kind == "redacted_thinking":
        return "encrypted_content"
    if kind == "base64" or {"media_type", "mime_type", "mimeType", "format"} & value.keys():
        return "text" if kind == "text" else "media"
    return "data"
