"""A committee learns from every task and is tuned only by members that had not seen it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from statecomp.errors import BadInput
from statecomp.router.calibrate import sigmoid
from statecomp.router.committee import Committee, FittedCommittee, lessons
from statecomp.router.cross import Choice, choose
from statecomp.router.pairs import Pairs, joined
from statecomp.router.tensors import tensors_of
from statecomp.router.threshold import TargetPrecision
from statecomp.router.train import TrainSettings
from statecomp.router.trees import TreeSettings
from tests.router.synthetic import pairs_of

SMALL = Committee(
    TreeSettings(trees=12, leaves=6, min_leaf=10),
    TrainSettings(hidden=8, batch=64, epochs=3),
    parts=3,
    turns=2,
)
ALL = pairs_of(24, tasks=12)
TRAIN = ALL.without_tasks_of(ALL.runs[:4])
VALIDATION = ALL.of_runs({*ALL.runs} - {*TRAIN.runs})


def bytes_of(fitted: FittedCommittee) -> list[bytes]:
    return [tensor.tobytes() for tensor in tensors_of(fitted.router).values()]


def foreseen(pairs: Pairs, chance: float = 0.5) -> Pairs:
    """Forecasts for settled pairs at even checkpoints."""
    said = (pairs.checkpoint % 2 == 0) & (pairs.age >= 2)
    return replace(pairs, foreseen=np.where(said, chance, np.nan))


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    one, other = (SMALL.fit(TRAIN, VALIDATION) for _ in range(2))
    assert bytes_of(one) == bytes_of(other)
    assert bytes_of(one) != bytes_of(replace(SMALL, seed=1).fit(TRAIN, VALIDATION))
    tensors = tensors_of(one.router)
    assert len(tensors["0.roots"]) == 6 * 12
    assert tensors["1.weight0"].shape == (6 * 8, ALL.width)


def test_the_router_is_as_sure_as_the_warier_of_its_trees_and_its_networks() -> None:
    fitted = SMALL.fit(TRAIN, VALIDATION)
    trees, network = fitted.router.members
    warier = np.minimum(trees.logits(ALL.x), network.logits(ALL.x))
    np.testing.assert_array_equal(fitted.router.logits(ALL.x), warier)
    assert (
        np.corrcoef(fitted.router.logits(joined(TRAIN, VALIDATION).x), fitted.unseen.logits)[0, 1]
        > 0.8
    )


def test_a_task_is_tuned_on_by_members_that_never_saw_its_labels() -> None:
    pairs = joined(TRAIN, VALIDATION)
    task = np.array([group == VALIDATION.groups[0] for group in pairs.groups])[pairs.run]
    of_task = np.array([group == VALIDATION.groups[0] for group in VALIDATION.groups])
    turned = VALIDATION.ready ^ of_task[VALIDATION.run]
    honest = SMALL.fit(TRAIN, VALIDATION)
    misled = SMALL.fit(TRAIN, replace(VALIDATION, ready=turned))
    np.testing.assert_array_equal(honest.unseen.logits[task], misled.unseen.logits[task])
    # But it is learned from: the other tasks, and the router, look different then.
    assert bytes_of(honest) != bytes_of(misled)
    assert (honest.unseen.logits[~task] != misled.unseen.logits[~task]).any()


def test_untrusted_runs_are_learned_from_and_tune_nothing() -> None:
    less = frozenset(TRAIN.runs[:5])
    fitted = replace(SMALL, untrusted=less).fit(TRAIN, VALIDATION)
    trusted = joined(TRAIN, VALIDATION).of_runs({*ALL.runs} - less)
    np.testing.assert_array_equal(fitted.unseen.ready, trusted.ready)
    assert bytes_of(fitted) == bytes_of(SMALL.fit(TRAIN, VALIDATION))


def test_the_choice_is_made_on_all_pairs_unseen() -> None:
    choice = Choice(aim=TargetPrecision(0.8))
    chosen = choose(TRAIN, VALIDATION, {"committee": SMALL}, choice)
    raw = SMALL.fit(TRAIN, VALIDATION).unseen
    scores = chosen.calibration.apply(raw.logits)
    taken = scores >= chosen.threshold
    assert raw.ready[taken].mean() >= 0.8
    assert len(raw.ready) == len(ALL)


def test_a_run_with_forecasts_is_learned_from_at_their_checkpoints() -> None:
    pairs = foreseen(ALL)
    first = pairs.run == 0
    pairs = replace(pairs, foreseen=np.where(first, np.nan, np.asarray(pairs.foreseen)))
    rows = lessons(pairs)
    assert set(np.flatnonzero(first)) <= set(rows)
    others = pairs.at(rows[pairs.run[rows] != 0])
    assert others.foreseen is not None
    assert (np.isnan(others.foreseen) == (others.age == 1)).all()
    # The newest of every checkpoint that has a forecast, and of no other.
    judged = {*zip(others.run[others.age > 1], others.checkpoint[others.age > 1], strict=True)}
    newest = {*zip(others.run[others.age == 1], others.checkpoint[others.age == 1], strict=True)}
    assert newest == judged


def test_a_member_learns_what_the_forecast_says_and_the_newest_from_its_label() -> None:
    pairs = foreseen(ALL, 0.3)
    x, wanted = replace(SMALL, trust=0.25)._lessons(pairs)
    rows = lessons(pairs)
    said = ~np.isnan(np.asarray(pairs.foreseen)[rows])
    ready = pairs.ready[rows]
    np.testing.assert_allclose(wanted[said], 0.75 * 0.3 + 0.25 * ready[said])
    np.testing.assert_array_equal(wanted[~said], ready[~said])
    np.testing.assert_array_equal(x, pairs.x[rows])


def test_trees_that_know_nothing_say_as_often_ready_as_they_were_told() -> None:
    """A constant feature leaves them the mean of what they learn: of copies, not of labels."""
    x, wanted = np.zeros((2_000, 1), np.float32), np.full(2_000, 0.3)
    grown = SMALL._grown(x, wanted, 0)
    assert sigmoid(grown.logits(x[:1]))[0] == pytest.approx(0.3, abs=0.01)


def test_forecasts_outweigh_labels() -> None:
    doubtful = replace(ALL, foreseen=np.where(ALL.age >= 2, 0.05, np.nan))
    low = SMALL.fit(doubtful.of_runs(TRAIN.runs), doubtful.of_runs(VALIDATION.runs))
    high = SMALL.fit(TRAIN, VALIDATION)
    assert low.router.logits(ALL.x).mean() < high.router.logits(ALL.x).mean() - 0.5


def test_one_task_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="at least two tasks"):
        SMALL.fit(
            pairs_of(4, tasks=1).of_runs(["run-000"]), pairs_of(4, tasks=1).of_runs(["run-001"])
        )
