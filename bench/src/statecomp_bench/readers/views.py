"""What a strategy shows at one moment of a recorded run, for somebody else to go on from.

The strategy is asked before every request up to that moment, as it would have been: what it
committed early stays committed.  Only what it does to the history shows; tools of its own and what
it cuts from fresh output change the run itself, and so cannot be shown on one path for all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from statecomp.errors import BadInput, StateCompError
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject
from statecomp.replays.run import checkpoints
from statecomp.strategy import Strategy
from statecomp.wire.content import text_of
from statecomp.wire.placement import render
from statecomp.wire.protocol import Wire
from statecomp_bench.desk.question import fenced


@dataclass(frozen=True)
class Shown:
    """The messages of a view, and its tokens beside those of the whole history."""

    messages: tuple[JsonObject, ...]
    tokens: int
    raw: int


def shown_after(history: History, strategy: Strategy, wire: Wire) -> Shown:
    """The view of the request that follows this history."""
    # Other people's code stands behind a strategy; what it raises must name it.
    try:
        for place, _, _ in checkpoints(history):
            strategy.before_request(History(history.segments[:place]))
        view = strategy.before_request(history).history
    except StateCompError as error:
        raise BadInput(f"the strategy failed: {error}") from error
    return Shown(tuple(render(view, wire)), view.tokens, history.tokens)


def before(history: History, number: int) -> tuple[History, Interaction]:
    """What stood before an interaction, and the interaction itself."""
    for place, segment in enumerate(history.segments):
        if isinstance(segment, Interaction) and segment.number == number:
            return History(history.segments[:place]), segment
    raise BadInput(f"has no interaction {number}", field="the run")


def page(messages: Sequence[Mapping[str, Any]]) -> str:
    """Messages for somebody who reads files, each fenced so that none passes for another."""
    return "\n".join(_parts(messages))


def _parts(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for number, message in enumerate(messages, start=1):
        yield f"## {number}. {message.get('role') or message.get('type') or 'message'}\n"
        yield fenced("\n".join(_lines(message)))


def _lines(message: Mapping[str, Any]) -> Iterator[str]:
    if reasoning := message.get("reasoning") or message.get("reasoning_content"):
        yield f"(thinking) {reasoning}"
    if text := text_of(message.get("content")):
        yield text
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        yield f"-> {function.get('name')} {_arguments(function.get('arguments'))}"


def _arguments(given: Any) -> str:
    """Arguments with their lines as lines: a program in one long string is hard to read."""
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return str(given)
    if not isinstance(value, dict):
        return str(given)
    long = {k: v for k, v in value.items() if isinstance(v, str) and "\n" in v}
    rest = {k: v for k, v in value.items() if k not in long}
    return "\n".join(
        [json.dumps(rest, ensure_ascii=False), *(f"{k}:\n{v}" for k, v in long.items())]
    )
