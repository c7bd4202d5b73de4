"""What a server answered: whole and in words, or why it cannot be used."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias

from statecomp.llm.chat import Completion, QuestionFailed

Json: TypeAlias = dict[str, Any]

REFUSED = "the model refused to answer"
CALLED = "the model called a tool instead of answering"
_CUT_OFF = "the answer was cut off at its token limit"
_BAD_STOPS = {
    **dict.fromkeys(("length", "max_tokens", "model_context_window_exceeded"), _CUT_OFF),
    **dict.fromkeys(("content_filter", "refusal"), REFUSED),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use", "pause_turn"), CALLED),
}


def whole(problem: str, completion: Completion) -> Completion:
    """The completion, if it is a whole answer; what it cost is told in either case."""
    problem = problem or _BAD_STOPS.get(completion.stop, "")
    if not problem and not completion.text.strip():
        problem = "the model answered with no text"
    if problem:
        raise QuestionFailed(problem, usage=completion.usage)
    return completion


def words(content: object) -> str:
    """The text of a message, whether it came whole or in blocks; thinking is not part of it."""
    if not isinstance(content, list):
        return string(content)
    blocks = (mapping(block) for block in content)
    return "".join(string(b.get("text")) for b in blocks if b.get("type") == "text")


def number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def parsed(answer: bytes) -> Any:
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return None


def reason_in(answer: bytes) -> str:
    """What an error body says, in one line."""
    body = mapping(parsed(answer))
    error = body.get("error")
    told = string(mapping(error).get("message")) or string(error) or string(body.get("message"))
    return " ".join((told or answer.decode("utf-8", "replace")).split())


def retry_after_s(header: str) -> float:
    """Seconds to wait by a Retry-After header, which is a number or a date."""
    with suppress(ValueError):
        return max(0.0, float(header))
    with suppress(ValueError):
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    return 0.0


def mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def string(value: object) -> str:
    return value if isinstance(value, str) else ""
