"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.tokens.usage import Usage, counted
from statecomp.wire.content import block_kinds
from statecomp.wire.openai_chat.provider import OPENAI_ERRORS, OPENAI_HOME
from statecomp.wire.openai_responses.chat import ResponsesChat
from statecomp.wire.openai_responses.items import Maker, maker_of
from statecomp.wire.openai_responses.pairing import paired
from statecomp.wire.openai_responses.wire import OpenAIResponses
from statecomp.wire.provider import Provider

_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def _usage(found: Mapping[str, Any]) -> Usage | None:
    return Usage(
        input=counted(found, "input_tokens"),
        cached=counted(found, "input_tokens_details", "cached_tokens"),
        output=counted(found, "output_tokens"),
    )


def _tells(item: JsonObject) -> bool:
    content = item.get("content")
    plain = item.get("type") == "message" and isinstance(content, str)
    known = "role" not in item and maker_of(item) is not Maker.UNKNOWN
    return plain or known or bool(block_kinds(content) & _BLOCKS)


def _asks(body: Mapping[str, Any]) -> bool:
    return "input" in body and "messages" not in body


def _answer(told: Mapping[str, Any]) -> list[JsonObject]:
    output = told.get("output")
    items = output if isinstance(output, list) else []
    return [item for item in items if isinstance(item, Mapping)]


OPENAI_RESPONSES = Provider(
    name="openai-responses",
    wire=OpenAIResponses,
    paths=("/responses",),
    counts="/input_tokens",
    home=OPENAI_HOME,
    errors=OPENAI_ERRORS,
    usage=_usage,
    chat=ResponsesChat,
    tells=_tells,
    asks=_asks,
    answer=_answer,
    paired=paired,
)
