"""Anthropic messages: an assistant message with tool_use blocks, then a user message of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.interaction import JsonObject
from statecomp.wire.anthropic.blocks import (
    SERVER_CALLS,
    call_ids,
    call_of,
    caller_of,
    entries,
    harness_wrote,
    is_server_result,
    kind_of,
    loads_tools,
    observation_of,
    results_of,
    thought_in,
)
from statecomp.wire.anthropic.body import kept_elsewhere
from statecomp.wire.anthropic.cache import anchored
from statecomp.wire.anthropic.rules import ROLES, violations
from statecomp.wire.anthropic.system import lasts_one_turn, lead_in, newest_user
from statecomp.wire.anthropic.thinking import (
    THINKING,
    allow_stale_thinking,
    forbids_rewriting,
    has_thinking,
)
from statecomp.wire.content import (
    block_text,
    blocks,
    edited_content,
    joined,
    strip_markers,
    text_of,
)
from statecomp.wire.protocol import Adapted, Edit, Group, Placement, Violation, Wire

USER_KINDS = ("text", "image", "document", "search_result")
SYSTEM_KINDS = ("mid_conv_system", "tool_addition", "tool_removal")


@dataclass(frozen=True, slots=True)
class Anthropic(Wire):
    placement: Placement = field(default_factory=Placement)
    name: str = "anthropic"
    key: str = "messages"

    def preamble(self, body: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        text = text_of(body.get("system"))
        return (("system", text),) if text else ()

    def groups(self, messages: Sequence[JsonObject], start: int = 0) -> Iterator[Group]:
        place = start
        newest = newest_user(messages)
        while place < len(messages):
            stop = end_of_turn(messages, place)
            turn = messages[place:stop]
            if any(map(_is_compacted, turn)):
                yield pinned(turn, "compaction")
            elif turn[0]["role"] == "assistant":
                inside = reasons_inside(turn, unanswered(turn, place))
                outside = reasons_outside(messages, place, stop, self.placement)
                read = interaction(turn, locked=next(chain(inside, outside), ""))
                if stop < newest and lasts_one_turn(messages[stop]):
                    read, stop = replace(read, messages=(*turn, messages[stop])), stop + 1
                yield read
            else:
                yield pinned(turn, str(turn[0]["role"]))
            place = stop

    def check(self, messages: Sequence[JsonObject], *, opening: bool = True) -> list[Violation]:
        return list(violations(messages, opening=opening))

    def write_summary(self, text: str) -> tuple[JsonObject, ...]:
        # A list, so that a cache marker can hang on the block.
        return ({"role": self.placement.role, "content": [{"type": "text", "text": text}]},)

    def lead_in(self, before: JsonObject) -> tuple[JsonObject, ...]:
        return lead_in(before) if self.placement.role == "user" else ()

    def edit_observations(self, messages: Sequence[JsonObject], edit: Edit) -> list[JsonObject]:
        return [_edited(message, edit) for message in messages]

    def untouchable(self, body: Mapping[str, Any]) -> str:
        if reason := kept_elsewhere(body):
            return reason
        messages = body.get(self.key)
        if isinstance(messages, list | tuple) and any(map(_is_compacted, messages)):
            return "the provider has summarised this history already (it holds a compaction block)"
        return forbids_rewriting(body, messages if isinstance(messages, list | tuple) else ())

    def adapt(
        self,
        body: Mapping[str, Any],
        messages: Sequence[JsonObject],
        first: int,
        anchor: JsonObject | None = None,
    ) -> Adapted:
        sent = list(messages if anchor is None else anchored(body, messages, anchor))
        return allow_stale_thinking({**body, self.key: sent}, sent, first)


def end_of_turn(messages: Sequence[JsonObject], place: int) -> int:
    """The position behind the message at `place` and the results that answer it.

    Raises InvalidHistory for a role no message can have and for results that follow no call.
    """
    message = messages[place]
    role = message.get("role")
    if role not in ROLES:
        problem = f"has the unknown role {role!r}" if role else "has no role"
        raise InvalidHistory(problem, field=f"messages[{place}].role")
    for number, block in entries(message):
        if kind_of(block) == "tool_result":
            raise InvalidHistory(
                "is a tool result that answers no call before it",
                field=f"messages[{place}].content[{number}]",
            )
    if role != "assistant" or not call_ids(message):
        return place + 1
    follows = messages[place + 1 : place + 2]
    answered = follows and follows[0].get("role") == "user" and results_of(follows[0])
    return place + 2 if answered else place + 1


def pinned(turn: Sequence[JsonObject], role: str) -> Group:
    return Group(
        messages=tuple(turn),
        essence=[identity(message) for message in turn],
        role=role,
        text="\n".join(text_of(message.get("content")) for message in turn),
    )


def interaction(turn: Sequence[JsonObject], locked: str) -> Group:
    own = [block for _, block in entries(turn[0])]
    return Group(
        messages=tuple(turn),
        essence=[identity(message) for message in turn],
        reasoning=joined(map(thought_in, own)),
        said=joined(block_text(block) for block in own if kind_of(block) == "text"),
        calls=tuple(call_of(b) for b in own if kind_of(b) in ("tool_use", *SERVER_CALLS)),
        observations=(
            *(observation_of(block) for block in own if is_server_result(block)),
            *(observation_of(block) for message in turn[1:] for _, block in entries(message)),
        ),
        locked=locked,
    )


def identity(message: JsonObject) -> Any:
    """A message without what clients move or drop: cache markers and thinking."""
    content = message.get("content")
    if isinstance(content, list | tuple):
        kept = [block for block in content if kind_of(block) not in THINKING]
        message = {**message, "content": kept}
    return strip_markers(message)


def unanswered(turn: Sequence[JsonObject], place: int) -> list[str]:
    """Calls of a turn that have no result; raises InvalidHistory for a result without its call."""
    made = call_ids(turn[0])
    waiting = Counter(made)
    for number, block in (found for message in turn[1:] for found in results_of(message)):
        call_id = str(block.get("tool_use_id", ""))
        if not waiting[call_id]:
            problem = (
                "answers a call that was answered already"
                if call_id in waiting
                else f"answers the call {call_id!r}, which the message before it does not make"
            )
            field = f"messages[{place + 1}].content[{number}].tool_use_id"
            raise InvalidHistory(problem, field=field)
        waiting[call_id] -= 1
    return [call_id for call_id in dict.fromkeys(made) for _ in range(waiting[call_id])]


def reasons_inside(turn: Sequence[JsonObject], open_ids: Sequence[str]) -> Iterator[str]:
    """What a turn itself holds that forbids its replacement."""
    for call_id in open_ids:
        yield f"the call {call_id!r} has no result yet"
    own = [block for _, block in entries(turn[0])]
    made = [str(block.get("id", "")) for block in own if kind_of(block) in SERVER_CALLS]
    answered = [str(block.get("tool_use_id", "")) for block in own if is_server_result(block)]
    for call_id in made:
        if call_id not in answered:
            yield f"the server call {call_id!r} has no result yet"
    # A server call can run on over several messages, which then stand or fall together.
    if not {*answered, *filter(None, map(caller_of, own))} <= set(made):
        yield "it goes on with a server call of an earlier message"
    beside = [block for message in turn[1:] for _, block in entries(message)]
    if any(kind_of(block) in SYSTEM_KINDS for block in beside):
        yield "system instructions stand in its result message"
    if any(kind_of(block) in USER_KINDS and not harness_wrote(block) for block in beside):
        yield "the user's own words stand in its result message"
    if any(loads_tools(block) for block in (*own, *beside)):
        yield "it loads tools that later calls need"


def reasons_outside(
    messages: Sequence[JsonObject], place: int, stop: int, placement: Placement
) -> Iterator[str]:
    """What stands around the turn `messages[place:stop]` that forbids its replacement."""
    later = (messages[after].get("role") for after in range(stop, len(messages)))
    if has_thinking(messages[place]) and all(role == "system" for role in later):
        yield "its thinking belongs to the live tool loop"
    behind = messages[stop].get("role") if stop < len(messages) else ""
    if behind == "system" and placement.role == "assistant":
        yield "the system message behind it must follow a message of the user"


def _is_compacted(message: Any) -> bool:
    return isinstance(message, Mapping) and any(
        kind_of(block) == "compaction" for _, block in entries(message)
    )


def _edited(message: JsonObject, edit: Edit) -> JsonObject:
    if not results_of(message):
        return message
    before = blocks(message.get("content"))
    content = [edited_content(b, edit) if kind_of(b) == "tool_result" else b for b in before]
    if all(new is old for new, old in zip(content, before, strict=True)):
        return message
    return {**message, "content": content}
