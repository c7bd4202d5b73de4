"""A scripted policy in the place of the bench's acting model, and its run in both styles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias, TypeVar

from samples.recorder.workspace import RecordedTools, Workspace
from statecomp.baselines.none import NoCompression
from statecomp.history.interaction import Call as WireCall
from statecomp.history.interaction import JsonObject
from statecomp.wire.openai_chat.wire import OpenAIChat, calls_of
from statecomp_bench.agent import Agent
from statecomp_bench.models import Reply

T = TypeVar("T")
Arguments: TypeAlias = Mapping[str, str | int]
MOST_STEPS = 200


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


class Policy:
    """The acting model of a scenario: each reply is the policy's next turn."""

    def __init__(self, scenario: Scenario) -> None:
        self._steps = scenario.policy()
        self._number = 0

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        self._number += 1
        try:
            answers = tuple(str(message["content"]) for message in _newest(messages))
            turn = self._steps.send(answers) if self._number > 1 else next(self._steps)
        except StopIteration as end:
            return Reply({"role": "assistant", "content": end.value})
        calls = [
            {
                "id": f"call_{self._number:03d}_{position}",
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
            }
            for position, call in enumerate(turn.calls, 1)
        ]
        return Reply({"role": "assistant", "content": turn.said, "tool_calls": calls})


def _newest(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The answers that nobody has reacted to yet."""
    return [*takewhile(lambda message: message["role"] == "tool", reversed(messages))][::-1]


def perform(scenario: Scenario, system: str, workspace: Workspace) -> list[JsonObject]:
    """Every message of one run, from the system's words to the closing ones."""
    tools = RecordedTools(workspace)
    agent = Agent(Policy(scenario), NoCompression(), tools, OpenAIChat(), system=system)
    return agent.run(scenario.task, MOST_STEPS).messages


def as_text_actions(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """The same run with one message to a call: no parallel calls, and no ids of calls."""
    number, seen = 0, {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    for message in messages:
        calls = calls_of(message) if message["role"] == "assistant" else ()
        if not calls and message["role"] != "tool":
            yield message
        number += bool(calls)
        for position, call in enumerate(calls, 1):
            said = (
                message["content"]
                if position == 1
                else f"Step {number} continues with its next action."
            )
            yield {"role": "assistant", "content": f"{said}\n\n{_fenced(call)}"}
            yield {"role": "user", "content": f"Observation:\n{seen[call.id]}"}


def _fenced(call: WireCall) -> str:
    arguments = json.loads(call.arguments)
    if call.name == "shell":
        return f"```bash\n{arguments['command']}\n```"
    return f"```json\n{json.dumps({'tool': call.name, 'arguments': arguments})}\n```"
