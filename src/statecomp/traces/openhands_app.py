"""Events of the OpenHands app: actions and observations, linked by `cause`.

With tool calls an event carries the model's whole response (`tool_call_metadata`), once for each
call in it.  Without, the action is what the agent did, and the observation behind it its result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from statecomp.traces.openhands_view import ModelView
from statecomp.traces.records import listed, mapping, only
from statecomp.wire.openai_chat.wire import REASONING_KEYS
from statecomp.wire.pairing import RecordedMessage

SOURCES = ("agent", "user", "environment")
# State of the app, and context that it renders into prompts by templates of its own.
BESIDE = frozenset(
    {"change_agent_state", "agent_state_changed", "null", "recall", "initialize", "loop_recovery"}
    | {"condensation_request", "user_rejected", "task_tracking", "status", "pause", "resume"}
)
_ABOUT = ("id", "timestamp", "source", "cause", "llm_metrics", "message", "extras", "success")


def is_event(event: Mapping[str, Any]) -> bool:
    action, observation = event.get("action"), event.get("observation")
    acts = isinstance(action, str) and action and isinstance(event.get("args"), Mapping)
    observes = not action and isinstance(observation, str) and "content" in event
    return bool(acts or observes) and (event.get("source") in SOURCES or "timestamp" in event)


def model_of(event: Mapping[str, Any]) -> str:
    return str(_response(event).get("model") or "")


def add(stack: list[ModelView], event: Mapping[str, Any]) -> None:
    """Read an event into the conversation of the agent that is now at work."""
    if len(stack) > 1 and event.get("observation") == "delegate":
        stack.pop()
    view, action = stack[-1], event.get("action")
    if not is_event(event):
        view.keep(event, known=False)
    elif action == "condensation":
        args = mapping(event.get("args"))
        view.keep(event)
        forgotten = set(_forgotten(args))
        view.condense(forgotten.__contains__, {**args, "id": event.get("id")})
    elif event.get("tool_call_metadata"):
        (_answer if action else _result)(view, event)
    else:
        (_act if action else _observe)(view, event)
    if action == "delegate":
        name = str(mapping(event.get("args")).get("agent") or "delegate")
        stack.append(stack[0].delegate(view, f"{name}-{len(stack[0].delegates) + 1}"))


def _forgotten(args: Mapping[str, Any]) -> Iterator[str]:
    yield from map(str, listed(args.get("forgotten_event_ids")))
    first, last = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
    if isinstance(first, int) and isinstance(last, int):
        yield from map(str, range(first, last + 1))


def _response(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(event.get("tool_call_metadata")).get("model_response"))


def _answer(view: ModelView, event: Mapping[str, Any]) -> None:
    """The model's message, as it came; its further calls only add what is said beside them."""
    told = mapping(event.get("tool_call_metadata"))
    response = _response(event)
    choice = mapping((listed(response.get("choices")) or [None])[0])
    said = mapping(choice.get("message"))
    about = {**only(_ABOUT, event), **only(("usage", "model"), response), "args": event["args"]}

    def grow(entry: RecordedMessage) -> RecordedMessage:
        return RecordedMessage(
            entry.message, {**entry.about, "also": [*entry.about.get("also", ()), about]}
        )

    if view.merge(event, str(response.get("id") or ""), grow):
        return
    message = {"role": "assistant", "content": said.get("content"), **only(REASONING_KEYS, said)}
    calls = listed(said.get("tool_calls")) or [
        {
            "id": str(told.get("tool_call_id") or ""),
            "type": "function",
            "function": {
                "name": str(told.get("function_name") or event["action"]),
                "arguments": json.dumps(event["args"]),
            },
        }
    ]
    message |= {"tool_calls": calls, **only(("thinking_blocks",), said)}
    view.add(event, RecordedMessage(message, about), str(response.get("id") or ""))


def _result(view: ModelView, event: Mapping[str, Any]) -> None:
    call_id = str(mapping(event["tool_call_metadata"]).get("tool_call_id") or "")
    content = event.get("content") or ""
    message = {"role": "tool", "tool_call_id": call_id, "content": content}
    view.add(event, RecordedMessage(message, only(_ABOUT, event)))


def _act(view: ModelView, event: Mapping[str, Any]) -> None:
    action, args = str(event["action"]), mapping(event.get("args"))
    by_agent = event.get("source") == "agent"
    if action in BESIDE:
        view.keep(event)
    elif action == "system":
        message = {"role": "system", "content": str(args.get("content") or "")}
        view.add(event, RecordedMessage(message, {**only(_ABOUT, event), **only(("tools",), args)}))
    elif action == "message":
        role = "assistant" if by_agent else "user"
        view.add(
            event, RecordedMessage({"role": role, "content": _content(args)}, only(_ABOUT, event))
        )
    else:
        role = "assistant" if by_agent else "user"
        about = {**only(_ABOUT, event), "args": args}
        view.add(event, RecordedMessage({"role": role, "content": _deed(action, args)}, about))


def _content(args: Mapping[str, Any]) -> Any:
    text = str(args.get("content") or "")
    images = [url for url in listed(args.get("image_urls")) if url]
    if not images:
        return text
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in images]
    return [{"type": "text", "text": text}, *shown]


def _deed(action: str, args: Mapping[str, Any]) -> str:
    """An action as text: what the agent thought, then what it did."""
    done = {k: v for k, v in args.items() if k != "thought" and v not in (None, "", [], False)}
    main = next((args[k] for k in ("command", "code", "content") if args.get(k)), None)
    deed = main if isinstance(main, str) else json.dumps(done, ensure_ascii=False, default=str)
    thought = str(args.get("thought") or "")
    return "\n\n".join(part for part in (thought, f"[{action}]\n{deed}") if part)


def _observe(view: ModelView, event: Mapping[str, Any]) -> None:
    if event["observation"] in BESIDE:
        view.keep(event)
        return
    message = {"role": "user", "content": str(event.get("content") or "")}
    view.add(event, RecordedMessage(message, only(_ABOUT, event)))
