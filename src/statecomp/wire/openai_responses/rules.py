"""What the OpenAI Responses API refuses, said of a list of input items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from statecomp.history.interaction import JsonObject
from statecomp.wire.openai_responses.items import (
    Maker,
    answers,
    call_id_of,
    is_kept_on_server,
    is_reasoning,
    kind_of,
    maker_of,
    needs_output,
)
from statecomp.wire.protocol import Violation


def violations(items: Sequence[JsonObject]) -> Iterator[Violation]:
    for place, item in enumerate(items):
        if maker_of(item) is Maker.NOBODY:
            text = f"the role {item.get('role')!r} is unknown"
            yield Violation("role", f"input[{place}].role", text)
    yield from _pairing_violations(items)
    yield from _reasoning_violations(items)
    yield from _id_violations(items)


def _pairing_violations(items: Sequence[JsonObject]) -> Iterator[Violation]:
    """Each call is answered once, before the conversation goes on; no output stands alone."""
    waiting: dict[str, str] = {}  # open call id -> where it was made
    optional: set[str] = set()  # calls that may do without an output
    answered: set[str] = set()
    hidden = False  # whether the server keeps something that an output may answer
    for place, item in enumerate(items):
        here, maker, call_id = f"input[{place}]", maker_of(item), call_id_of(item)
        hidden = maker is not Maker.CLIENT and (hidden or is_kept_on_server(item))
        if maker is Maker.OUTPUT:
            known = {*waiting, *optional, *([answers(item)] if hidden else [])}
            yield from _output_violations(answers(item), here, known, answered)
            waiting.pop(answers(item), None)
            answered.add(answers(item))
        elif maker is Maker.CLIENT:
            yield from _unanswered(waiting)
            waiting, optional = {}, set()
        elif maker is Maker.MODEL:
            # Some back ends number their calls anew in every turn.
            answered.discard(call_id)
            if not needs_output(item):
                optional.add(call_id)
                continue
            if not call_id:
                yield Violation("call-id", here, "the call has no call_id")
            elif call_id in waiting:
                yield Violation("call-id", here, f"the id {call_id!r} is used twice")
            waiting[call_id] = here
    yield from _unanswered(waiting)


def _output_violations(
    call_id: str, here: str, open_ids: set[str], answered: set[str]
) -> Iterator[Violation]:
    if not call_id:
        yield Violation("result-id", here, "the output names no call")
    elif call_id in answered:
        yield Violation("one-result", here, f"the call {call_id!r} has more than one output")
    elif call_id not in open_ids:
        yield Violation("orphan-result", here, f"no item before it makes the call {call_id!r}")


def _unanswered(waiting: Mapping[str, str]) -> Iterator[Violation]:
    for call_id, spot in waiting.items():
        yield Violation("unanswered-call", spot, f"no output answers the call {call_id!r}")


def _reasoning_violations(items: Sequence[JsonObject]) -> Iterator[Violation]:
    """Reasoning is accepted only together with the item it led to."""
    for place, item in enumerate(items):
        if not is_reasoning(item):
            continue
        follows = [maker_of(after) for after in items[place + 1 : place + 2]]
        if follows not in ([Maker.MODEL], [Maker.UNKNOWN]):
            text = "the item that this reasoning led to does not follow it"
            yield Violation("reasoning-alone", f"input[{place}]", text)


def _id_violations(items: Sequence[JsonObject]) -> Iterator[Violation]:
    """An item stands in the input once."""
    seen: set[str] = set()
    for place, item in enumerate(items):
        item_id = str(item.get("id") or "")
        # This output is named by the call it answers.
        if not item_id or kind_of(item) == "local_shell_call_output":
            continue
        if item_id in seen:
            yield Violation("item-id", f"input[{place}].id", f"the id {item_id!r} is used twice")
        seen.add(item_id)
