"""Hand-offs: prepared, finished by models and from outside, scored as they stand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from bench.tests.desk.test_server import desk
from bench.tests.running import needs_sandbox
from statecomp.baselines.none import NoCompression
from statecomp.baselines.window import SlidingWindow
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput, StateCompError
from statecomp.history.interaction import JsonObject
from statecomp.wire.openai_chat.chat import CompletionsChat
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.agent import STEP_LIMIT
from statecomp_bench.environment import TOOLS
from statecomp_bench.habits import habits_named
from statecomp_bench.handoffs.assigning import assigned, instructions
from statecomp_bench.handoffs.folder import HandoffEnding, HandoffFolder
from statecomp_bench.handoffs.prepare import Occasion, prepared
from statecomp_bench.handoffs.reading import (
    BROKEN_OFF,
    act,
    case_of,
    finish,
    finished_by,
    outside_of,
    seen_lines,
)
from statecomp_bench.handoffs.scoring import lines, outcomes
from statecomp_bench.models import Model, RemoteModel, Reply
from statecomp_bench.suite import Conditions
from statecomp_bench.task import Case

CONDITIONS = Conditions(shipped_prices().of())
OCCASION = Occasion("code-tariffs", 3, 1, (0.6,), ("none", "window:keep=5"))
FACTORIES = {
    "none": lambda run, wire: NoCompression(),
    "window:keep=5": lambda run, wire: SlidingWindow(5),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs_sandbox()
    folder = HandoffFolder(tmp_path_factory.mktemp("handoffs"))
    for handoff in prepared(folder, OCCASION, FACTORIES, CONDITIONS):
        folder.add(handoff)
    return folder.path


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> HandoffFolder:
    shutil.copytree(made, tmp_path / "study", symlinks=True)
    return HandoffFolder(tmp_path / "study")


class Says(Model):
    """Answers every request with the same message."""

    def __init__(self, message: JsonObject) -> None:
        self._message = message

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        return Reply(self._message)


def scripted(case: Case, seed: int) -> Model:
    return ScriptedModel(case.plan, habits_named(""), seed)


def test_views_of_one_moment_differ_in_what_they_show_alone(folder: HandoffFolder) -> None:
    whole, window = folder.require()
    assert whole.moment == window.moment
    assert whole.tokens == whole.raw > window.tokens
    assert folder.view(whole.name) == folder.history(whole)
    assert len(folder.view(window.name)) < len(folder.view(whole.name))
    for handoff in (whole, window):
        shown = (folder.page(handoff.name) / "view.md").read_text("utf-8")
        assert case_of(handoff).instruction[:60] in shown
        assert handoff.strategy not in shown
    again = [*prepared(folder, OCCASION, FACTORIES, CONDITIONS, folder.require())]
    assert again == []  # what is there is not made again


def test_a_model_finishes_what_was_begun_and_reads_less_where_it_sees_more(
    folder: HandoffFolder,
) -> None:
    for handoff in folder.require():
        ending = finished_by(folder, handoff, "scripted", scripted, CONDITIONS)
        assert ending.reason == ""
    found = {handoff.strategy: outcome for handoff, outcome in outcomes(folder, CONDITIONS)}
    assert found["none"].reward == 1.0
    assert found["none"].again < found["window:keep=5"].again
    assert [line.count for line in lines([*outcomes(folder, CONDITIONS)])] == [1, 1]
    scored = folder.results.read_text("utf-8").splitlines()
    assert len(scored) == 2  # each once


def test_whoever_works_from_a_shell_finds_the_workspace_as_it_was_left(
    folder: HandoffFolder,
) -> None:
    handoff, other = folder.require()
    act(folder, handoff, "write_file", '{"path": "note.txt", "content": "kept\\n"}', CONDITIONS)
    said = act(folder, handoff, "shell", '{"command": "cat note.txt; pwd"}', CONDITIONS)
    assert said.splitlines() == ["kept", "/workspace"]
    assert "error" in act(folder, other, "read_file", '{"path": "note.txt"}', CONDITIONS)
    finish(folder, handoff, HandoffEnding("ada", "done"))
    with pytest.raises(BadInput, match="is finished"):
        act(folder, handoff, "list_files", "{}", CONDITIONS)
    with pytest.raises(BadInput, match="finished already"):
        finish(folder, handoff, HandoffEnding("bob"))
    ((_, outcome),) = outcomes(folder, CONDITIONS)
    assert (outcome.reader, outcome.calls, outcome.reason) == ("ada", 2, "")
    assert 0 < outcome.reward < 1.0  # as it stands: what was done before counts
    assert outcome.again == 0


def test_what_had_been_seen_counts_as_read_again(folder: HandoffFolder) -> None:
    handoff = folder.require()[0]
    history = folder.history(handoff)
    assert seen_lines(history)
    calls = [c for m in history for c in m.get("tool_calls") or ()]
    first = next(c["function"] for c in calls if c["function"]["name"] == "read_file")
    act(folder, handoff, first["name"], first["arguments"], CONDITIONS)
    (call,) = folder.calls(handoff.name)
    assert call.again > 0.8 * call.tokens


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("rm", "{}", "known are"),
        ("shell", "{", "is no JSON"),
        ("shell", "[]", "must be a JSON object"),
    ],
)
def test_a_call_that_cannot_be_meant_is_refused(
    folder: HandoffFolder, tool: str, arguments: str, problem: str
) -> None:
    handoff = folder.require()[0]
    with pytest.raises(BadInput, match=problem):
        act(folder, handoff, tool, arguments, CONDITIONS)
    assert folder.calls(handoff.name) == []


def test_a_reader_that_does_nothing_or_for_ever_is_scored_with_the_reason(
    folder: HandoffFolder,
) -> None:
    idle, endless = folder.require()
    call = {"id": "1", "type": "function", "function": {"name": "list_files", "arguments": "{}"}}
    for_ever = Says({"role": "assistant", "content": "", "tool_calls": [call]})
    few = Conditions(shipped_prices().of(), max_steps=3)
    finished_by(folder, idle, "idle", lambda c, s: Says({"role": "assistant"}), few)
    finished_by(folder, endless, "endless", lambda c, s: for_ever, few)
    found = {outcome.reader: outcome for _, outcome in outcomes(folder, CONDITIONS)}
    assert "answered with nothing" in found["idle"].reason
    assert found["endless"].reason == STEP_LIMIT
    assert found["endless"].calls == 3
    assert found["idle"].reward == found["endless"].reward > 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("", "nobody has answered"), ('{"tool_calls": [oops', "the answer")],
    ids=["nobody answers", "the answer is no JSON"],
)
def test_a_desk_without_a_usable_answer_costs_one_hand_off_and_says_why(
    answer: str, reason: str, folder: HandoffFolder, tmp_path: Path
) -> None:
    first, second = folder.require()
    with desk(tmp_path / "desk", wait_s=0.0) as (url, queue):
        remote = RemoteModel(CompletionsChat("any", f"{url}/v1"), deadline_s=60.0)
        with suppress(StateCompError):
            remote.reply(folder.view(first.name), TOOLS)
        for standing in queue.standings() if answer else ():
            queue.answer_path(standing.name).write_text(answer)
        finished_by(folder, first, "desk", lambda c, s: remote, CONDITIONS)
    finished_by(folder, second, "scripted", scripted, CONDITIONS)
    found = {outcome.reader: outcome for _, outcome in outcomes(folder, CONDITIONS)}
    assert reason in found["desk"].reason
    assert (found["desk"].calls, found["scripted"].reason) == (0, "")
    assert 0 < found["desk"].reward < found["scripted"].reward


def test_what_nobody_finished_is_scored_only_when_the_study_is_closed(
    folder: HandoffFolder,
) -> None:
    assert [*outcomes(folder, CONDITIONS)] == []
    found = [outcome for _, outcome in outcomes(folder, CONDITIONS, close=True)]
    assert {outcome.reason for outcome in found} == {BROKEN_OFF}


def test_a_conversation_that_broke_off_begins_anew(folder: HandoffFolder) -> None:
    handoff = folder.require()[0]
    act(folder, handoff, "write_file", '{"path": "half.txt", "content": "x"}', CONDITIONS)
    finished_by(folder, handoff, "scripted", scripted, CONDITIONS)
    assert not (folder.box(handoff.name) / "workspace" / "half.txt").exists()
    assert all("half.txt" not in call.arguments for call in folder.calls(handoff.name))


def test_no_reader_gets_a_task_twice_and_is_told_all_it_needs(folder: HandoffFolder) -> None:
    made = assigned(folder, 10)
    assert sorted(len(a.names) for a in made) == [1, 1]
    told = instructions(folder.path, made[0], "bench")
    assert f"- {made[0].names[0]}" in told
    assert f"bench handoff act {folder.path} NAME --tool" in told
    assert "`inspect_html`" in told
    assert "$" not in told
    assert assigned(folder, 10) == []


def test_a_folder_or_name_that_is_not_there_is_a_sentence(
    folder: HandoffFolder, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="holds no hand-offs"):
        HandoffFolder(tmp_path / "typo").require()
    with pytest.raises(BadInput, match="there is no hand-off"):
        folder.named("nobody")
    view = folder.page(folder.require()[0].name) / "view.json"
    view.write_text("{", "utf-8")
    with pytest.raises(BadInput, match="cannot be read"):
        folder.view(folder.require()[0].name)


def test_a_key_torn_by_a_kill_costs_one_line(folder: HandoffFolder) -> None:
    with (folder.path / "key.jsonl").open("a") as file:
        file.write(json.dumps({"name": "half"})[:-3])
    assert len(folder.require()) == 2


def test_what_was_said_once_before_the_hand_over_is_not_said_again(tmp_path: Path) -> None:
    needs_sandbox()
    folder = HandoffFolder(tmp_path)
    occasion = Occasion("security-keys", 3, 1, (0.7,), ("none",))
    (handoff,) = prepared(folder, occasion, FACTORIES, CONDITIONS)
    folder.add(handoff)
    history = folder.history(handoff)
    calls = [c["function"] for m in history for c in m.get("tool_calls") or ()]
    answers = [str(m["content"]) for m in history if m["role"] == "tool"]
    once, before = next(
        (call, answer)
        for call, answer in zip(calls, answers, strict=True)
        if call["name"] == "http" and not answer.startswith("404")
    )
    assert act(folder, handoff, once["name"], once["arguments"], CONDITIONS) != before
    assert len(outside_of(folder, handoff).calls) > 1
