"""OpenAI chat completions, and the many servers that speak them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.tokens.usage import Usage, counted
from statecomp.wire.openai_chat.chat import CompletionsChat
from statecomp.wire.openai_chat.pairing import paired
from statecomp.wire.openai_chat.wire import OpenAIChat
from statecomp.wire.provider import Errors, Provider

OPENAI_HOME = "https://api.openai.com"
_FIELDS = ("tool_calls", "function_call", "tool_call_id", "reasoning_content", "refusal")
_COUNTS = ("prompt_tokens", "completion_tokens")


def _shape(status: int, word: str, message: str) -> dict[str, Any]:
    about = {"message": message, "type": word, "param": None, "code": f"statecomp_{status}"}
    return {"error": about}


OPENAI_ERRORS = Errors(
    {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "invalid_request_error",
        408: "timeout",
        413: "invalid_request_error",
        426: "invalid_request_error",
        502: "api_connection_error",
        504: "timeout",
    },
    _shape,
)


def _usage(found: Mapping[str, Any]) -> Usage | None:
    if not any(name in found for name in _COUNTS):
        return None
    return Usage(
        input=counted(found, "prompt_tokens"),
        cached=counted(found, "prompt_tokens_details", "cached_tokens"),
        written=counted(found, "prompt_tokens_details", "cache_write_tokens"),
        output=counted(found, "completion_tokens"),
    )


def _tells(message: JsonObject) -> bool:
    return message.get("role") in ("tool", "function") or any(f in message for f in _FIELDS)


def _answer(told: Mapping[str, Any]) -> list[JsonObject]:
    if told.get("type") == "message":  # a gateway that answers as Anthropic does
        content = told.get("content")
        return [{"role": "assistant", "content": content}] if content else []
    choices = told.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping) or not message:
        return []
    return [{name: value for name, value in message.items() if value is not None}]


OPENAI_CHAT = Provider(
    name="openai-chat",
    wire=OpenAIChat,
    paths=("/chat/completions",),
    home=OPENAI_HOME,
    errors=OPENAI_ERRORS,
    usage=_usage,
    chat=CompletionsChat,
    chat_name="openai",
    tells=_tells,
    answer=_answer,
    paired=paired,
)
