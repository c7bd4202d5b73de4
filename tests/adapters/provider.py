"""The scripted provider that every framework is held against, and what it saw of one run."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.clients.coding.hands import FINAL, SUBMIT, tool_names
from statecomp.records.record import CLOSING, OPENING
from statecomp.testing.provider.app import Received, ScriptedUpstream
from statecomp.testing.provider.turns import Body, ScriptedCall, Turn
from tests.adapters.drivers.drill import TURNS

STEPS = (30, 34, 38)
"""How many steps are done by the end of each turn."""
PARALLEL = 7
SHELL = frozenset({"bash"})
_SAID = re.compile(r"Step (\d+): I look")


@dataclass(frozen=True)
class Drill:
    """Looks at one thing a step, once at two at the same time; each turn ends with a report."""

    last: int = STEPS[-1]

    def turn(self, body: Body, step: int) -> Turn:
        text = json.dumps(body)
        asked = max(n for n, turn in enumerate(TURNS) if n == 0 or turn in text)
        if not body.get("tools"):
            return _in_words(_step_in_words(body), asked)
        if step >= STEPS[asked]:
            return _reports(body, asked)
        parts = 2 if step == PARALLEL else 1
        calls = tuple(_call(body, step, part) for part in range(parts))
        return Turn(f"Step {step}: I look at it.", f"Step {step} is next.", calls)


def _call(body: Body, step: int, part: int) -> ScriptedCall:
    if tool_names(body) == SHELL:
        return ScriptedCall("bash", json.dumps({"command": f"cat part_{step:03d}_{part}.txt"}))
    return ScriptedCall("look", json.dumps({"step": step, "part": part}))


def _reports(body: Body, asked: int) -> Turn:
    """Some agents do not end with words."""
    names = tool_names(body)
    if names == SHELL:
        return Turn(calls=(ScriptedCall("bash", json.dumps({"command": _ending(asked)})),))
    if FINAL in names:
        return Turn(calls=(ScriptedCall(FINAL, json.dumps({"answer": report(asked)})),))
    return Turn(said=report(asked))


def _ending(asked: int) -> str:
    return f"{SUBMIT} && echo '{report(asked)}'"


def _step_in_words(body: Body) -> int:
    """Of an agent without tools: its steps are known by what it said."""
    said = [str(m.get("content")) for m in body["messages"] if m.get("role") == "assistant"]
    return max((int(n) + 1 for text in said for n in _SAID.findall(text)), default=0)


def _in_words(step: int, asked: int) -> Turn:
    if step >= STEPS[asked]:
        return Turn(said=f"That was all.\n```mswea_bash_command\n{_ending(asked)}\n```")
    command = f"cat part_{step:03d}_0.txt"
    return Turn(said=f"Step {step}: I look.\n```mswea_bash_command\n{command}\n```")


def report(asked: int) -> str:
    return f"All {STEPS[asked]} steps are done."


@dataclass(frozen=True)
class Sent:
    """The requests of one run, as they arrived."""

    requests: Sequence[Received]
    refusals: Sequence[str]

    @classmethod
    def by(cls, provider: ScriptedUpstream, key: str) -> Sent:
        mine = [r for r in list(provider.received) if key in _credentials(r)]
        # An SDK whose connection was closed sends the same once more.
        mine = [r for n, r in enumerate(mine) if n == 0 or r.raw != mine[n - 1].raw]
        return cls([r for r in mine if r.spent], [r.refusal for r in mine if r.refusal])

    @property
    def tokens(self) -> int:
        return sum(r.spent.input for r in self.requests if r.spent)

    @property
    def breaks(self) -> int:
        """Requests whose history does not begin with all of the one before it."""
        histories = [_messages(request.body) for request in self.requests]
        return sum(
            after[: len(before)] != before for before, after in itertools.pairwise(histories)
        )

    def turn(self, number: int) -> list[Received]:
        """The requests of one user turn."""
        found = [r for r in self.requests if TURNS[number] in r.raw.decode()]
        later = TURNS[number + 1 :]
        return [r for r in found if not any(text in r.raw.decode() for text in later)]


def records(request: Received) -> list[str]:
    """The records that stand in a request, as they are written."""
    return list(_records(request.body))


def _records(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        rest = value
        while OPENING in rest and CLOSING in rest:
            begin, end = rest.index(OPENING), rest.index(CLOSING)
            yield rest[begin:end]
            rest = rest[end + len(CLOSING) :]
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _records(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _records(inner)


def _messages(body: Body) -> list[str]:
    """Without cache markers, which clients move."""
    held = body.get("messages") or body.get("input")
    return [json.dumps(_bare(message), sort_keys=True) for message in held or ()]


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _bare(v) for k, v in value.items() if k != "cache_control"}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _credentials(received: Received) -> str:
    given = received.headers
    return f"{given.get('authorization', '')} {given.get('x-api-key', '')}"
