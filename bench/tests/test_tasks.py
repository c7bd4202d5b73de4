"""What every task of the bench must hold; see `tasks/README.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import pytest

from bench.tests.running import (
    TaskFinished,
    run_case,
    sandbox,
    scripted,
    without_facts,
    without_rules,
)
from statecomp.history.interaction import JsonObject
from statecomp_bench.plan import PLACE
from statecomp_bench.scripted.sight import Eye
from statecomp_bench.scripted.wording import call_patterns
from statecomp_bench.suite import checked
from statecomp_bench.task import DOMAINS, Case, Task
from statecomp_bench.tasks import all_tasks

TASKS = all_tasks()
each_task = pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])


def sampled() -> Iterator[Task]:
    """One task of each domain that has any: running all of them takes minutes."""
    for _, tasks in groupby(TASKS, key=lambda task: task.domain):
        yield next(tasks)


def test_tasks_have_ids_of_their_domain() -> None:
    ids = [task.id for task in TASKS]
    assert len(set(ids)) == len(ids)
    assert all(t.domain in DOMAINS and t.id.startswith(f"{t.domain.lower()}-") for t in TASKS)


@each_task
def test_seed_and_level_fix_the_case(task: Task) -> None:
    first, again, other = task.case(3, 1), task.case(3, 1), task.case(4, 1)
    assert (first.files, first.instruction, first.plan) == (
        again.files,
        again.instruction,
        again.plan,
    )
    assert first.files != other.files
    assert len(task.case(3, 2).plan.steps) > len(first.plan.steps) or (
        sum(map(len, task.case(3, 2).files.values())) > sum(map(len, first.files.values()))
    )


@each_task
def test_steps_can_be_told_apart_by_their_calls(task: Task) -> None:
    plan = task.case().plan
    told = call_patterns(plan.steps)
    for step in plan.steps:
        first = next(iter(step.arguments.values()), "").partition("\n")[0]
        assert step.id in told or PLACE.search(first) or not step.arguments, step.id


@each_task
def test_no_early_call_reads_like_a_later_step(task: Task) -> None:
    """A summary that quotes a call must not be taken for word of work still to come."""
    plan = task.case().plan
    eye, places = Eye(plan), {step.id: place for place, step in enumerate(plan.steps)}
    for step in plan.steps:
        quoted = f"{step.tool}: {' '.join(step.arguments.values())}"
        told = eye.look([{"role": "user", "content": quoted}]).done
        assert max((places[name] for name in told), default=0) <= places[step.id], step.id


@each_task
def test_no_call_reads_like_a_finding(task: Task) -> None:
    """Nor must what a quoted call says be taken for a value or a rule."""
    plan = task.case().plan
    eye = Eye(plan)
    for step in plan.steps:
        for template in step.arguments.values():
            for text in (template, " ".join(template.split())):
                seen = eye.look([{"role": "user", "content": text}])
                assert (seen.values, seen.rules) == ({}, set()), step.id


@each_task
def test_doing_nothing_is_worth_nothing(task: Task) -> None:
    case = task.case()
    with sandbox() as box:
        case.write(box.root)
        assert checked(case, box).reward <= 0.1


@each_task
def test_the_scripted_agent_with_the_whole_history_succeeds(
    task: Task, finished: TaskFinished
) -> None:
    done = finished(task.id)
    case, run = done.case, done.run
    assert done.score.reward >= 0.95, done.score
    assert run.ended == ""
    assert 25 <= len(run.requests) <= 120
    assert run.requests[-1].bill.input > 20_000
    assert not list(_given_away(case, run.messages))


def _given_away(case: Case, messages: Sequence[JsonObject]) -> Iterator[str]:
    """Values that stand in the plan itself, where only places for them may stand."""
    known = case.instruction + "\n".join(case.files)
    templates = [text for step in case.plan.steps for text in step.arguments.values()]
    templates += [text for rule in case.plan.rules for text in (rule.then, rule.otherwise)]
    for name, value in Eye(case.plan).look(messages).values.items():
        if len(value) > 4 and value not in known and any(value in text for text in templates):
            yield f"{name}: {value}"


@pytest.mark.parametrize("task", list(sampled()), ids=lambda task: task.id)
def test_rules_and_values_decide_the_score(task: Task, finished: TaskFinished) -> None:
    done = finished(task.id)
    unruly = without_rules(done.case)
    assert run_case(unruly, scripted(unruly))[1].reward <= done.score.reward - 0.1
    # Nothing it looks for is ever there: what it would do after so many steps is no better.
    blind = replace(without_facts(done.case), max_steps=60)
    assert run_case(blind, scripted(blind))[1].reward <= 0.5


@pytest.mark.parametrize("task", list(sampled()), ids=lambda task: task.id)
def test_higher_levels_can_be_solved(task: Task) -> None:
    case = task.case(0, 3)
    assert run_case(case, scripted(case))[1].reward >= 0.95
