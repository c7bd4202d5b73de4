"""What is shown once and needed late: who lets go of it cannot get it back."""

from __future__ import annotations

import pytest

from bench.tests.running import run_case, scripted
from statecomp.baselines.window import SlidingWindow
from statecomp_bench.task import Task
from statecomp_bench.tasks import all_tasks, task_named

GONE = [task for task in all_tasks() if task.case().seen]
AGAIN = [task_named(name) for name in ("code-mirrors", "security-lookups")]
EXACT = [task_named(name) for name in ("code-notices", "web-captions", "office-vouchers")]


def test_each_domain_has_some() -> None:
    assert {task.domain for task in GONE} == {"Code", "Office", "Security", "Web"}
    assert len(GONE) + len(AGAIN) + len(EXACT) >= 12


@pytest.mark.parametrize("task", GONE, ids=lambda task: task.id)
def test_true_values_are_those_the_plan_asks_for(task: Task) -> None:
    case = task.case(5)
    assert case.seen
    assert case.seen.keys() <= case.plan.fact.keys()
    assert all(case.plan.step[case.plan.fact[name].source].once for name in case.seen)


@pytest.mark.parametrize("task", GONE, ids=lambda task: task.id)
def test_what_was_shown_once_does_not_come_back(task: Task) -> None:
    case = task.case(2)
    run, score = run_case(case, scripted(case, 2), SlidingWindow(keep=6))
    assert score.reward <= 0.7
    whole, best = run_case(case, scripted(case, 2))
    assert best.reward >= 0.95
    assert len(run.requests) > len(whole.requests)


@pytest.mark.parametrize("task", AGAIN, ids=lambda task: task.id)
def test_a_dead_end_out_of_sight_is_tried_again(task: Task) -> None:
    case = task.case(2)
    parts = {
        part.name: part.value
        for part in run_case(case, scripted(case, 2), SlidingWindow(keep=4))[1].parts
    }
    assert parts["not tried again"] < 1
    whole = {part.name: part.value for part in run_case(case, scripted(case, 2))[1].parts}
    assert whole["not tried again"] == 1


@pytest.mark.parametrize("task", EXACT, ids=lambda task: task.id)
def test_what_can_be_read_again_costs_steps(task: Task) -> None:
    case = task.case(2)
    run, _ = run_case(case, scripted(case, 2), SlidingWindow(keep=6))
    whole, _ = run_case(case, scripted(case, 2))
    assert len(run.requests) > len(whole.requests)
