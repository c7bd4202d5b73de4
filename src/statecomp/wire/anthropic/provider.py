"""Anthropic messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.tokens.usage import Usage, counted
from statecomp.wire.anthropic.chat import AnthropicChat
from statecomp.wire.anthropic.pairing import paired
from statecomp.wire.anthropic.thinking import allow_stale_thinking
from statecomp.wire.anthropic.wire import Anthropic
from statecomp.wire.content import block_kinds
from statecomp.wire.provider import Errors, Provider

_FIELDS = ("system", "anthropic_version", "anthropic_beta", "stop_sequences")
_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}
    | {"mcp_tool_use", "compaction", "document"}
)
_CACHE_COUNTS = ("cache_read_input_tokens", "cache_creation_input_tokens")


def _shape(status: int, word: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": word, "message": message}}


_ERRORS = Errors(
    {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        408: "timeout_error",
        413: "request_too_large",
        426: "invalid_request_error",
        502: "api_error",
        504: "timeout_error",
    },
    _shape,
)


def _usage(found: Mapping[str, Any]) -> Usage | None:
    """None where nothing is said of a cache: Responses, asked later, reads such counts alike."""
    if not any(name in found for name in _CACHE_COUNTS):
        return None
    cached, written = (counted(found, name) for name in _CACHE_COUNTS)
    # What the cache gave and took stands beside the input here, not within it.
    fresh = counted(found, "input_tokens")
    return Usage(fresh + cached + written, cached, written, counted(found, "output_tokens"))


def _tells(message: JsonObject) -> bool:
    kinds = block_kinds(message.get("content"))
    return bool(kinds & _BLOCKS) or ("image" in kinds and "image_url" not in kinds)


def _asks(body: Mapping[str, Any]) -> bool:
    return "messages" in body and any(name in body for name in _FIELDS)


def _answer(told: Mapping[str, Any]) -> list[JsonObject]:
    content = told.get("content")
    return [{"role": "assistant", "content": content}] if content else []


ANTHROPIC = Provider(
    name="anthropic",
    wire=Anthropic,
    # Not any path that ends so: the messages of a stored thread are no history of ours.
    paths=("^/messages", "/v1/messages"),
    counts="/count_tokens",
    home="https://api.anthropic.com",
    known_by=frozenset({b"anthropic-version", b"x-api-key"}),
    errors=_ERRORS,
    caches_unasked=False,
    drop_stale=allow_stale_thinking,
    usage=_usage,
    chat=AnthropicChat,
    chat_name="anthropic",
    tells=_tells,
    asks=_asks,
    answer=_answer,
    paired=paired,
)
