"""Folds part runs, and by group tasks, without overlap."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.errors import BadInput
from statecomp.router.folds import (
    EVEN_PARTS,
    PAPER_PARTS,
    FoldRun,
    learning_more,
    rotations,
    unseen_by,
)


def runs_of(count: int, tasks: int, domains: int = 3) -> list[FoldRun]:
    return [FoldRun(f"r{n}", f"t{n % tasks}", f"d{n % tasks % domains}") for n in range(count)]


@given(
    count=st.integers(5, 60),
    tasks=st.integers(5, 60),
    seed=st.integers(0, 9),
    by_group=st.booleans(),
    parts=st.sampled_from([EVEN_PARTS, (2, 1, 1), (2, 2, 1)]),
)
def test_parts_are_disjoint_cover_all_and_test_every_run_once(
    count: int, tasks: int, seed: int, by_group: bool, parts: tuple[int, int, int]
) -> None:
    runs = runs_of(count, min(tasks, count))
    folds = rotations(runs, parts=parts, by_group=by_group, seed=seed)
    assert len(folds) == sum(parts)
    names = sorted(run.name for run in runs)
    assert sorted(name for fold in folds for name in fold.test) == names
    for fold in folds:
        assert all(fold)
        assert sorted((*fold.train, *fold.validation, *fold.test)) == names


@given(count=st.integers(5, 60), tasks=st.integers(5, 60), seed=st.integers(0, 9))
def test_by_group_no_task_is_in_two_parts(count: int, tasks: int, seed: int) -> None:
    runs = runs_of(count, min(tasks, count))
    group = {run.name: run.group for run in runs}
    for fold in rotations(runs, seed=seed):
        train, validation, test = ({group[name] for name in part} for part in fold)
        assert train.isdisjoint(validation)
        assert train.isdisjoint(test)
        assert validation.isdisjoint(test)


def test_three_hundred_runs_are_parted_as_in_the_paper() -> None:
    folds = rotations(runs_of(300, 300), parts=PAPER_PARTS, count=5, by_group=False)
    assert [tuple(map(len, fold)) for fold in folds] == [(200, 50, 50)] * 5
    tested = Counter(name for fold in folds for name in fold.test)
    assert set(tested.values()) == {1}


def test_domains_are_alike_in_every_part() -> None:
    runs = runs_of(300, 100)
    domain = {run.name: run.domain for run in runs}
    for fold in rotations(runs):
        assert [len(part) for part in fold] == [180, 60, 60]
        share = Counter(domain[name] for name in fold.test)
        assert max(share.values()) - min(share.values()) <= 3  # one task


@given(order=st.permutations(range(20)), seed=st.integers(0, 3))
def test_folds_depend_on_the_seed_and_not_on_the_order_of_runs(order: list[int], seed: int) -> None:
    runs = runs_of(20, 10)
    assert rotations(runs, seed=seed) == rotations([runs[n] for n in order], seed=seed)
    assert rotations(runs, seed=0) != rotations(runs, seed=seed + 1)


def test_what_cannot_be_parted_is_refused() -> None:
    with pytest.raises(BadInput, match="the labelled tasks are 3, and 5 are needed"):
        rotations(runs_of(30, 3))
    with pytest.raises(BadInput, match="parts: must be multiples of the last"):
        rotations(runs_of(30, 30), parts=(5, 2, 3))
    with pytest.raises(BadInput, match="count: must lie between 1 and 5, not 6"):
        rotations(runs_of(30, 30), count=6)
    with pytest.raises(BadInput, match="run 'r0' is listed twice"):
        rotations([*runs_of(9, 9), FoldRun("r0", "other", "d")])


def test_more_runs_are_learned_from_unless_their_task_is_tuned_or_judged_on() -> None:
    runs, folds = runs_of(20, 10), rotations(runs_of(20, 10))
    again = [FoldRun(f"again {run.name}", run.group, run.domain) for run in runs]
    new = [FoldRun(f"new {n}", f"new task {n}", "Code") for n in range(10)]
    for fold, wider in zip(folds, learning_more(folds, runs, [*again, *new]), strict=True):
        assert (wider.validation, wider.test) == (fold.validation, fold.test)
        added = set(wider.train) - set(fold.train)
        assert {name for name in added if name.startswith("again")} == {
            f"again {name}" for name in fold.train
        }
        assert len([name for name in added if name.startswith("new")]) == 8


def test_every_task_has_a_fold_that_never_saw_it() -> None:
    runs = runs_of(20, 10)
    new = [FoldRun(f"new {n}", f"new task {n}", "Code") for n in range(7)]
    folds = learning_more(rotations(runs), runs, new)
    unseen = unseen_by(folds, [*runs, *new])
    assert unseen.keys() == {run.group for run in (*runs, *new)}
    for run in (*runs, *new):
        fold = folds[unseen[run.group]]
        assert run.name not in (*fold.train, *fold.validation)


def test_a_task_all_folds_learn_from_is_refused() -> None:
    folds = [fold._replace(train=(*fold.train, "x")) for fold in rotations(runs_of(20, 10))]
    with pytest.raises(BadInput, match="every fold has seen task 'x'"):
        unseen_by(folds, [FoldRun("x", "x", "Code")])
