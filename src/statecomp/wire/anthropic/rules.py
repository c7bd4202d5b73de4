"""What the Anthropic messages API refuses, said of a message list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecomp.history.interaction import JsonObject
from statecomp.wire.anthropic.blocks import SERVER_CALLS, entries, is_server_result, kind_of
from statecomp.wire.anthropic.thinking import THINKING
from statecomp.wire.content import blocks, markers
from statecomp.wire.protocol import Violation

ROLES = ("user", "assistant", "system")
MAX_MARKERS = 4


def violations(messages: Sequence[JsonObject], *, opening: bool) -> Iterator[Violation]:
    yield from _role_violations(messages, opening=opening)
    yield from _pairing_violations(messages)
    if opening:  # in a window the call may stand before it
        yield from _server_violations(messages)
    for place, message in enumerate(messages):
        yield from _block_violations(message, f"messages[{place}]")
        yield from _empty_violations(message, place, last=place == len(messages) - 1)
    found = sum(1 for message in messages for _ in markers(message))
    if found > MAX_MARKERS:
        text = f"there are {found} cache breakpoints, and at most {MAX_MARKERS} are accepted"
        yield Violation("breakpoints", "messages", text)


def _role_violations(messages: Sequence[JsonObject], *, opening: bool) -> Iterator[Violation]:
    """A user message opens; a system message stands behind a user and before an assistant."""
    roles = [message.get("role") for message in messages]
    if opening and roles and roles[0] == "assistant":
        yield Violation("first-user", "messages[0]", "the first message is not the user's")
    for place, role in enumerate(roles):
        here = f"messages[{place}].role"
        if role not in ROLES:
            yield Violation("role", here, f"the role {role!r} is unknown")
        if role != "system":
            continue
        if place == 0 and opening:
            yield Violation("system-place", here, "a system message cannot open the messages")
        elif place and roles[place - 1] != "user" and not _ends_in_server_tool(messages[place - 1]):
            yield Violation("system-place", here, "a system message must follow a user message")
        if place + 1 < len(roles) and roles[place + 1] != "assistant":
            text = "a system message must stand before an assistant message, or last"
            yield Violation("system-place", here, text)


def _ends_in_server_tool(message: JsonObject) -> bool:
    found = [block for _, block in entries(message)]
    if message.get("role") != "assistant" or not found:
        return False
    return kind_of(found[-1]) in SERVER_CALLS or is_server_result(found[-1])


def _pairing_violations(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """Each call is answered once, in the very next message, before anything else in it."""
    waiting: dict[str, str] = {}  # open call id -> where it was made
    for place, message in enumerate(messages):
        here = f"messages[{place}]"
        if message.get("role") == "user":
            yield from _result_violations(message, here, waiting)
        for call_id, spot in waiting.items():
            text = f"the next message does not answer the call {call_id!r}"
            yield Violation("unanswered-call", spot, text)
        waiting = {}
        if message.get("role") != "assistant":
            continue
        for number, block in entries(message):
            if kind_of(block) != "tool_use":
                continue
            spot, call_id = f"{here}.content[{number}]", str(block.get("id", ""))
            if not call_id:
                yield Violation("call-id", spot, "the call has no id")
            elif call_id in waiting:
                yield Violation("call-id", spot, f"the id {call_id!r} is used twice")
            waiting[call_id] = spot
    for call_id, spot in waiting.items():
        yield Violation("unanswered-call", spot, f"no message answers the call {call_id!r}")


def _result_violations(
    message: JsonObject, here: str, waiting: dict[str, str]
) -> Iterator[Violation]:
    """What is wrong with the results in a user message; calls they answer leave `waiting`."""
    answered: set[str] = set()
    other = False
    for number, block in entries(message):
        if kind_of(block) != "tool_result":
            other = True
            continue
        spot, call_id = f"{here}.content[{number}]", str(block.get("tool_use_id", ""))
        if other:
            yield Violation("results-first", spot, "a tool result stands behind other content")
        if call_id in waiting:
            del waiting[call_id]
            answered.add(call_id)
        elif call_id in answered:
            yield Violation("one-result", spot, f"the call {call_id!r} has more than one result")
        elif not call_id:
            yield Violation("result-id", spot, "the tool result has no tool_use_id")
        else:
            text = f"the message before it does not make the call {call_id!r}"
            yield Violation("orphan-result", spot, text)


def _server_violations(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """A result the provider wrote must stand behind the call that the provider ran."""
    made: set[str] = set()
    for place, message in enumerate(messages):
        for number, block in entries(message):
            if kind_of(block) in SERVER_CALLS:
                made.add(str(block.get("id", "")))
            elif is_server_result(block) and str(block.get("tool_use_id", "")) not in made:
                spot = f"messages[{place}].content[{number}]"
                text = "no server call before it has this result's tool_use_id"
                yield Violation("orphan-server-result", spot, text)


def _block_violations(message: JsonObject, here: str) -> Iterator[Violation]:
    """Blocks in a message of the wrong role."""
    role = message.get("role")
    for number, block in entries(message):
        kind, spot = kind_of(block), f"{here}.content[{number}]"
        if kind in THINKING and role != "assistant":
            yield Violation("thinking-role", spot, f"thinking cannot stand in a {role} message")
        if kind == "tool_use" and role != "assistant":
            yield Violation("call-role", spot, f"a call cannot stand in a {role} message")
        if kind == "tool_result" and role != "user":
            yield Violation("result-role", spot, f"a tool result cannot stand in a {role} message")


def _empty_violations(message: JsonObject, place: int, *, last: bool) -> Iterator[Violation]:
    here = f"messages[{place}].content"
    if not blocks(message.get("content")):
        if not (last and message.get("role") == "assistant"):
            yield Violation("empty-text", here, "the message has no content")
        return
    for number, block in entries(message):
        if kind_of(block) == "text" and not str(block.get("text") or "").strip():
            yield Violation("empty-text", f"{here}[{number}]", "the text block is empty")
