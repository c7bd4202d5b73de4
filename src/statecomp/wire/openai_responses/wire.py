"""OpenAI Responses: a flat list of items, where a turn is what the model made and its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.interaction import JsonObject
from statecomp.wire.content import joined, text_of
from statecomp.wire.openai_responses.items import (
    Maker,
    answers,
    call_id_of,
    call_of,
    has_own_output,
    identity,
    is_compaction,
    is_kept_on_server,
    is_message,
    is_reasoning,
    kind_of,
    maker_of,
    needs_output,
    observation_of,
    output_text,
)
from statecomp.wire.openai_responses.rules import violations
from statecomp.wire.protocol import Edit, Group, Placement, Violation, Wire

ELSEWHERE = (
    "the history lives on the server ({} is set), so this request holds only its newest part"
)


@dataclass(frozen=True, slots=True)
class OpenAIResponses(Wire):
    placement: Placement = field(default_factory=Placement)
    name: str = "openai-responses"
    key: str = "input"

    def preamble(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        text = text_of(body.get("instructions"))
        return (("system", text),) if text else ()

    def groups(self, messages: Sequence[JsonObject], start: int = 0) -> Iterator[Group]:
        place = start
        while place < len(messages):
            maker = _maker_at(messages, place)
            if maker is Maker.OUTPUT:
                raise InvalidHistory(
                    "is an output that answers no call before it", field=f"input[{place}]"
                )
            if maker is Maker.MODEL:
                stop = end_of_turn(messages, place)
                yield interaction(messages[place:stop], unanswered(messages[place:stop], place))
            else:
                stop = place + 1
                yield pinned(messages[place], maker)
            place = stop

    def check(self, messages: Sequence[JsonObject], *, opening: bool = True) -> list[Violation]:
        return list(violations(messages))

    def write_summary(self, text: str) -> tuple[JsonObject, ...]:
        role = self.placement.role
        # In the assistant's name only the plain string is taken by every back end: input_text is
        # refused there, and output_text without an item id is refused by some.
        content: Any = [{"type": "input_text", "text": text}] if role == "user" else text
        return ({"type": "message", "role": role, "content": content},)

    def edit_observations(self, messages: Sequence[JsonObject], edit: Edit) -> list[JsonObject]:
        return [_edited(item, edit) for item in messages]

    def untouchable(self, body: Mapping[str, Any]) -> str:
        if body.get("previous_response_id"):
            return ELSEWHERE.format("previous_response_id")
        if body.get("conversation"):
            return ELSEWHERE.format("conversation")
        if body.get("context_management"):
            return "the client has the provider shorten this history itself (context_management)"
        items = body.get(self.key)
        if isinstance(items, str):
            return "the input is one plain text: there is no history in it"
        for item in items if isinstance(items, list | tuple) else ():
            if isinstance(item, Mapping) and is_compaction(item):
                return (
                    "the provider has summarised this history already (it holds a compaction item)"
                )
        return ""


def _maker_at(items: Sequence[JsonObject], place: int) -> Maker:
    maker = maker_of(items[place])
    if maker is Maker.NOBODY:
        role = items[place].get("role")
        problem = f"has the unknown role {role!r}" if role else "has no role"
        raise InvalidHistory(problem, field=f"input[{place}].role")
    return maker


def pinned(item: JsonObject, maker: Maker) -> Group:
    kind = kind_of(item)
    role = str(item["role"]) if kind == "message" else kind
    if is_compaction(item):
        role = "compaction"
    return Group(
        messages=(item,),
        essence=identity(item),
        role="opaque" if maker is Maker.UNKNOWN else role,
        text=text_of(item.get("content")),
    )


def end_of_turn(items: Sequence[JsonObject], place: int) -> int:
    """The position behind the turn that begins at `place`.

    While a call is open the turn goes on, so that a call and its output never part; else it ends
    where the model begins again: behind an output, or behind a message it had finished.  An item
    of an unknown type ends a turn that is complete, and locks one in which it stands.
    """
    waiting: set[str] = set()
    seen: set[str] = set()
    done = said = False
    for stop in range(place, len(items)):
        item, maker = items[stop], _maker_at(items, stop)
        if maker is Maker.CLIENT:
            return stop
        if maker is Maker.UNKNOWN and (done or said) and not waiting:
            return stop
        if maker is Maker.OUTPUT:
            waiting.discard(answers(item))
            done = True
        elif maker is Maker.MODEL:
            again = done or (said and (is_reasoning(item) or is_message(item)))
            goes_on = waiting or str(item.get("approval_request_id")) in seen
            if again and not goes_on:
                return stop
            said = said or is_message(item)
            seen.add(call_id_of(item))
            waiting |= {call_id_of(item)} if needs_output(item) else set()
    return len(items)


def unanswered(turn: Sequence[JsonObject], place: int) -> list[JsonObject]:
    """Calls of a turn that wait for an output; raises InvalidHistory for one without its call."""
    made: dict[str, JsonObject] = {}
    answered: set[str] = set()
    hidden = any(map(is_kept_on_server, turn))  # a call of which only the server knows the name
    for here, item in enumerate(turn, start=place):
        if maker_of(item) is Maker.MODEL:
            made[call_id_of(item)] = item
        elif maker_of(item) is Maker.OUTPUT:
            call_id = answers(item)
            known = call_id in made or hidden
            if call_id in answered or not call_id or not known:
                problem = (
                    "answers a call that was answered already"
                    if call_id in answered
                    else f"answers the call {call_id!r}, which no item before it makes"
                )
                raise InvalidHistory(problem, field=f"input[{here}].call_id")
            answered.add(call_id)
    return [i for call_id, i in made.items() if needs_output(i) and call_id not in answered]


def interaction(turn: Sequence[JsonObject], waiting: Sequence[JsonObject]) -> Group:
    made = [item for item in turn if maker_of(item) is Maker.MODEL]
    return Group(
        messages=tuple(turn),
        essence=[identity(item) for item in turn if not is_reasoning(item)],
        reasoning=joined(_thought(item) for item in made if is_reasoning(item)),
        said=joined(text_of(i.get("content")) for i in made if kind_of(i) == "message"),
        calls=tuple(call_of(item) for item in made if _is_call(item)),
        observations=tuple(
            observation_of(item)
            for item in turn
            if maker_of(item) is Maker.OUTPUT or (_is_call(item) and has_own_output(item))
        ),
        locked=next(_reasons(turn, waiting), ""),
    )


def _reasons(turn: Sequence[JsonObject], waiting: Sequence[JsonObject]) -> Iterator[str]:
    """What a turn holds that forbids its replacement."""
    for item in waiting:
        if kind_of(item) == "mcp_approval_request":
            yield f"the approval {call_id_of(item)!r} is pending"
        yield f"the call {call_id_of(item)!r} has no output yet"
    if any(map(is_kept_on_server, turn)):
        yield "part of it lives on the server"
    kinds = {kind_of(item) for item in turn}
    if "mcp_approval_response" in kinds:
        yield "the user's own decision stands in it"
    if "tool_search_output" in kinds:
        yield "it loads tools that later calls need"
    if any(maker_of(item) is Maker.UNKNOWN for item in turn):
        yield "it holds an item of an unknown type"


def _is_call(item: JsonObject) -> bool:
    kind = kind_of(item)
    return kind.endswith("_call") or kind in ("mcp_approval_request", "program")


def _thought(item: JsonObject) -> str:
    return joined((text_of(item.get("summary")), text_of(item.get("content"))))


def _edited(item: JsonObject, edit: Edit) -> JsonObject:
    if maker_of(item) is not Maker.OUTPUT or item.get("output") is None:
        return item
    output, kind = item["output"], kind_of(item)
    text = output_text(item)
    edited = edit(text)
    if edited == text:
        return item
    if kind == "shell_call_output" and isinstance(output, list | tuple):
        last = [part for part in output[-1:] if isinstance(part, Mapping)]
        return {**item, "output": [{**part, "stdout": edited, "stderr": ""} for part in last]}
    # Any other structured output (a screenshot) must keep its structure to be accepted.
    if isinstance(output, str) or kind in ("function_call_output", "custom_tool_call_output"):
        return {**item, "output": edited}
    return item
