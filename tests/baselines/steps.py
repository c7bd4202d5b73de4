"""Runs for the tests of single strategies: a task, and one call with one output a step."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from statecomp.config import BUILDERS
from statecomp.history.history import History
from statecomp.history.interaction import Call
from statecomp.history.trajectory import Trajectory
from statecomp.options import Options, Settings
from statecomp.strategy import Strategy
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.words import step as chat_step
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named

WIRE = wire_named("openai-chat")
TASK = {"role": "user", "content": "Find out why the build fails."}


def step(number: int, output: str, name: str = "shell", **arguments: Any) -> list[dict[str, Any]]:
    """One interaction; what it says, calls and sees can be told from every other one."""
    given = arguments or {"command": f"look at item-{number}"}
    said = f"I look at item-{number} now."
    return chat_step(name, json.dumps(given), output, call_id=f"c{number}", said=said)


def bulky(number: int, lines: int = 40) -> str:
    return "\n".join(
        f"row {row} of output-{number}: value {number * 1000 + row}" for row in range(lines)
    )


def run_of(steps: int, output: Callable[[int], str] = bulky) -> list[dict[str, Any]]:
    return [TASK, *(m for n in range(1, steps + 1) for m in step(n, output(n)))]


def history(messages: Sequence[dict[str, Any]]) -> History:
    return parse(list(messages), WIRE)


def growing(steps: int) -> list[History]:
    """The requests of one run, from none to `steps` interactions."""
    whole = history(run_of(steps))
    return [History(whole.segments[: n + 1]) for n in range(steps + 1)]


def built(spec: str, chat: ScriptedChat | None = None, protocol: str = "openai-chat") -> Strategy:
    name, _, text = spec.partition(":")
    options = Options(spec, ",".join(filter(None, (text, "chat=scripted" if chat else ""))))
    factory = BUILDERS[name](options, Settings(chats={"scripted": chat} if chat else {}))
    options.done()
    return factory(Trajectory("run", (), protocol), wire_named(protocol))


def call(name: str, **arguments: Any) -> Call:
    return Call("t", name, json.dumps(arguments))


def sent(strategy: Strategy, messages: Sequence[dict[str, Any]]) -> str:
    """All that the agent would read, as text."""
    return json.dumps(strategy.before_request(history(messages)).history.messages)
