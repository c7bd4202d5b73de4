"""A reader at work: its calls in its own copy of the workspace, and its last words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from statecomp.baselines.none import NoCompression
from statecomp.errors import BadInput, StateCompError
from statecomp.history.interaction import Call, JsonObject
from statecomp.tokens import TokenCounter
from statecomp.wire.content import text_of
from statecomp.wire.openai_chat.wire import calls_of
from statecomp.wire.providers import wire_named
from statecomp_bench.agent import Agent, AgentRun
from statecomp_bench.environment import NAMES, Environment
from statecomp_bench.handoffs.folder import CallMade, Handoff, HandoffEnding, HandoffFolder
from statecomp_bench.handoffs.prepare import copied
from statecomp_bench.models import Model
from statecomp_bench.outside import ASK, HTTP, OutsideWorld
from statecomp_bench.readers.lines import append_line
from statecomp_bench.sandbox import Sandbox
from statecomp_bench.scripted.sight import NUMBERED
from statecomp_bench.suite import PROTOCOL, Conditions
from statecomp_bench.task import Case
from statecomp_bench.tasks import task_named

OUTSIDE_NAMES = frozenset((ASK, HTTP))
SHORTEST_LINE = 4
BROKEN_OFF = "the reader did not finish it"


class Recorded(Environment):
    """The environment of a hand-off: every call goes into its record."""

    def __init__(
        self,
        sandbox: Sandbox,
        outside: OutsideWorld,
        file: Path,
        seen: frozenset[str],
        count: TokenCounter,
    ) -> None:
        super().__init__(sandbox, outside)
        self._file = file
        self._seen = seen
        self._tokens = count

    def call(self, call: Call) -> str:
        text = super().call(call)
        again = "\n".join(line for line in text.splitlines() if _plain(line) in self._seen)
        made = CallMade(call.name, call.arguments, text, self._tokens(text), self._tokens(again))
        append_line(self._file, asdict(made))
        return text


def seen_lines(history: Sequence[JsonObject]) -> frozenset[str]:
    """What tools had shown before the hand-off, line by line."""
    texts = (text_of(m.get("content")) for m in history if m.get("role") == "tool")
    lines = (_plain(line) for text in texts for line in text.splitlines())
    return frozenset(line for line in lines if len(line) >= SHORTEST_LINE)


def _plain(line: str) -> str:
    return NUMBERED.sub("", line).strip()


def case_of(handoff: Handoff) -> Case:
    return task_named(handoff.task).case(handoff.seed, handoff.level)


def tool_names(handoff: Handoff) -> frozenset[str]:
    """The tools the task was begun with."""
    return (NAMES - OUTSIDE_NAMES) | OutsideWorld(case_of(handoff).scenes).tools


@contextmanager
def workplace(folder: HandoffFolder, handoff: Handoff, conditions: Conditions) -> Iterator[Sandbox]:
    """The hand-off's own workspace, as the moment left it or as its reader did."""
    box = folder.box(handoff.name)
    if not box.is_dir():
        copied(folder.moment(handoff.moment), box)
    with Sandbox(conditions.limits, unprotected=conditions.unprotected, base=box) as sandbox:
        yield sandbox


def act(
    folder: HandoffFolder, handoff: Handoff, tool: str, arguments: str, conditions: Conditions
) -> str:
    """One call of a reader who works from outside."""
    known = tool_names(handoff)
    if tool not in known:
        raise BadInput(f"is {tool!r}; known are {', '.join(sorted(known))}", field="tool")
    _parsed(arguments)
    with folder.held(handoff.name):
        made = len(folder.calls(handoff.name))
        if folder.ending(handoff.name) is not None:
            raise BadInput("is finished; nothing can be called any more", field=handoff.name)
        if made >= case_of(handoff).max_steps:
            raise BadInput(f"has had its {made} calls; finish it", field=handoff.name)
        with workplace(folder, handoff, conditions) as sandbox:
            environment = _environment(folder, handoff, sandbox, conditions)
            return environment.call(Call(f"call_{made}", tool, arguments))


def finish(folder: HandoffFolder, handoff: Handoff, ending: HandoffEnding) -> None:
    """The reader's last word; the first one stands."""
    with folder.held(handoff.name):
        if folder.ending(handoff.name) is not None:
            raise BadInput("is finished already", field=handoff.name)
        folder.end(handoff.name, ending)


def finished_by(
    folder: HandoffFolder,
    handoff: Handoff,
    reader: str,
    open_model: Callable[[Case, int], Model],
    conditions: Conditions,
) -> HandoffEnding:
    """A model goes on from the view until it is done; what goes wrong is the reason it ended.

    A conversation that was broken off is begun anew: half of it is known to nobody.
    """
    shutil.rmtree(folder.box(handoff.name), ignore_errors=True)
    (folder.page(handoff.name) / "calls.jsonl").unlink(missing_ok=True)
    case = case_of(handoff)
    run = AgentRun(folder.view(handoff.name))
    known = len(run.messages)
    reason = ""
    try:
        with workplace(folder, handoff, conditions) as sandbox:
            environment = _environment(folder, handoff, sandbox, conditions)
            model = open_model(case, handoff.seed)
            wire = wire_named(PROTOCOL)
            agent = Agent(model, NoCompression(), environment, wire, conditions.count)
            agent.carry_on(run, conditions.max_steps or case.max_steps)
            reason = run.ended
    except StateCompError as error:
        reason = str(error)
    said = run.messages[known:]
    (folder.page(handoff.name) / "reading.json").write_text(json.dumps(said), "utf-8")
    words = text_of(said[-1].get("content")) if said and not reason else ""
    ending = HandoffEnding(reader, words, reason)
    finish(folder, handoff, ending)
    return ending


def _environment(
    folder: HandoffFolder, handoff: Handoff, sandbox: Sandbox, conditions: Conditions
) -> Recorded:
    file = folder.page(handoff.name) / "calls.jsonl"
    seen = seen_lines(folder.history(handoff))
    return Recorded(sandbox, outside_of(folder, handoff), file, seen, conditions.count)


def outside_of(folder: HandoffFolder, handoff: Handoff) -> OutsideWorld:
    """What lies outside, as it is after all that was asked of it, before the hand-over and since.

    What it says depends on how often it was asked, so the calls are simply made again.
    """
    outside = OutsideWorld(case_of(handoff).scenes)
    asked = [call for m in folder.history(handoff) for call in _calls(m)]
    made = [Call("", call.tool, call.arguments) for call in folder.calls(handoff.name)]
    for call in (*asked, *made):
        if call.name in OUTSIDE_NAMES:
            with suppress(ValueError, RecursionError):
                outside.call(call.name, json.loads(call.arguments or "{}"))
    return outside


def _calls(message: JsonObject) -> Sequence[Call]:
    return calls_of(message) if message.get("role") == "assistant" else ()


def _parsed(arguments: str) -> None:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is no JSON: {error}", field="arguments") from error
    if not isinstance(value, dict):
        raise BadInput("must be a JSON object", field="arguments")
