"""Chat recordings, with calls and results in their places (see `wire/pairing.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from statecomp.wire.content import text_of
from statecomp.wire.openai_chat.wire import calls_of, result_id
from statecomp.wire.pairing import NO_RESULT, RecordedMessage, RecordedTurn


def paired(entries: Sequence[RecordedMessage]) -> list[RecordedMessage]:
    turns: list[RecordedTurn] = []
    open_turns: dict[str, RecordedTurn] = {}
    for entry in entries:
        message = entry.message
        if message.get("role") in ("tool", "function"):
            turn = open_turns.pop(result_id(message), None)
            if turn is None:
                turns.append(RecordedTurn(_as_user(entry)))
            else:
                turn.results[result_id(message)] = entry
            continue
        ids = [call.id for call in calls_of(message)] if message.get("role") == "assistant" else []
        turns.append(RecordedTurn(entry, ids))
        open_turns.update(dict.fromkeys(ids, turns[-1]))
    return [entry for turn in turns for entry in _written(turn, last=turn is turns[-1])]


def _written(turn: RecordedTurn, *, last: bool) -> Iterator[RecordedMessage]:
    yield turn.head
    for call_id in turn.waiting:
        if call_id in turn.results:
            yield turn.results[call_id]
        elif not last:
            yield RecordedMessage({"role": "tool", "tool_call_id": call_id, "content": NO_RESULT})


def _as_user(entry: RecordedMessage) -> RecordedMessage:
    content = entry.message.get("content")
    about = {**entry.about, "was": entry.rest("content")}
    return RecordedMessage({"role": "user", "content": text_of(content) or NO_RESULT}, about)
