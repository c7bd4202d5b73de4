"""Runs, whatever goes wrong in them, and what is kept of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.tests.running import needs_sandbox, scripted, small_case
from statecomp.baselines.none import NoCompression
from statecomp.baselines.window import SlidingWindow
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.history.interaction import Call, JsonObject
from statecomp.llm.side import SideCall
from statecomp.strategy import Strategy, View
from statecomp.traces.jsonl import read_runs
from statecomp_bench import suite
from statecomp_bench.models import Reply
from statecomp_bench.results import Result, append_result, iter_results, read_results
from statecomp_bench.sandbox import SandboxLimits
from statecomp_bench.suite import Conditions, RunOrder, orders, run_order
from statecomp_bench.task import Artefacts, Case, Score, Task

ORDER = RunOrder("code-small", "none", 0, "scripted", 1)
CONDITIONS = Conditions(shipped_prices().of(), limits=SandboxLimits(seconds=2.0))


@pytest.fixture(autouse=True)
def _one_small_task(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task("code-small", "Code", "a small one", lambda rng, level: small_case())
    monkeypatch.setattr(suite, "task_named", lambda name: task)


def result_of(
    strategy: Strategy, model: Any = None, case: Case | None = None, folder: Path | None = None
) -> Result:
    needs_sandbox()
    used = case or small_case()
    return run_order(
        ORDER,
        lambda run, wire: strategy,
        lambda case, seed, strategy: model or scripted(used),
        CONDITIONS,
        folder,
    )


def test_a_run_is_accounted_for() -> None:
    result = result_of(NoCompression())
    assert (result.reward, result.reason, result.failed) == (1.0, "", False)
    assert result.parts == {"port": 1.0, "unit": 1.0}
    assert result.steps == len(result.tokens) == len(result.raw_tokens)
    assert result.input == sum(result.tokens) == result.raw_input
    assert result.total == result.input + result.output
    assert result.damage == result.rewrites == 0
    assert set(result.first_changes) == {None}
    assert result.simulated
    assert "landlock" in result.protection
    # All but the first request and the newest interaction of each comes from the cache.
    assert 0.5 < result.cached / result.input < 1


def test_what_a_strategy_removes_shows_in_the_account() -> None:
    result = result_of(SlidingWindow(3))
    assert result.input < result.raw_input
    assert 0 < result.direct_saving < 1
    assert result.damage > 0
    assert result.rewrites > 0
    changes = [share for share in result.first_changes if share is not None]
    assert changes
    assert all(0 < share < 1 for share in changes)


def test_the_trajectory_is_kept_and_can_be_replayed(tmp_path: Path) -> None:
    result = result_of(SlidingWindow(3), folder=tmp_path)
    (path,) = (tmp_path / "trajectories").iterdir()
    (run,) = read_runs(path)
    assert not isinstance(run, BadInput)
    assert (run.group, run.domain, run.protocol) == ("code-small", "Code", "openai-chat")
    assert run.about["reward"] == result.reward
    standing = run.about["standing"]
    assert len(standing) == result.steps
    assert standing[-1].endswith("kkk")
    assert set(standing[-1][:-3]) == {"-"}


class Raising(Strategy):
    def before_request(self, history: History) -> View:
        raise ZeroDivisionError("oops")


class Breaking(Strategy):
    """Drops the call and leaves its result."""

    def before_request(self, history: History) -> View:
        cut = [
            replace(i, messages=i.messages[1:]) if i in history.interactions else i
            for i in history.segments
        ]
        return View(History(tuple(cut)))


class Charging(Strategy):
    """Prunes what it sees, asks a model at each request, and offers a tool."""

    def __init__(self, dollars: float | None = None) -> None:
        self._dollars = dollars

    def before_request(self, history: History) -> View:
        return View(history, side_calls=(SideCall("probe", 100, 7, self._dollars),))

    def on_observation(self, call: Call, text: str) -> str:
        return text[-400:]

    def extra_system_text(self) -> str:
        return "Use tools sparingly."

    def extra_tools(self) -> Sequence[JsonObject]:
        function = {"name": "fold", "description": "Fold.", "parameters": {"type": "object"}}
        return [{"type": "function", "function": function}]

    def handle_tool(self, call: Call) -> str:
        return "folded"


def test_all_hooks_are_called_and_their_costs_counted() -> None:
    result = result_of(Charging())
    assert result.side_calls == result.steps
    assert (result.side_input, result.side_output) == (100 * result.steps, 7 * result.steps)
    assert result.raw_input > result.input  # what was pruned counts as saved
    assert result.tokens[0] > result.raw_tokens[0]  # its tool and its text cost something


def test_a_model_asked_beside_the_agent_is_billed_at_its_own_price() -> None:
    at_ours, at_its_own = result_of(Charging()), result_of(Charging(dollars=0.25))
    ours = CONDITIONS.prices.side_dollars(100, 7)
    dearer = at_its_own.steps * (0.25 - ours)
    assert at_its_own.dollars - at_ours.dollars == pytest.approx(dearer, abs=1e-4)


def test_a_strategys_own_tool_is_answered_by_the_strategy() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "fold", "arguments": "{}"}}
    first = Reply({"role": "assistant", "content": "", "tool_calls": [call]})
    asked: list[Sequence[JsonObject]] = []

    class Model:
        def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
            asked.append(list(messages))
            return first if len(asked) == 1 else Reply({"role": "assistant", "content": "done"})

    assert not result_of(Charging(), Model()).failed
    assert asked[1][-1]["content"] == "folded"


class Answering:
    def __init__(self, message: Any) -> None:
        self._message = message

    def reply(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        if isinstance(self._message, Exception):
            raise self._message
        return Reply(self._message)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({}, "answered with nothing"),
        (None, "no message"),
        ("hello", "no message"),
        ({"content": 7}, "unknown shape"),
        ({"content": "", "tool_calls": ["x"]}, "tool call of an unknown shape"),
        (
            {"content": "", "tool_calls": [{"id": "a", "function": {"name": "shell"}}]},
            "without id or arguments",
        ),
        (TimeoutError("late"), "the model raised TimeoutError: late"),
    ],
)
def test_a_model_that_answers_garbage_costs_its_run(message: Any, reason: str) -> None:
    result = result_of(NoCompression(), Answering(message))
    assert result.failed
    assert result.reward == 0
    assert reason in result.reason


def test_a_strategy_that_raises_or_breaks_the_protocol_costs_its_run() -> None:
    raising = result_of(Raising())
    assert (raising.failed, raising.reward, raising.steps) == (True, 0.0, 0)
    assert raising.reason == "the strategy raised ZeroDivisionError: oops"
    breaking = result_of(Breaking())
    assert breaking.failed
    assert "invalid request" in breaking.reason
    assert breaking.steps == 1


def test_a_tool_that_fills_the_disk_costs_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "for n in range(200): open(f'f{n}', 'wb').write(b'x' * (16 << 20))"
    call = {"id": "c1", "type": "function"}
    function = {"name": "python", "arguments": json.dumps({"code": code})}
    calls = [{**call, "function": function}]
    result = result_of(NoCompression(), Answering({"content": "", "tool_calls": calls}))
    assert result.failed
    assert result.reward == 0


def test_a_checker_that_raises_costs_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(left: Artefacts) -> Score:
        raise KeyError("no such thing")

    task = Task("code-small", "Code", "x", lambda rng, level: replace(small_case(), check=broken))
    monkeypatch.setattr(suite, "task_named", lambda name: task)
    result = result_of(NoCompression())
    assert result.failed
    assert "KeyError" in result.reason


def test_arguments_that_are_no_json_are_told_to_the_model() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": "{"}}
    result = result_of(NoCompression(), Answering({"content": "", "tool_calls": [call]}))
    assert not result.failed
    assert result.reason == "the step limit was reached"


def test_results_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    first = result_of(NoCompression())
    append_result(tmp_path, first)
    append_result(tmp_path, replace(first, seed=1))
    append_result(tmp_path, replace(first, reward=0.5))
    latest, other = read_results(tmp_path)
    assert latest == replace(first, reward=0.5)
    assert other.seed == 1


def test_half_a_line_costs_only_itself(tmp_path: Path) -> None:
    first = result_of(NoCompression())
    append_result(tmp_path, first)
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"task": "torn')
    append_result(tmp_path, replace(first, seed=1))
    assert [result.seed for result in read_results(tmp_path)] == [0, 1]
    problems = [r for r in iter_results(tmp_path / "results.jsonl") if isinstance(r, BadInput)]
    assert [problem.line for problem in problems] == [2]


def test_what_is_done_is_not_ordered_again() -> None:
    task = Task("code-small", "Code", "a small one", lambda rng, level: small_case())
    every = orders([task], ["none", "window"], [0, 1], "scripted", 1)
    assert len(every) == 4
    left = orders([task], ["none", "window"], [0, 1], "scripted", 1, [every[0].key])
    assert left == every[1:]
