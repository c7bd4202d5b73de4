"""Reading what providers put into a message's `content`: a string, or a list of typed blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from statecomp.history.interaction import JsonObject

# What clients hang on a message or block to end a cached prefix there, and move with each request.
MARKERS = ("cache_control", "prompt_cache_breakpoint")


def blocks(content: Any) -> list[Any]:
    """Content as a list of blocks, whichever form it came in."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content) if isinstance(content, list | tuple) else [content]


def block_kinds(content: Any) -> set[str]:
    """The types of the blocks that some content is made of."""
    return {str(block.get("type")) for block in blocks(content) if isinstance(block, Mapping)}


def text_of(content: Any) -> str:
    """The readable text of some content; media become typed references."""
    return joined(map(block_text, blocks(content)))


def joined(parts: Iterable[str]) -> str:
    """The parts that say something, one below the other."""
    return "\n".join(part for part in parts if part)


def edited_content(holder: JsonObject, edit: Callable[[str], str]) -> JsonObject:
    """A message or block with its text passed through; the very object where nothing changed."""
    text = text_of(holder.get("content"))
    edited = edit(text)
    return holder if edited == text else {**holder, "content": edited}


def compact(value: Any) -> str:
    """A value as JSON, for people: whatever JSON does not know is named."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    for key in ("text", "refusal", "thinking"):
        if isinstance(block.get(key), str):
            return str(block[key])
    if "content" in block:
        return text_of(block["content"])
    kind = str(block.get("type", "block"))
    return f"[{kind}{media_detail(block)}]"


def media_detail(block: JsonObject) -> str:
    """Media type and size, so that a reader knows what stood there without its bytes."""
    source = next(
        (block[k] for k in ("source", "image_url", "input_audio", "file") if k in block), None
    )
    if isinstance(source, str):
        source = {"url": source}
    if not isinstance(source, Mapping):
        return ""
    data = source.get("data") or source.get("url") or source.get("file_data") or ""
    url = str(source.get("url", ""))
    media = source.get("media_type") or source.get("format") or ""
    if url.startswith("data:"):
        media = url[5:].split(";", 1)[0]
    elif url:
        return f" {url}"
    return f" {media or 'data'}, {max(1, len(str(data)) * 3 // 4096)} KB"


def strip_markers(value: Any) -> Any:
    """Content as it identifies a message: a copy without cache markers, one form for plain text."""
    if isinstance(value, Mapping):
        return {
            key: strip_content(item) if key == "content" else strip_markers(item)
            for key, item in value.items()
            if key not in MARKERS
        }
    if isinstance(value, list | tuple):
        return [strip_markers(item) for item in value]
    return value


def strip_content(content: Any) -> Any:
    """Clients turn a plain string into a one-block list to hang a cache marker on it."""
    stripped = strip_markers(content)
    if isinstance(stripped, list) and len(stripped) == 1 and isinstance(stripped[0], dict):
        block = stripped[0]
        if block.get("type") == "text" and set(block) == {"type", "text"}:
            return block["text"]
    return stripped


def markers(message: JsonObject) -> Iterator[tuple[str, Any]]:
    """Cache markers a message carries, on its blocks or on itself, in order."""
    for block in blocks(message.get("content")):
        if isinstance(block, Mapping):
            yield from markers(block)
    for name in MARKERS:
        if name in message:
            yield name, message[name]
