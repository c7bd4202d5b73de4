"""Anthropic recordings, with calls and results in their places (see `wire/pairing.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from statecomp.history.interaction import JsonObject
from statecomp.wire.anthropic.blocks import kind_of as block_kind
from statecomp.wire.content import blocks, text_of
from statecomp.wire.pairing import NO_BEGINNING, NO_RESULT, NOTHING, RecordedMessage, RecordedTurn


def paired(entries: Sequence[RecordedMessage]) -> list[RecordedMessage]:
    """Also: no empty messages, and a user message first."""
    turns: list[RecordedTurn] = []
    open_turns: dict[str, RecordedTurn] = {}
    for entry in entries:
        rest = []
        for block in _spoken(entry.message):
            call_id = str(block.get("tool_use_id", ""))
            if block_kind(block) != "tool_result":
                rest.append(block)
            elif (turn := open_turns.pop(call_id, None)) is not None:
                turn.results[call_id] = RecordedMessage(block, entry.about)
            else:
                text = text_of(block.get("content"))
                rest.append({"type": "text", "text": text if text.strip() else NO_RESULT})
        if rest:
            turns.append(
                RecordedTurn(RecordedMessage(_with_blocks(entry.message, rest), entry.about))
            )
            turns[-1].waiting = [str(b["id"]) for b in rest if _is_call(b)]
            open_turns.update(dict.fromkeys(turns[-1].waiting, turns[-1]))
    if turns and turns[0].head.message.get("role") == "assistant":
        turns.insert(0, RecordedTurn(RecordedMessage({"role": "user", "content": NO_BEGINNING})))
    return [entry for turn in turns for entry in _written(turn, last=turn is turns[-1])]


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


def _written(turn: RecordedTurn, *, last: bool) -> Iterator[RecordedMessage]:
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
    yield RecordedMessage({"role": "user", "content": content}, about)
