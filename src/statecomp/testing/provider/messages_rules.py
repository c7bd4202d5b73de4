"""What the Anthropic messages API refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from statecomp.testing.provider.refusals import Refused, Strictness, digest, insist, parts_of
from statecomp.testing.provider.signing import (
    THINKING,
    binds,
    carried,
    signed,
    thinking_blocks,
)
from statecomp.testing.provider.turns import Body

BINDING_BETA = "thinking-binding-controls-2026-08-01"
ONLY_ASSISTANT = (*THINKING, "tool_use", "server_tool_use", "mcp_tool_use")
MAX_BREAKPOINTS = 4


def check(body: Body, headers: Mapping[str, str], rules: Strictness) -> None:
    insist("anthropic-version" in headers, "anthropic-version: header is required")
    messages = body.get("messages")
    insist(isinstance(messages, list), "messages: Field required")
    assert isinstance(messages, list)
    insist(bool(messages), "messages: at least one message is required")
    for place, message in enumerate(messages):
        _check_blocks(message, f"messages.{place}", last=place == len(messages) - 1)
    _check_roles([str(message["role"]) for message in messages], messages, rules)
    _check_tools(messages)
    _check_server_tools(messages)
    _check_breakpoints(body)
    _check_thinking(body, headers)


def _check_blocks(message: Any, here: str, *, last: bool) -> None:
    role, content = message.get("role"), message.get("content")
    insist(role in ("user", "assistant", "system"), f"{here}.role: Input should be 'user'")
    final = last and role == "assistant"
    empty = f"{here}: all messages must have non-empty content except for the optional final "
    insist(bool(content) or final, empty + "assistant message")
    for number, block in enumerate(parts_of(content)):
        spot, kind = f"{here}.content.{number}", block.get("type")
        insist(bool(kind), f"{spot}.type: Field required")
        if kind == "text":
            text = f"{spot}: text content blocks must contain non-whitespace text"
            insist(bool(str(block.get("text") or "").strip()), text)
        if kind in ONLY_ASSISTANT:
            insist(role == "assistant", f"{spot}: {kind} blocks can only be in assistant messages")
        if kind == "tool_result":
            insist(role == "user", f"{spot}: tool_result blocks can only be in user messages")
        if kind == "compaction":
            insist(number == 0, f"{spot}: compaction block must be the first of its message")


def _check_roles(roles: list[str], messages: list[Any], rules: Strictness) -> None:
    insist(roles[0] == "user", "messages: first message must use the user role")
    for place, role in enumerate(roles):
        before = roles[place - 1] if place else ""
        if role == "system":
            after = roles[place + 1] if place + 1 < len(roles) else "assistant"
            served = before == "assistant" and _ends_with_server_tool(messages[place - 1])
            text = f"messages.{place}: a system message must follow a user turn and precede an "
            insist((before == "user" or served) and after == "assistant", text + "assistant turn")
        if rules.alternate and role == before:
            raise Refused(f"messages.{place}: roles must alternate between user and assistant")


def _ends_with_server_tool(message: Any) -> bool:
    kinds = [str(block.get("type")) for block in parts_of(message["content"])]
    return kinds[-1] in ("server_tool_use", "mcp_tool_use") or kinds[-1].endswith("_tool_result")


def _check_tools(messages: list[Any]) -> None:
    """Each call is answered in the very next message, once, in front of all else in it."""
    for place, message in enumerate(messages):
        asked = ids_of(message, "tool_use")
        insist(len(set(asked)) == len(asked), "messages: `tool_use` ids must be unique")
        follows = messages[place + 1] if place + 1 < len(messages) else {"content": ""}
        kinds = [str(block.get("type")) for block in parts_of(follows["content"])]
        answered = ids_of(follows, "tool_result")
        missing = [name for name in asked if name not in answered]
        insist(
            not missing,
            f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
            "`tool_result` block in the next message.",
        )
        for name in answered:
            once = answered.count(name) == 1
            text = "each tool_use must have a single result. Found multiple `tool_result` blocks "
            insist(once, f"messages.{place + 1}: {text}with id: {name}")
            text = f"unexpected `tool_use_id` found in `tool_result` blocks: {name}."
            insist(name in asked, f"messages.{place + 1}.content.0: {text}")
        results_first = kinds[: len(answered)] == ["tool_result"] * len(answered)
        text = "tool_result blocks must come first in the content of the message"
        insist(results_first, f"messages.{place + 1}: {text}")
    opening = ids_of(messages[0], "tool_result")
    insist(not opening, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result`")


def _check_server_tools(messages: list[Any]) -> None:
    """A result the server wrote is in an assistant message, behind the call it belongs to."""
    seen: set[str] = set()
    for place, message in enumerate(messages):
        for block in parts_of(message["content"]):
            kind = str(block.get("type"))
            if kind in ("server_tool_use", "mcp_tool_use"):
                seen.add(str(block["id"]))
            elif kind.endswith("_tool_result"):
                name = str(block.get("tool_use_id"))
                text = f"messages.{place}: `{kind}` block has no `server_tool_use` before it"
                insist(message["role"] == "assistant" and name in seen, f"{text}: {name}")


def ids_of(message: Any, kind: str) -> list[str]:
    field = "id" if kind == "tool_use" else "tool_use_id"
    found = (block for block in parts_of(message["content"]) if block.get("type") == kind)
    return [str(block.get(field, "")) for block in found]


def breakpoints(value: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """(carrier, marker) of every explicit cache breakpoint below a value, in order."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key not in ("input", "cache_control"):
                yield from breakpoints(part)
        if isinstance(value.get("cache_control"), Mapping):
            yield value, value["cache_control"]
    elif isinstance(value, list | tuple):
        for part in value:
            yield from breakpoints(part)


