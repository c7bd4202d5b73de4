"""The pieces of OpenAI's chat protocol that every converter makes."""

from __future__ import annotations

import json
from typing import Any

from statecomp.history.interaction import JsonObject


def call(name_of_call: Any, name: str, arguments: Any) -> JsonObject:
    """One tool call; what a framework stores and reads again may come back in another order."""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str, sort_keys=True)
    function = {"name": name, "arguments": arguments}
    return {"id": name_of_call or "", "type": "function", "function": function}


def result(name_of_call: Any, told: Any) -> JsonObject:
    """The message that answers a call."""
    said = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False, default=str)
    return {"role": "tool", "tool_call_id": name_of_call or "", "content": said}


def thought(said: Any) -> JsonObject:
    """One block of thinking; which models refuse it behind a change, others know."""
    return {"type": "thinking", "thinking": said or ""}


def assistant(said: Any, calls: list[JsonObject], thoughts: Any = ()) -> JsonObject:
    """The assistant's message, with its thinking beside its calls."""
    made: dict[str, Any] = {"role": "assistant", "content": said}
    if thoughts:
        made["reasoning_details"] = list(thoughts)
    return {**made, "tool_calls": calls} if calls else made
