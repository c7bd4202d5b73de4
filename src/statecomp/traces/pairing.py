"""Calls and results in their places.

Recordings are written as things happened: results arrive late, twice, or never, and people speak
between a call and its result.  The wire protocols want each call answered once, at once.  Nothing
a source recorded is dropped here: late results move up to their call, a call without one gets
"[no result recorded]", and a result without its call becomes a user message.  A call that is open
at the very end stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.traces.records import NO_RESULT, NOTHING, Entry, without
from statecomp.wire.anthropic_blocks import kind_of as block_kind
from statecomp.wire.content import blocks, text_of
from statecomp.wire.openai_chat import calls_of, result_id
from statecomp.wire.responses_items import (
    Maker,
    answers,
    call_id_of,
    kind_of,
    maker_of,
    needs_output,
)

NO_BEGINNING = "[the beginning was not recorded]"
NO_ENDING = "[nothing more was recorded of this turn]"


@dataclass(slots=True)
class _Turn:
    """An entry with the calls it makes and the results found for them so far."""

    head: Entry
    waiting: list[str] = field(default_factory=list)
    results: dict[str, Entry] = field(default_factory=dict)


def paired_chat(entries: Sequence[Entry]) -> list[Entry]:
    turns: list[_Turn] = []
    open_turns: dict[str, _Turn] = {}
    for entry in entries:
        message = entry.message
        if message.get("role") in ("tool", "function"):
            turn = open_turns.pop(result_id(message), None)
            if turn is None:
                turns.append(_Turn(_as_user(entry)))
            else:
                turn.results[result_id(message)] = entry
            continue
        ids = [call.id for call in calls_of(message)] if message.get("role") == "assistant" else []
        turns.append(_Turn(entry, ids))
        open_turns.update(dict.fromkeys(ids, turns[-1]))
    return [entry for turn in turns for entry in _chat_turn(turn, last=turn is turns[-1])]


def _chat_turn(turn: _Turn, *, last: bool) -> Iterator[Entry]:
    yield turn.head
    for call_id in turn.waiting:
        if call_id in turn.results:
            yield turn.results[call_id]
        elif not last:
            yield Entry({"role": "tool", "tool_call_id": call_id, "content": NO_RESULT})


def _as_user(entry: Entry) -> Entry:
    content = entry.message.get("content")
    about = {**entry.about, "was": without(("content",), entry.message)}
    return Entry({"role": "user", "content": text_of(content) or NO_RESULT}, about)


def paired_anthropic(entries: Sequence[Entry]) -> list[Entry]:
    """Also: no empty messages, and a user message first."""
    turns: list[_Turn] = []
    open_turns: dict[str, _Turn] = {}
    for entry in entries:
        rest = []
        for block in _spoken(entry.message):
            call_id = str(block.get("tool_use_id", ""))
            if block_kind(block) != "tool_result":
                rest.append(block)
            elif (turn := open_turns.pop(call_id, None)) is not None:
                turn.results[call_id] = Entry(block, entry.about)
            else:
                text = text_of(block.get("content"))
                rest.append({"type": "text", "text": text if text.strip() else NO_RESULT})
        if rest:
            turns.append(_Turn(Entry(_with_blocks(entry.message, rest), entry.about)))
            turns[-1].waiting = [str(b["id"]) for b in rest if _is_call(b)]
            open_turns.update(dict.fromkeys(turns[-1].waiting, turns[-1]))
    if turns and turns[0].head.message.get("role") == "assistant":
        turns.insert(0, _Turn(Entry({"role": "user", "content": NO_BEGINNING})))
    return [entry for turn in turns for entry in _anthropic_turn(turn, last=turn is turns[-1])]


def _is_call(block: JsonObject) -> bool:
    return block_kind(block) == "tool_use" and bool(block.get("id"))


def _spoken(message: JsonObject) -> Iterator[JsonObject]:
    """The blocks of a message; blank text is refused by the provider and says nothing."""
    for block in blocks(message.get("content")):
        block = {"type": "text", "text": block} if isinstance(block, str) else block
        blank = block_kind(block) == "text" and not str(block.get("text") or "").strip()
        if isinstance(block, Mapping) and not blank:
            yield block


def _with_blocks(message: JsonObject, kept: Sequence[JsonObject]) -> JsonObject:
    plain = isinstance(message.get("content"), str)
    return message if plain else {**message, "content": list(kept)}


def _anthropic_turn(turn: _Turn, *, last: bool) -> Iterator[Entry]:
    yield turn.head
    found = [turn.results[call_id] for call_id in turn.waiting if call_id in turn.results]
    if not turn.waiting or (last and not found):
        return
    content = [
        turn.results[call_id].message
        if call_id in turn.results
        else {"type": "tool_result", "tool_use_id": call_id, "content": NO_RESULT}
        for call_id in turn.waiting
    ]
    # Each result had a line of its own in the source; their times and ids go together.
    told = [dict(entry.about) for entry in found]
    about = {"results": told} if len(told) > 1 else told[0] if told else NOTHING
    yield Entry({"role": "user", "content": content}, about)


def paired_responses(entries: Sequence[Entry]) -> list[Entry]:
    """Also: reasoning is followed by what it led to, and no id stands twice."""
    late = _late_outputs(entries)
    moved = {id(entry) for entry in late.values()}
    out: list[Entry] = []
    waiting: dict[str, str] = {}  # open call id -> the type of its output
    answered: set[str] = set()
    for entry in entries:
        item, maker = entry.message, maker_of(entry.message)
        if id(entry) in moved:
            continue
        if maker is Maker.OUTPUT:
            known = answers(item) in waiting or answers(item) in answered
            repeated = answers(item) in answered and answers(item) not in waiting
            out.append(entry if known and not repeated else _output_as_user(entry))
            waiting.pop(answers(item), None)
            answered.add(answers(item))
            continue
        if maker is Maker.CLIENT:
            out += [late.get(call_id) or _no_output(call_id, k) for call_id, k in waiting.items()]
            waiting, answered = {}, {*answered, *waiting}
        elif maker is Maker.MODEL and needs_output(item):
            waiting[call_id_of(item)] = f"{kind_of(item)}_output"
            answered.discard(call_id_of(item))
        out.append(entry)
    return list(_led_on(_once(out)))


def _late_outputs(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Outputs that a client item parts from their call."""
    made: dict[str, int] = {}
    parted = 0
    late: dict[str, Entry] = {}
    for entry in entries:
        maker = maker_of(entry.message)
        if maker is Maker.CLIENT:
            parted += 1
        elif maker is Maker.MODEL and needs_output(entry.message):
            made[call_id_of(entry.message)] = parted
        elif maker is Maker.OUTPUT:
            before = made.pop(answers(entry.message), None)
            if before is not None and before < parted:
                late[answers(entry.message)] = entry
    return late


def _no_output(call_id: str, kind: str) -> Entry:
    return Entry({"type": kind, "call_id": call_id, "output": NO_RESULT})


def _output_as_user(entry: Entry) -> Entry:
    item = entry.message
    text = text_of(item.get("output")) or NO_RESULT
    about = {**entry.about, "was": without(("output",), item)}
    return Entry({**_said("user", text)}, about)


def _said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _once(entries: Sequence[Entry]) -> Iterator[Entry]:
    seen: set[str] = set()
    for entry in entries:
        item_id = str(entry.message.get("id") or "")
        if item_id and item_id in seen:
            about = {**entry.about, "item_id": item_id}
            yield Entry(without(("id",), entry.message), about)
            continue
        seen.add(item_id)
        yield entry


def _led_on(entries: Iterator[Entry]) -> Iterator[Entry]:
    """A turn that was interrupted while thinking ends in a message that says so."""
    thinking = False
    for entry in entries:
        maker = maker_of(entry.message)
        if thinking and maker not in (Maker.MODEL, Maker.UNKNOWN):
            yield Entry(_said("assistant", NO_ENDING))
        thinking = kind_of(entry.message) == "reasoning"
        yield entry
    if thinking:
        yield Entry(_said("assistant", NO_ENDING))
