"""OpenAI chat completions: an assistant message with tool calls, then one tool message a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.interaction import Call, JsonObject, Observation
from statecomp.wire.content import edited_content, joined, strip_markers, text_of
from statecomp.wire.openai_chat.written import written
from statecomp.wire.protocol import Edit, Group, Placement, Violation, Wire

PINNED_ROLES = ("system", "developer", "user")
RESULT_ROLES = ("tool", "function")
# Clients drop these from older turns, so they cannot be part of a message's identity.
REASONING_KEYS = ("reasoning", "reasoning_content", "reasoning_details")


@dataclass(frozen=True, slots=True)
class OpenAIChat(Wire):
    placement: Placement = Placement()
    name: str = "openai-chat"
    key: str = "messages"

    def groups(self, messages: Sequence[JsonObject], start: int = 0) -> Iterator[Group]:
        place = start
        while place < len(messages):
            role = role_of(messages, place)
            if role in PINNED_ROLES:
                yield pinned(messages[place])
                place += 1
            elif role == "assistant":
                stop = end_of_results(messages, place)
                both = messages[place : place + 2]
                told = in_words(both) if stop == place + 1 else None
                yield told or interaction(messages[place:stop], place)
                place += len(both) if told else stop - place
            else:
                raise InvalidHistory(
                    "is a tool result that answers no call before it", field=f"messages[{place}]"
                )

    def check(self, messages: Sequence[JsonObject], *, opening: bool = True) -> list[Violation]:
        return list(pairing_violations(messages))

    def write_summary(self, text: str) -> tuple[JsonObject, ...]:
        return ({"role": self.placement.role, "content": text},)

    def edit_observations(self, messages: Sequence[JsonObject], edit: Edit) -> list[JsonObject]:
        return [
            message if message.get("role") == "assistant" else edited_content(message, edit)
            for message in messages
        ]


def role_of(messages: Sequence[JsonObject], place: int) -> str:
    role = messages[place].get("role")
    if role in (*PINNED_ROLES, "assistant", *RESULT_ROLES):
        return str(role)
    problem = f"has the unknown role {role!r}" if role else "has no role"
    raise InvalidHistory(problem, field=f"messages[{place}].role")


def pinned(message: JsonObject) -> Group:
    return Group(
        messages=(message,),
        essence=strip_markers(message),
        role=str(message["role"]),
        text=text_of(message.get("content")),
    )


def end_of_results(messages: Sequence[JsonObject], place: int) -> int:
    """The position behind the tool messages that follow the assistant message at `place`."""
    place += 1
    while place < len(messages) and messages[place].get("role") in RESULT_ROLES:
        place += 1
    return place


def interaction(messages: Sequence[JsonObject], place: int) -> Group:
    head, results = messages[0], messages[1:]
    calls = calls_of(head, f"messages[{place}]")
    open_ids = Counter(call.id for call in calls)
    made = frozenset(open_ids)
    for offset, result in enumerate(results, start=place + 1):
        call_id = result_id(result)
        if not open_ids[call_id]:
            problem = (
                "answers a call that was answered already"
                if call_id in made
                else f"answers the call {call_id!r}, which the message before it does not make"
            )
            raise InvalidHistory(problem, field=f"messages[{offset}].tool_call_id")
        open_ids[call_id] -= 1
    waits = next((call.id for call in calls if open_ids[call.id]), None)
    return Group(
        messages=tuple(messages),
        essence=[_identity(message) for message in messages],
        reasoning=reasoning_of(head),
        said=said_by(head),
        calls=calls,
        observations=tuple(
            Observation(result_id(result), text_of(result.get("content"))) for result in results
        ),
        locked=f"the call {waits!r} has no result yet" if waits is not None else "",
    )


def in_words(both: Sequence[JsonObject]) -> Group | None:
    """An assistant's message with calls in its words, and the user's that answers them."""
    if len(both) < 2 or both[1].get("role") != "user" or both[0].get("tool_calls"):
        return None
    head, answer = both[0], text_of(both[1].get("content"))
    found = written(said_by(head), answer)
    if found is None:
        return None
    return Group(
        messages=tuple(both),
        essence=[_identity(message) for message in both],
        reasoning=reasoning_of(head),
        said=found.said,
        calls=found.calls,
        # One text answers all of them.
        observations=(Observation(found.calls[0].id, answer),),
        locked=found.locked,
    )


def _identity(message: JsonObject) -> Any:
    kept = {key: value for key, value in message.items() if key not in REASONING_KEYS}
    return strip_markers(kept)


def calls_of(message: JsonObject, here: str = "message") -> tuple[Call, ...]:
    entries = message.get("tool_calls") or ()
    if not isinstance(entries, list | tuple):
        raise InvalidHistory("is not a list", field=f"{here}.tool_calls")
    calls = [_call(entry, f"{here}.tool_calls[{n}]") for n, entry in enumerate(entries)]
    legacy = message.get("function_call")
    if legacy:
        call = _call({"function": legacy}, f"{here}.function_call")
        calls.append(replace(call, id=f"function:{call.name}"))
    return tuple(calls)


def _call(entry: Any, here: str) -> Call:
    body = (entry.get("function") or entry.get("custom")) if isinstance(entry, Mapping) else None
    if not isinstance(body, Mapping):
        raise InvalidHistory("is not a tool call", field=here)
    arguments = body.get("arguments", body.get("input", ""))
    return Call(str(entry.get("id") or ""), str(body.get("name", "")), str(arguments))


def result_id(message: JsonObject) -> str:
    if message.get("role") == "function":
        return f"function:{message.get('name', '')}"
    return str(message.get("tool_call_id") or "")


def reasoning_of(message: JsonObject) -> str:
    for key in REASONING_KEYS:
        if message.get(key):
            return text_of(message[key])
    return ""


def said_by(message: JsonObject) -> str:
    spoken = text_of(message.get("content"))
    return joined((spoken, str(message.get("refusal") or "")))


def pairing_violations(messages: Sequence[JsonObject]) -> Iterator[Violation]:
    """Each call is answered once, at once; no result stands alone."""
    waiting: dict[str, str] = {}  # open call id -> where it was made
    answered: set[str] = set()
    for place, message in enumerate(messages):
        here = f"messages[{place}]"
        role = message.get("role")
        if role in RESULT_ROLES:
            yield from _result_violations(message, here, waiting, answered)
            continue
        yield from _unanswered(waiting)
        waiting, answered = {}, set()
        if role == "assistant":
            try:
                calls = calls_of(message, here)
            except InvalidHistory as error:
                yield Violation("call-shape", error.field, f"this {error.problem}")
                continue
            for number, call in enumerate(calls):
                spot = f"{here}.tool_calls[{number}]"
                if not call.id:
                    yield Violation("call-id", spot, "the call has no id")
                elif call.id in waiting:
                    yield Violation("call-id", spot, f"the id {call.id!r} is used twice")
                waiting[call.id] = spot
        elif role not in PINNED_ROLES:
            yield Violation("role", f"{here}.role", f"the role {role!r} is unknown")
    yield from _unanswered(waiting)


def _result_violations(
    message: JsonObject, here: str, waiting: dict[str, str], answered: set[str]
) -> Iterator[Violation]:
    call_id = result_id(message)
    if call_id in waiting:
        del waiting[call_id]
        answered.add(call_id)
    elif call_id in answered:
        yield Violation("one-result", here, f"the call {call_id!r} has more than one result")
    elif not call_id:
        yield Violation("result-id", here, "the tool result has no tool_call_id")
    else:
        yield Violation(
            "orphan-result", here, f"no assistant message just before makes the call {call_id!r}"
        )


def _unanswered(waiting: Mapping[str, str]) -> Iterator[Violation]:
    for call_id, spot in waiting.items():
        yield Violation("unanswered-call", spot, f"no tool message answers the call {call_id!r}")
