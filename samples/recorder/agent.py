"""The loop: a scripted policy says what to do, tools do it, and every message is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from samples.recorder.tools import Arguments, Workspace, observe

T = TypeVar("T")
Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: Arguments


@dataclass(frozen=True)
class Turn:
    """What the agent says in one message and the calls it makes in it."""

    said: str
    calls: tuple[Call, ...]


# A policy yields turns and is sent what the tools answered; it returns its closing words.
Steps: TypeAlias = Generator[Turn, tuple[str, ...], T]


def do(said: str, *calls: Call) -> Turn:
    return Turn(said, calls)


def shell(command: str) -> Call:
    return Call("shell", {"command": command})


def python(code: str) -> Call:
    return Call("python", {"code": code})


def sql(database: str, query: str) -> Call:
    return Call("sqlite", {"database": database, "query": query})


def read(path: str, first: int = 0, last: int = 0) -> Call:
    lines = {"first": first, "last": last} if first else {}
    return Call("read_file", {"path": path, **lines})


def write(path: str, content: str) -> Call:
    return Call("write_file", {"path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    return Call("edit_file", {"path": path, "old": old, "new": new})


def inspect(path: str, view: str) -> Call:
    return Call("inspect_html", {"path": path, "view": view})


def first(pattern: str, text: str) -> str:
    """The first group of the first match: how a policy takes a value out of what it saw."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise LookupError(f"nothing like {pattern!r} in what the tool printed")
    return str(found[1])


@dataclass(frozen=True)
class Scenario:
    """A task, the workspace it starts from, the policy, and the check that decides it."""

    domain: str
    subdomain: str
    task: str
    build: Callable[[Workspace], None]
    policy: Callable[[], Steps[str]]
    check: Callable[[Workspace], bool]


def as_tool_calls(number: int, turn: Turn, workspace: Workspace) -> tuple[list[Message], list[str]]:
    """One assistant message with all calls of the turn, and one answer to each."""
    calls, answers, texts = [], [], []
    for position, call in enumerate(turn.calls, 1):
        ident = f"call_{number:03d}_{position}"
        function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
        calls.append({"id": ident, "type": "function", "function": function})
        texts.append(observe(workspace, call.tool, call.arguments))
        answers.append({"role": "tool", "tool_call_id": ident, "content": texts[-1]})
    return [{"role": "assistant", "content": turn.said, "tool_calls": calls}, *answers], texts


def as_text_actions(
    number: int, turn: Turn, workspace: Workspace
) -> tuple[list[Message], list[str]]:
    """One message to a call: this protocol has no parallel calls and no call ids."""
    messages: list[Message] = []
    texts = []
    for position, call in enumerate(turn.calls, 1):
        said = turn.said if position == 1 else f"Step {number} continues with its next action."
        messages.append({"role": "assistant", "content": f"{said}\n\n{fenced(call)}"})
        texts.append(observe(workspace, call.tool, call.arguments))
        messages.append({"role": "user", "content": f"Observation:\n{texts[-1]}"})
    return messages, texts


def fenced(call: Call) -> str:
    if call.tool == "shell":
        return f"```bash\n{call.arguments['command']}\n```"
    action = {"tool": call.tool, "arguments": call.arguments}
    return f"```json\n{json.dumps(action)}\n```"


STYLES = {"tool-calls": as_tool_calls, "text-action": as_text_actions}


def perform(scenario: Scenario, style: str, workspace: Workspace) -> list[Message]:
    """Every message of one run, from the first turn to the closing words."""
    policy, render = scenario.policy(), STYLES[style]
    messages: list[Message] = []
    number = 1
    turn = next(policy)
    while True:
        kept, texts = render(number, turn, workspace)
        messages += kept
        number += 1
        try:
            turn = policy.send(tuple(texts))
        except StopIteration as end:
            return [*messages, {"role": "assistant", "content": end.value}]
