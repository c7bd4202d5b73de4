"""What the scripted model says: one turn a request, found by the ids of the calls before it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Body: TypeAlias = Mapping[str, Any]
_STEP = re.compile(r"_(\d{4})_\d+$")


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """`arguments` are JSON, as they go over the wire; a `free` call's are any text."""

    name: str
    arguments: str
    free: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply; without calls it is the last."""

    said: str = ""
    thought: str = ""
    calls: tuple[ScriptedCall, ...] = ()


class Script(Protocol):
    """Who plays the model; the step `last` ends the run."""

    @property
    def last(self) -> int: ...

    def turn(self, body: Body, step: int) -> Turn:
        """What to answer to this request, which stands behind `step` steps of the run."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same turns whatever is asked."""

    turns: tuple[Turn, ...]

    @property
    def last(self) -> int:
        return len(self.turns) - 1

    def turn(self, body: Body, step: int) -> Turn:
        return self.turns[step]


def call_id(prefix: str, step: int, number: int) -> str:
    return f"{prefix}_{step:04d}_{number}"


def reply_id(prefix: str, step: int, turn: Turn) -> str:
    """A report makes no call, so the turn behind it is of the same step: it has another id."""
    return f"{prefix}{step:04d}" if turn.calls else f"{prefix}{step:04d}_end"


def next_step(call_ids: Iterable[str]) -> int:
    """The step behind the last one whose calls are in the history.

    The history alone decides, as it does for a model: retries get the same answer, and a
    history whose beginning was replaced goes on where it stood.
    """
    found = (_STEP.search(name) for name in call_ids)
    return max((int(match[1]) + 1 for match in found if match), default=0)


def drill(steps: int) -> tuple[Turn, ...]:
    """`steps` turns that each look at one thing, sometimes at three at once, then a report."""
    turns = [_look(step, 3 if step % 5 == 2 else 1) for step in range(steps)]
    return (*turns, Turn(said=f"All {steps} steps are done."))


def _look(step: int, calls: int) -> Turn:
    made = tuple(
        ScriptedCall("look", json.dumps({"step": step, "part": part})) for part in range(calls)
    )
    return Turn(f"Step {step}: I look at it." if step % 3 else "", f"Step {step} is next.", made)


def recorded(messages: Sequence[Body]) -> tuple[Turn, ...]:
    """The assistant's turns of a run recorded as chat messages."""
    return tuple(
        Turn(
            said=str(message.get("content") or ""),
            calls=tuple(
                ScriptedCall(str(call["function"]["name"]), str(call["function"]["arguments"]))
                for call in message.get("tool_calls") or ()
            ),
        )
        for message in messages
        if message["role"] == "assistant"
    )
