"""Reading the items of an OpenAI Responses input: who made each, what it says, what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from statecomp.history.interaction import Call, JsonObject, Observation
from statecomp.wire.content import compact, strip_markers, text_of

PINNED_ROLES = ("system", "developer", "user")
# Written by the client: never part of what the model did.
PINNED_TYPES = ("additional_tools", "configuration_update")
# A reference stands for something the model made and the server keeps.
MADE_TYPES = ("reasoning", "mcp_list_tools", "mcp_approval_request", "program", "item_reference")
ANSWERED_TYPES = frozenset(
    {"function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call"}
    | {"apply_patch_call", "mcp_approval_request", "program"}
)
# Where the different calls keep what they were called with.
_ARGUMENTS = ("arguments", "input", "action", "actions", "operation", "code", "queries")


class Maker(StrEnum):
    """Whose an item is."""

    CLIENT = "client"
    MODEL = "model"
    OUTPUT = "output"
    UNKNOWN = "unknown"  # a type we have never seen: it stays where it stands
    NOBODY = "nobody"  # a message with a role that does not exist


def kind_of(item: JsonObject) -> str:
    """The item's type; short forms leave it out."""
    if item.get("type"):
        return str(item["type"])
    if "role" in item:
        return "message"
    return "item_reference" if "id" in item else ""


def maker_of(item: JsonObject) -> Maker:
    kind = kind_of(item)
    if kind == "message":
        if item.get("role") == "assistant":
            return Maker.MODEL
        return Maker.CLIENT if item.get("role") in PINNED_ROLES else Maker.NOBODY
    if kind in PINNED_TYPES or is_compaction(item):
        return Maker.CLIENT
    if kind == "tool_search_output" and not item.get("call_id"):
        return Maker.MODEL  # the server searched, inside the model's turn
    if kind.endswith("_output") or kind == "mcp_approval_response":
        return Maker.OUTPUT
    return Maker.MODEL if kind in MADE_TYPES or kind.endswith("_call") else Maker.UNKNOWN


def is_compaction(item: JsonObject) -> bool:
    return kind_of(item).startswith("compaction") or _refers_to(item, "cmp_")


def is_reasoning(item: JsonObject) -> bool:
    """Reasoning, whether it is here or kept on the server: nothing in it can be read."""
    return kind_of(item) == "reasoning" or _refers_to(item, "rs_")


def is_message(item: JsonObject) -> bool:
    return kind_of(item) == "message" or _refers_to(item, "msg_")


def is_kept_on_server(item: JsonObject) -> bool:
    """A reference to words, a call or its output, which only the server can read."""
    return kind_of(item) == "item_reference" and not is_reasoning(item)


def _refers_to(item: JsonObject, prefix: str) -> bool:
    """The prefix of an id tells what kind of item it names."""
    return kind_of(item) == "item_reference" and str(item.get("id")).startswith(prefix)


def needs_output(item: JsonObject) -> bool:
    if kind_of(item) == "tool_search_call":
        return item.get("execution") == "client"
    return kind_of(item) in ANSWERED_TYPES


def call_id_of(item: JsonObject) -> str:
    """The id that an output must name to answer this item."""
    return str(item.get("call_id") or item.get("id") or "")


def answers(item: JsonObject) -> str:
    """The id of the call that this output answers."""
    named = item.get("call_id") or item.get("approval_request_id")
    if not named and kind_of(item) == "local_shell_call_output":
        named = item.get("id")
    return str(named or "")


def identity(item: JsonObject) -> Any:
    """An item without what clients renumber or move: its id, its status and cache markers."""
    # A reference is nothing but its id.
    drop = ("status",) if kind_of(item) == "item_reference" else ("id", "status")
    return strip_markers({k: v for k, v in item.items() if k not in drop})


def call_of(item: JsonObject) -> Call:
    name = str(item.get("name") or kind_of(item).removesuffix("_call"))
    arguments = next((item[key] for key in _ARGUMENTS if item.get(key) is not None), "")
    return Call(call_id_of(item), name, _as_text(arguments))


def observation_of(item: JsonObject) -> Observation:
    failed = item.get("status") in ("incomplete", "failed") or bool(item.get("error"))
    call_id = answers(item) if maker_of(item) is Maker.OUTPUT else call_id_of(item)
    return Observation(call_id, output_text(item), failed)


def has_own_output(item: JsonObject) -> bool:
    """Whether the server ran this call and wrote what came of it into the same item."""
    return any(item.get(key) for key in ("output", "outputs", "results", "error"))


def output_text(item: JsonObject) -> str:
    """What an output says; approvals and shell chunks have shapes of their own."""
    if kind_of(item) == "mcp_approval_response":
        verdict = "approved" if item.get("approve") else "denied"
        return f"{verdict}: {item['reason']}" if item.get("reason") else verdict
    for key in ("output", "outputs", "results", "result"):
        value = item.get(key)
        if isinstance(value, list | tuple):
            return "\n".join(filter(None, map(_part_text, value)))
        if value is not None:
            return text_of(value)
    return _as_text(item.get("error") or item.get("tools") or "")


def _part_text(part: Any) -> str:
    if not isinstance(part, Mapping):
        return text_of(part)
    if "stdout" not in part and "stderr" not in part:
        return str(part["logs"]) if "logs" in part else text_of(part)
    lines = [str(part.get("stdout") or ""), str(part.get("stderr") or "")]
    outcome = part.get("outcome")
    if isinstance(outcome, Mapping):
        timed_out = outcome.get("type") == "timeout"
        lines.append("[timed out]" if timed_out else f"[exit {outcome.get('exit_code')}]")
    return "\n".join(filter(None, lines))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)
