"""What the OpenAI Responses API refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from statecomp.testing.provider.refusals import Refused, Strictness, insist
from statecomp.testing.provider.signing import encrypted
from statecomp.testing.provider.turns import Body

# A call and the type of the item that answers it.
ANSWER = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "mcp_approval_request": "mcp_approval_response",
}
CALLS = {answer: call for call, answer in ANSWER.items()}
USER_PARTS = ("input_text", "input_image", "input_file", "input_audio")
ASSISTANT_PARTS = ("output_text", "refusal")
# Ids this server gives to what it wrote behind reasoning.
_REASONED = re.compile(r"^(?:fc|ctc|msg)_r(\d{4})_")


def check(body: Body, headers: Mapping[str, str], rules: Strictness) -> None:
    given = body.get("input")
    if isinstance(given, str):
        insist(bool(given), "Invalid 'input': empty string.", "input")
        return
    insist(isinstance(given, list), "Missing required parameter: 'input'.", "input")
    assert isinstance(given, list)
    for place, item in enumerate(given):
        insist(isinstance(item, Mapping), f"Invalid type for 'input[{place}]'.", "input")
        if kind_of(item) == "message":
            _check_message(item, f"input[{place}]")
    _check_ids(given)
    _check_pairs(given)
    _check_reasoning(given)
    if rules.alternate:
        _check_alternation(given)


def kind_of(item: Mapping[str, Any]) -> str:
    return str(item.get("type") or ("message" if "role" in item else "item_reference"))


def _check_message(item: Mapping[str, Any], here: str) -> None:
    role, content = item.get("role"), item.get("content")
    known = role in ("user", "system", "developer", "assistant")
    insist(known, f"Invalid value: {role!r} for '{here}.role'.", here)
    insist(content is not None, f"Missing required parameter: '{here}.content'.", here)
    allowed = ASSISTANT_PARTS if role == "assistant" else USER_PARTS
    for number, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, Mapping) else part
        supported = " and ".join(f"'{name}'" for name in allowed)
        text = f"Invalid value: {kind!r}. Supported values are: {supported}."
        insist(kind in allowed, text, f"{here}.content[{number}]")


def _check_ids(items: list[Any]) -> None:
    seen: set[str] = set()
    for place, item in enumerate(items):
        name = item.get("id")
        if name and kind_of(item) != "local_shell_call_output":
            text = f"Duplicate item found with id {name}. Remove duplicate items from your input."
            insist(name not in seen, text, f"input[{place}]")
            seen.add(name)


def _name(item: Mapping[str, Any]) -> str:
    """What links a call and its output."""
    return str(item.get("call_id") or item.get("approval_request_id") or item.get("id") or "")


def _check_pairs(items: list[Any]) -> None:
    """Every call has one output of its kind behind it, and every output its call before it."""
    waiting: dict[tuple[str, str], int] = {}
    for place, item in enumerate(items):
        kind, name = kind_of(item), _name(item)
        if kind in ANSWER:
            again = f"Duplicate call with call_id {name}."
            insist((kind, name) not in waiting, again, f"input[{place}]")
            waiting[kind, name] = place
        elif kind in CALLS:
            call = CALLS[kind].replace("_", " ")
            text = f"No tool call found for {call} output with call_id {name}."
            insist((CALLS[kind], name) in waiting, text, "input")
            del waiting[CALLS[kind], name]
        elif kind == "message" and item["role"] != "assistant":
            _insist_answered(waiting)
    _insist_answered(waiting)


def _insist_answered(waiting: Mapping[tuple[str, str], int]) -> None:
    for kind, name in waiting:
        raise Refused(f"No tool output found for {kind.replace('_', ' ')} {name}.", param="input")


def _check_reasoning(items: list[Any]) -> None:
    """Reasoning and what it led to stand together, and what it holds is what was given out."""
    behind: set[str] = set()
    for place, item in enumerate(items):
        name = str(item.get("id") or "")
        if kind_of(item) == "reasoning":
            behind.add(name)
            after = kind_of(items[place + 1]) if place + 1 < len(items) else ""
            # What a reference stands for is known where it is stored.
            made = after.endswith("_call") or after in (*ANSWER, "reasoning", "item_reference")
            spoken = after == "message" and items[place + 1]["role"] == "assistant"
            text = f"Item '{name}' of type 'reasoning' was provided without its required following "
            insist(made or spoken, text + "item.", "input")
            sealed = item.get("encrypted_content")
            text = f"The encrypted content for item {name} could not be verified."
            insist(sealed is None or sealed == encrypted(name), text, "input")
        elif found := _REASONED.match(name):
            needed = f"rs_{found[1]}"
            text = f"Item '{name}' of type '{kind_of(item)}' was provided without its required "
            insist(needed in behind, f"{text}'reasoning' item: '{needed}'.", "input")


def _check_alternation(items: list[Any]) -> None:
    roles = [item.get("role") if kind_of(item) == "message" else "assistant" for item in items]
    for before, after in pairwise(roles):
        text = "Conversation roles must alternate user/assistant/user/assistant/..."
        insist(not (before == after == "user"), text, "input")
        insist(after not in ("system", "developer") or before == after, "System must come first.")


def call_ids(body: Body) -> Iterator[str]:
    for item in body["input"] if isinstance(body["input"], list) else ():
        if kind_of(item) in ("function_call", "custom_tool_call"):
            yield str(item.get("call_id"))
