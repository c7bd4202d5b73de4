"""Events of the OpenHands SDK: each names its class as `kind`.

Parallel calls are several action events that share an `llm_response_id`.  Events form a tree by
`parent_id`; the branch that the last event stands on is the conversation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.traces.openhands_view import ModelView, chat_content
from statecomp.traces.records import listed, mapping, only, without
from statecomp.wire.pairing import NO_RESULT, RecordedMessage

MESSAGES = ("SystemPromptEvent", "MessageEvent", "ActionEvent", "CondensationSummaryEvent")
RESULTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
BESIDE = frozenset(
    {"ConversationStateUpdateEvent", "ConversationErrorEvent", "PauseEvent", "InterruptEvent"}
    | {"CondensationRequest", "LLMCompletionLogEvent", "TokenEvent", "HookExecutionEvent"}
    | {"ACPToolCallEvent", "StreamingDeltaEvent", "ResumeTranscriptEvent"}
)
_ABOUT = (
    *("id", "timestamp", "source", "security_risk", "summary", "critic_result", "sender"),
    *("activated_skills", "llm_response_id", "responses_reasoning_item", "action", "tools"),
)


def is_event(event: Mapping[str, Any]) -> bool:
    known = (*MESSAGES, *RESULTS, "Condensation", *BESIDE)
    return event.get("kind") in known and ("source" in event or "id" in event)


def live(
    events: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """The events on the last one's branch, and the others."""
    by_id = {str(event.get("id")): place for place, event in enumerate(events)}
    place, path = len(events) - 1, set[int]()
    while 0 <= place < len(events) and place not in path:
        path.add(place)
        parent = events[place].get("parent_id")
        if parent == "__root__":
            break
        # Events of before the tree have no parent and follow the one before them.
        place = by_id.get(str(parent), place - 1) if parent else place - 1
    return (
        [event for n, event in enumerate(events) if n in path],
        [event for n, event in enumerate(events) if n not in path],
    )


def add(view: ModelView, event: Mapping[str, Any]) -> None:
    kind = str(event.get("kind"))
    if kind == "ActionEvent":
        _act(view, event)
    elif kind in RESULTS:
        call_id = str(event.get("tool_call_id") or event.get("action_id") or "")
        message = {"role": "tool", "tool_call_id": call_id, "content": _result(event)}
        about = {**only(_ABOUT, event), "observation": _beside(event)}
        view.add(event, RecordedMessage(message, {k: v for k, v in about.items() if v}))
    elif kind == "Condensation":
        forgotten = {str(name) for name in listed(event.get("forgotten_event_ids"))}
        view.keep(event)
        view.condense(forgotten.__contains__, event)
    elif kind in MESSAGES:
        view.add(event, RecordedMessage(_message(event), only(_ABOUT, event)))
    else:
        view.keep(event, known=kind in BESIDE)


def _act(view: ModelView, event: Mapping[str, Any]) -> None:
    call = mapping(event.get("tool_call"))
    inner = mapping(call.get("function"))  # the first versions kept the provider's own shape
    made = {
        "id": str(call.get("id") or event.get("tool_call_id") or event.get("id") or ""),
        "type": "function",
        "function": {
            "name": str(call.get("name") or inner.get("name") or event.get("tool_name") or ""),
            "arguments": str(call.get("arguments") or inner.get("arguments") or _given(event)),
        },
    }
    response = str(event.get("llm_response_id") or "")

    def grow(entry: RecordedMessage) -> RecordedMessage:
        more = {**entry.message, "tool_calls": [*entry.message.get("tool_calls", ()), made]}
        also = [*entry.about.get("also", ()), only(_ABOUT, event)]
        return RecordedMessage(more, {**entry.about, "also": also})

    if view.merge(event, response, grow):
        return
    said = chat_content(event.get("thought"))
    message = {"role": "assistant", "content": said or None, **_thinking(event)}
    view.add(
        event, RecordedMessage({**message, "tool_calls": [made]}, only(_ABOUT, event)), response
    )


def _given(event: Mapping[str, Any]) -> str:
    """What a tool was called with, where the call itself was not saved."""
    return json.dumps(without(("kind",), mapping(event.get("action"))), ensure_ascii=False)


def _message(event: Mapping[str, Any]) -> dict[str, Any]:
    if event["kind"] == "SystemPromptEvent":
        prompt = [event.get("system_prompt"), event.get("dynamic_context")]
        return {"role": "system", "content": chat_content([part for part in prompt if part])}
    if event["kind"] == "CondensationSummaryEvent":
        return {"role": "user", "content": str(event.get("summary") or "")}
    told = mapping(event.get("llm_message"))
    parts = [*_parts(told.get("content")), *listed(event.get("extended_content"))]
    role = told.get("role") or ("assistant" if event.get("source") == "agent" else "user")
    message = {"role": role, "content": chat_content(parts), **_thinking(told)}
    return {**message, **only(("name",), told)} if role in ("user", "assistant") else message


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else listed(content)


def _thinking(told: Mapping[str, Any]) -> dict[str, Any]:
    blocks = listed(told.get("thinking_blocks"))
    thoughts = [str(mapping(block).get("thinking") or "") for block in blocks]
    item = mapping(told.get("responses_reasoning_item"))
    thoughts += [str(text) for text in (*listed(item.get("summary")), *listed(item.get("content")))]
    reasoning = str(told.get("reasoning_content") or "\n".join(filter(None, thoughts)))
    found: dict[str, Any] = {"reasoning": reasoning} if reasoning else {}
    return {**found, "thinking_blocks": blocks} if blocks else found


def _result(event: Mapping[str, Any]) -> Any:
    if event["kind"] == "AgentErrorEvent":
        return str(event.get("error") or "")
    if event["kind"] == "UserRejectObservation":
        return f"Action rejected: {event.get('rejection_reason') or ''}"
    seen = mapping(event.get("observation"))
    # Before all observations had `content`, each tool named its text as it liked.
    named = (seen[key] for key in ("content", "output", "text", "message") if seen.get(key))
    content = chat_content([*_parts(next(named, "")), *listed(event.get("extended_content"))])
    return content or NO_RESULT


def _beside(event: Mapping[str, Any]) -> dict[str, Any]:
    return without(("content",), mapping(event.get("observation")))
