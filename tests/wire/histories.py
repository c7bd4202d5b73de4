"""Random valid histories of each protocol, and the ways to break one.

Every function returns a strategy of message lists that a provider would accept.  With
`open_end`, the last turn may end in calls that have no result yet, as a recording can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Message: TypeAlias = dict[str, Any]

WORDS = st.text('ab 1{}<>/\n"é读', max_size=12).map("x".__add__)
REMINDER = "<system-reminder>the file changed</system-reminder>"
EPHEMERAL = {"type": "ephemeral", "ttl": "1h"}
SCREENSHOT = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}


@dataclass(frozen=True)
class Scribe:
    """Draws words, choices and fresh ids for one history."""

    draw: DrawFn
    numbers: Iterator[int] = field(default_factory=count)

    def words(self) -> str:
        return self.draw(WORDS)

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def some(self, most: int) -> range:
        return range(self.draw(st.integers(0, most)))

    def fresh(self, prefix: str) -> str:
        return f"{prefix}_{next(self.numbers)}"

    def shuffled(self, values: list[Message]) -> list[Message]:
        return list(self.draw(st.permutations(values)))


Turn: TypeAlias = Callable[[Scribe, int], list[Message]]  # the number is of results not there
Pin: TypeAlias = Callable[[Scribe], list[Message]]


def _history(turn: Turn, pinned: Pin, *, open_end: bool) -> SearchStrategy[list[Message]]:
    """A task, then turns with pinned messages between them."""

    @st.composite
    def lists(draw: DrawFn) -> list[Message]:
        scribe = Scribe(draw)
        messages = pinned(scribe)
        for _ in scribe.some(6):
            messages += turn(scribe, 0)
            if draw(st.integers(0, 3)) == 0:
                messages += pinned(scribe)
        if open_end and scribe.maybe():
            messages += turn(scribe, 1)
        return messages

    return lists()


def chat_messages(*, open_end: bool = False) -> SearchStrategy[list[Message]]:
    return _history(_chat_turn, _user, open_end=open_end)


def _user(scribe: Scribe) -> list[Message]:
    return [{"role": "user", "content": scribe.words()}]


def _chat_turn(scribe: Scribe, missing: int) -> list[Message]:
    message: Message = {"role": "assistant", "content": scribe.words() if scribe.maybe() else None}
    if scribe.maybe():
        message["reasoning_content"] = scribe.words()
    calls = [_chat_call(scribe) for _ in scribe.some(3)]
    if not calls and scribe.maybe():
        message["function_call"] = {"name": "old", "arguments": "{}"}
        answer = {"role": "function", "name": "old", "content": scribe.words()}
        return [message] if missing else [message, answer]
    if not calls:
        return [{**message, "content": scribe.words()}]
    message["tool_calls"] = calls
    results: list[Message] = [
        {"role": "tool", "tool_call_id": call["id"], "content": scribe.words()} for call in calls
    ]
    return [message, *scribe.shuffled(results)[missing:]]


def _chat_call(scribe: Scribe) -> Message:
    if scribe.maybe():
        body = {"name": "patch", "input": scribe.words()}
        return {"id": scribe.fresh("call"), "type": "custom", "custom": body}
    function = {"name": "bash", "arguments": '{"cmd":"ls"}'}
    return {"id": scribe.fresh("call"), "type": "function", "function": function}


def text_action_messages(*, open_end: bool = False) -> SearchStrategy[list[Message]]:
    return _history(_text_turn, _user, open_end=open_end)


def _text_turn(scribe: Scribe, missing: int) -> list[Message]:
    action = {"role": "assistant", "content": scribe.words()}
    return [action] if missing else [action, {"role": "user", "content": scribe.words()}]


def anthropic_messages(*, open_end: bool = False) -> SearchStrategy[list[Message]]:
    return _history(_anthropic_turn, _anthropic_user, open_end=open_end).flatmap(_marked)


def _anthropic_user(scribe: Scribe) -> list[Message]:
    content: Any = scribe.words()
    if scribe.maybe():
        content = [{"type": "text", "text": content}]
    return [{"role": "user", "content": content}]


def _anthropic_turn(scribe: Scribe, missing: int) -> list[Message]:
    own: list[Message] = _thoughts(scribe)
    if scribe.maybe():
        own.append({"type": "text", "text": scribe.words()})
    if scribe.draw(st.integers(0, 4)) == 0:
        own += _server_pair(scribe)
    calls: list[Message] = [
        {"type": "tool_use", "id": scribe.fresh("toolu"), "name": "bash", "input": {"cmd": "ls"}}
        for _ in scribe.some(3)
    ]
    own += calls
    if not calls:
        own.append({"type": "text", "text": scribe.words()})
        return [{"role": "assistant", "content": own}]
    results: list[Message] = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": scribe.words()}
        for call in calls
    ]
    content = scribe.shuffled(results)[missing:]
    if scribe.draw(st.integers(0, 3)) == 0:
        content.append({"type": "text", "text": REMINDER})
    if scribe.draw(st.integers(0, 5)) == 0:
        content.append({"type": "text", "text": scribe.words()})
    turn: list[Message] = [{"role": "assistant", "content": own}]
    return [*turn, {"role": "user", "content": content}] if content else turn


def _thoughts(scribe: Scribe) -> list[Message]:
    kind = scribe.draw(st.integers(0, 2))
    if kind == 0:
        return []
    if kind == 1:
        return [{"type": "redacted_thinking", "data": "Em8="}]
    return [{"type": "thinking", "thinking": scribe.words(), "signature": "EpQB"}]


def _server_pair(scribe: Scribe) -> list[Message]:
    name, call_id = "web_search", scribe.fresh("srvtoolu")
    call = {"type": "server_tool_use", "id": call_id, "name": name, "input": {"query": "x"}}
    found = [{"type": "web_search_result", "url": "https://a.b", "title": "x"}]
    return [call, {"type": "web_search_tool_result", "tool_use_id": call_id, "content": found}]


@st.composite
def _marked(draw: DrawFn, messages: list[Message]) -> list[Message]:
    """The list with system messages where they may stand, and up to four cache markers."""
    out: list[Message] = []
    for place, message in enumerate(messages):
        out.append(message)
        follows = messages[place + 1 :]
        fits = message["role"] == "user" and (not follows or follows[0]["role"] == "assistant")
        if fits and draw(st.integers(0, 5)) == 0:
            out.append({"role": "system", "content": "Be brief."})
    lists = [m for m in out if isinstance(m["content"], list) and m["content"]]
    for message in lists[: draw(st.integers(0, 4))]:
        message["content"][-1]["cache_control"] = EPHEMERAL
    return out


def responses_items(*, open_end: bool = False) -> SearchStrategy[list[Message]]:
    return _history(_responses_turn, _responses_user, open_end=open_end)


def _responses_user(scribe: Scribe) -> list[Message]:
    if scribe.maybe():
        return _user(scribe)
    content = [{"type": "input_text", "text": scribe.words()}]
    return [{"type": "message", "role": "user", "content": content}]


def _responses_turn(scribe: Scribe, missing: int) -> list[Message]:
    items: list[Message] = []
    if scribe.maybe():
        summary = [{"type": "summary_text", "text": scribe.words()}]
        name = scribe.fresh("rs")
        reasoning = {"type": "reasoning", "id": name, "summary": summary}
        stored = {"type": "item_reference", "id": name}
        items.append(stored if scribe.maybe() else {**reasoning, "encrypted_content": "gAAA"})
    pairs = [_responses_pair(scribe) for _ in scribe.some(3)]
    if not pairs or scribe.maybe():
        content = [{"type": "output_text", "text": scribe.words(), "annotations": []}]
        name = scribe.fresh("msg")
        message = {"type": "message", "id": name, "role": "assistant"}
        stored = {"type": "item_reference", "id": name}
        whole = {**message, "status": "completed", "content": content}
        items.append(stored if scribe.draw(st.integers(0, 9)) == 9 else whole)
    outputs = scribe.shuffled([output for _, output in pairs])
    return [*items, *(call for call, _ in pairs), *outputs[missing:]]


def _responses_pair(scribe: Scribe) -> tuple[Message, Message]:
    call_id, words = scribe.fresh("call"), scribe.words()
    kind = scribe.draw(st.sampled_from(["function", "custom_tool", "computer", "mcp_approval"]))
    if kind == "mcp_approval":
        request = {"type": "mcp_approval_request", "id": call_id, "server_label": "db"}
        response = {"type": "mcp_approval_response", "approval_request_id": call_id}
        return {**request, "name": "drop", "arguments": "{}"}, {**response, "approve": True}
    given: dict[str, Message] = {
        "function": {"name": "bash", "arguments": '{"cmd":"ls"}'},
        "custom_tool": {"name": "patch", "input": words},
        "computer": {"action": {"type": "screenshot"}, "pending_safety_checks": []},
    }
    call = {"type": f"{kind}_call", "id": scribe.fresh("fc"), "call_id": call_id, **given[kind]}
    output = {"type": f"{kind}_call_output", "call_id": call_id}
    return call, {**output, "output": SCREENSHOT if kind == "computer" else words}