def _check_breakpoints(body: Body) -> None:
    found = [m for key in ("tools", "system", "messages") for m in breakpoints(body.get(key))]
    text = f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found "
    insist(len(found) <= MAX_BREAKPOINTS, f"{text}{len(found)}.")
    lives = []
    for carrier, marker in found:
        known = marker.get("type") == "ephemeral" and marker.get("ttl", "5m") in ("5m", "1h")
        insist(known, "cache_control: Input should be ephemeral with a ttl of '5m' or '1h'")
        kind = carrier.get("type")
        insist(kind not in THINKING, f"cache_control cannot be set for {kind} blocks")
        lives.append(str(marker.get("ttl", "5m")))
    text = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    insist(lives == sorted(lives), f"cache_control.ttl: {text}")  # "1h" sorts before "5m"


def _check_thinking(body: Body, headers: Mapping[str, str]) -> None:
    thinking, model = body.get("thinking") or {}, str(body.get("model", ""))
    binding = thinking.get("block_binding")
    if binding is not None:
        allowed = thinking.get("type") == "adaptive" and BINDING_BETA in betas(headers)
        insist(allowed, "thinking.block_binding: Extra inputs are not permitted")
    if thinking.get("type") == "enabled":
        _check_live_loop(body["messages"])
    drops = (binding or {}).get("prefix_mismatch_behavior") == "drop_block"
    for spot, block, prefix in thinking_blocks(body):
        text, given = carried(block)
        content, bound = signed(given)
        genuine = content == digest(text)
        insist(genuine, f"{spot}: Invalid `signature` in `thinking` block")
        stale = binds(model) and bound != prefix and not drops
        text = "Invalid signature in thinking block. The block is bound to a different conversation"
        insist(not stale, f"{spot}: {text}")


def betas(headers: Mapping[str, str]) -> list[str]:
    return [name.strip() for name in headers.get("anthropic-beta", "").split(",")]


def _check_live_loop(messages: list[Any]) -> None:
    """With extended thinking, the turn whose results are being sent back begins with thinking."""
    answering = [m for m in messages[-2:] if m["role"] == "assistant"]
    if len(messages) < 2 or not answering or not ids_of(answering[-1], "tool_use"):
        return
    first = parts_of(answering[-1]["content"])[0].get("type")
    text = f"Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is "
    insist(first in THINKING, text + "enabled, a final `assistant` message must start with one")


def call_ids(body: Body) -> Iterator[str]:
    for message in body["messages"]:
        yield from ids_of(message, "tool_use")
