"""Responses recordings, with calls and outputs in their places (see `wire/pairing.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from statecomp.wire.content import text_of
from statecomp.wire.openai_responses.items import (
    Maker,
    answers,
    call_id_of,
    kind_of,
    maker_of,
    needs_output,
)
from statecomp.wire.pairing import NO_ENDING, NO_RESULT, RecordedMessage


def paired(entries: Sequence[RecordedMessage]) -> list[RecordedMessage]:
    """Also: reasoning is followed by what it led to, and no id stands twice."""
    late = _late_outputs(entries)
    moved = {id(entry) for entry in late.values()}
    out: list[RecordedMessage] = []
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


def _late_outputs(entries: Sequence[RecordedMessage]) -> dict[str, RecordedMessage]:
    """Outputs that a client item parts from their call."""
    made: dict[str, int] = {}
    parted = 0
    late: dict[str, RecordedMessage] = {}
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


def _no_output(call_id: str, kind: str) -> RecordedMessage:
    return RecordedMessage({"type": kind, "call_id": call_id, "output": NO_RESULT})


def _output_as_user(entry: RecordedMessage) -> RecordedMessage:
    item = entry.message
    text = text_of(item.get("output")) or NO_RESULT
    about = {**entry.about, "was": entry.rest("output")}
    return RecordedMessage({**_said("user", text)}, about)


def _said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _once(entries: Sequence[RecordedMessage]) -> Iterator[RecordedMessage]:
    seen: set[str] = set()
    for entry in entries:
        item_id = str(entry.message.get("id") or "")
        if item_id and item_id in seen:
            about = {**entry.about, "item_id": item_id}
            yield RecordedMessage(entry.rest("id"), about)
            continue
        seen.add(item_id)
        yield entry


def _led_on(entries: Iterator[RecordedMessage]) -> Iterator[RecordedMessage]:
    """A turn that was interrupted while thinking ends in a message that says so."""
    thinking = False
    for entry in entries:
        maker = maker_of(entry.message)
        if thinking and maker not in (Maker.MODEL, Maker.UNKNOWN):
            yield RecordedMessage(_said("assistant", NO_ENDING))
        thinking = kind_of(entry.message) == "reasoning"
        yield entry
    if thinking:
        yield RecordedMessage(_said("assistant", NO_ENDING))
