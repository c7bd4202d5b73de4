"""The three APIs: for each, what it refuses, how it answers, how it says no."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from statecomp.testing.provider import (
    chat_reply,
    chat_rules,
    messages_reply,
    messages_rules,
    responses_reply,
    responses_rules,
)
from statecomp.testing.provider.meter import Spent
from statecomp.testing.provider.refusals import Refused, Strictness
from statecomp.testing.provider.turns import Body, Turn


@dataclass(frozen=True, slots=True)
class Dialect:
    path: str
    key: str  # where the messages are
    head: tuple[str, ...]  # what stands before them in the prompt
    check: Callable[[Body, Mapping[str, str], Strictness], None]
    call_ids: Callable[[Body], Iterator[str]]
    reply: Callable[[Body, int, Turn, Spent], dict[str, Any]]
    events: Callable[[dict[str, Any], Body], Iterator[bytes]]
    error: Callable[[Refused], dict[str, Any]]


KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def openai_error(refused: Refused) -> dict[str, Any]:
    kind = KINDS.get(refused.status, "server_error")
    text = {"message": str(refused), "type": kind, "param": refused.param or None, "code": None}
    return {"error": text}


def anthropic_error(refused: Refused) -> dict[str, Any]:
    kind = KINDS.get(refused.status, "api_error")
    error = {"type": kind, "message": str(refused)}
    return {"type": "error", "error": error, "request_id": "req_scripted"}


CHAT = Dialect(
    "/v1/chat/completions",
    "messages",
    ("tools",),
    chat_rules.check,
    chat_rules.call_ids,
    chat_reply.reply,
    chat_reply.events,
    openai_error,
)
RESPONSES = Dialect(
    "/v1/responses",
    "input",
    ("instructions", "tools"),
    responses_rules.check,
    responses_rules.call_ids,
    responses_reply.reply,
    responses_reply.events,
    openai_error,
)
MESSAGES = Dialect(
    "/v1/messages",
    "messages",
    ("tools", "system"),
    messages_rules.check,
    messages_rules.call_ids,
    messages_reply.reply,
    messages_reply.events,
    anthropic_error,
)
