"""The coding session of the scripted provider: real files, real faults, whatever the tools."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.clients.coding.hands import hands_of, tool_names
from benchmarks.clients.coding.parts import PARTS
from benchmarks.clients.coding.plan import PlannedRun, Read, Replace, Search, steps_of
from benchmarks.clients.coding.project import write_project
from benchmarks.clients.coding.session import ASIDE, CodingSession
from statecomp.testing.provider.turns import next_step

FIXTURES = sorted(Path(__file__).with_name("fixtures").glob("*.json"))
LENGTH = 112
WORKSPACE = Path("/home/dev/toolkit")
PLAIN = [{"type": "function", "function": {"name": n}} for n in ("read_file", "search", "run")]
PLAIN += [{"type": "function", "function": {"name": "replace"}}]
BASH = [{"type": "function", "function": {"name": "bash"}}]


def check(project: Path, *names: str) -> str:
    done = subprocess.run(["./check", *names], cwd=project, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "toolkit"
    write_project(folder)
    return folder


def test_every_module_is_red_until_its_line_is_mended(project: Path) -> None:
    red = {part.name for part in PARTS if "FAILED" in check(project, part.name)}
    assert red == {part.name for part in PARTS}
    for step in steps_of(LENGTH):
        for action in step.actions:
            if isinstance(action, Replace):
                file = project / action.path
                text = file.read_text("utf-8")
                assert text.count(action.old) == 1
                file.write_text(text.replace(action.old, action.new), "utf-8")
    assert check(project).endswith("\nOK\n")


def test_files_are_as_large_as_those_of_a_project(project: Path) -> None:
    sizes = [(project / "toolkit" / f"{part.name}.py").stat().st_size for part in PARTS]
    assert min(sizes) > 3000
    assert max(sizes) < 15_000


def test_a_longer_session_begins_as_a_shorter_one() -> None:
    assert steps_of(40) == steps_of(LENGTH)[:40]


def test_with_several_at_once_the_same_steps_come_in_turns() -> None:
    one, three = steps_of(111), steps_of(111, at_once=3)
    assert one[:4] == three[:4]
    assert one[4:] != three[4:]
    assert set(one) == set(three)


def test_a_session_is_a_mix_of_reading_running_searching_and_mending() -> None:
    actions = [action for step in steps_of(LENGTH) for action in step.actions]
    share = {kind: sum(isinstance(a, kind) for a in actions) / len(actions) for kind in KINDS}
    assert 0.3 < share[Read] < 0.5
    assert 0.25 < share[PlannedRun] < 0.5
    assert 0.05 < share[Search] < 0.2
    assert 0.08 < share[Replace] < 0.2
    reads = [action.path for action in actions if isinstance(action, Read)]
    assert len(set(reads)) < 0.8 * len(reads)  # some are read again


KINDS = (Read, Search, PlannedRun, Replace)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_client_is_asked_only_for_tools_that_it_has(path: Path) -> None:
    body = json.loads(path.read_text("utf-8"))["body"]
    hands = hands_of(body, WORKSPACE)
    assert hands is not None
    for step in steps_of(LENGTH):
        for action in step.actions:
            call = hands.call(action)
            assert call.name in tool_names(body)
            assert call.free or json.loads(call.arguments)


@pytest.mark.parametrize("tools", [PLAIN, BASH], ids=["four functions", "a shell"])
def test_agents_of_few_tools_get_along(tools: list[Any]) -> None:
    hands = hands_of({"tools": tools}, WORKSPACE)
    assert hands is not None
    asked = {hands.call(a).name for step in steps_of(LENGTH) for a in step.actions}
    assert asked == tool_names({"tools": tools})


def test_the_newest_call_tells_the_step_whatever_became_of_the_others() -> None:
    session = CodingSession(WORKSPACE, 9)
    body = {"tools": PLAIN}
    assert session.turn(body, next_step(["call_0006_0"])) == session.turn(body, 7)
    assert session.turn(body, 9).said == session.report
    assert not session.turn(body, 9).calls


def test_a_request_without_tools_is_answered_in_words() -> None:
    assert CodingSession(WORKSPACE, 9).turn({"messages": []}, 3).said == ASIDE


def test_only_who_asks_for_thinking_gets_thoughts() -> None:
    session = CodingSession(WORKSPACE, 9)
    bodies: list[dict[str, Any]] = [
        {"thinking": {"type": "adaptive"}},
        {"thinking": {"type": "disabled"}},
        {"reasoning": {"effort": "low"}},
        {"reasoning": {"effort": "none"}},
        {},
    ]
    thoughts = [bool(session.turn({"tools": PLAIN, **body}, 0).thought) for body in bodies]
    assert thoughts == [True, False, True, False, False]


def test_clients_that_end_with_a_call_are_given_one() -> None:
    session = CodingSession(WORKSPACE, 2)
    final = [*PLAIN, {"type": "function", "function": {"name": "final_answer"}}]
    (answer,) = session.turn({"tools": final}, 2).calls
    assert json.loads(answer.arguments) == {"answer": session.report}
    (command,) = session.turn({"tools": BASH}, 2).calls
    assert session.report in json.loads(command.arguments)["command"]
