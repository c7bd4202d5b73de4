"""Cross-validation chooses without test labels: it neither reads them nor depends on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pytest

from statecomp.errors import BadInput
from statecomp.router.calibrate import Raw
from statecomp.router.cross import Choice, Chosen, CrossValidated, Learner, cross_validate
from statecomp.router.folds import Fold, rotations
from statecomp.router.loss import WeightedBce
from statecomp.router.metrics import measures
from statecomp.router.pairs import Pairs
from statecomp.router.tensors import tensors_of
from statecomp.router.threshold import NOTHING, Costs, LossWeights, TargetPrecision
from statecomp.router.train import TrainSettings
from statecomp.router.trees import TreeSettings
from tests.router.synthetic import pairs_of

LEARNERS: dict[str, Learner] = {
    "linear": TrainSettings(hidden=0, epochs=3, batch=256, learning_rate=1e-2),
    "weighted": TrainSettings(
        hidden=8, epochs=3, batch=256, learning_rate=1e-2, loss=WeightedBce(LossWeights(keep=5.0))
    ),
    "trees": TreeSettings(trees=15, leaves=6),
}
PAIRS = pairs_of(25, tasks=10)
FOLDS = rotations(PAIRS.catalogue())


class TestLabelsRead(AssertionError):
    """Labels of test runs were read while choices were open."""

    __test__ = False


@dataclass
class Seal:
    """Which runs' labels may not be read now."""

    folds: list[Fold]
    closed: frozenset[str] = frozenset()
    opened: int = 0

    def hear(self, number: int, stage: str) -> None:
        self.closed = frozenset(self.folds[number - 1].test if stage == "choose" else ())
        self.opened += stage == "judge"


@dataclass(frozen=True)
class SealedPairs(Pairs):
    """Pairs whose labels, and those of every part of them, cannot be read against the seal."""

    seal: Seal = field(kw_only=True)

    def __getattribute__(self, name: str) -> Any:
        if name == "ready":
            runs = object.__getattribute__(self, "runs")
            if object.__getattribute__(self, "seal").closed.intersection(runs):
                raise TestLabelsRead
        return object.__getattribute__(self, name)

    def of_runs(self, names: Iterable[str]) -> Pairs:
        """Cutting is not reading: an unsealed copy is cut, and sealed again."""
        values = {f.name: object.__getattribute__(self, f.name) for f in fields(Pairs)}
        part = Pairs(**values).of_runs(names)
        return SealedPairs(**{f.name: getattr(part, f.name) for f in fields(Pairs)}, seal=self.seal)


def sealed(pairs: Pairs, seal: Seal) -> SealedPairs:
    return SealedPairs(**{f.name: getattr(pairs, f.name) for f in fields(Pairs)}, seal=seal)


def test_test_labels_are_never_read_before_the_final_evaluation() -> None:
    seal = Seal(FOLDS)
    result = cross_validate(sealed(PAIRS, seal), FOLDS, LEARNERS, progress=seal.hear)
    assert seal.opened == len(FOLDS)
    assert np.isfinite(result.scores).all()


def test_the_seal_holds_against_whoever_reads() -> None:
    seal = Seal(FOLDS)
    pairs = sealed(PAIRS, seal)
    seal.hear(1, "choose")
    with pytest.raises(TestLabelsRead):
        _ = pairs.ready
    with pytest.raises(TestLabelsRead):
        pairs.of_runs(FOLDS[0].test).checked()
    pairs.of_runs(FOLDS[0].train).checked()


def fingerprint(chosen: Chosen) -> tuple[Any, ...]:
    tensors = {name: tensor.tobytes() for name, tensor in tensors_of(chosen.router).items()}
    return chosen.name, chosen.threshold, chosen.calibration, chosen.validation, tensors


def test_turning_all_test_labels_round_changes_no_choice_and_no_score() -> None:
    fold = FOLDS[2]
    tested = np.isin(np.array(PAIRS.runs)[PAIRS.run], fold.test)
    turned = replace(PAIRS, ready=PAIRS.ready ^ tested)
    one, other = (cross_validate(pairs, [fold], LEARNERS) for pairs in (PAIRS, turned))
    assert fingerprint(one.folds[0].chosen) == fingerprint(other.folds[0].chosen)
    np.testing.assert_array_equal(one.scores, other.scores)
    assert one.metrics["all"]["auroc"] != other.metrics["all"]["auroc"]


@pytest.fixture(scope="module")
def result() -> CrossValidated:
    return cross_validate(PAIRS, FOLDS, LEARNERS)


def test_every_pair_is_scored_by_the_fold_that_did_not_learn_from_it(
    result: CrossValidated,
) -> None:
    for judged in result.folds:
        rows = np.isin(np.array(PAIRS.runs)[PAIRS.run], judged.fold.test)
        np.testing.assert_array_equal(result.scores[rows], judged.chosen.scores(PAIRS.x[rows]))
    assert result.metrics["all"] == measures(result.scores, PAIRS.ready, result.thresholds)
    assert result.metrics["all"]["auroc"] > 0.8


def test_the_configuration_is_the_best_on_validation(result: CrossValidated) -> None:
    for judged in result.folds:
        assert set(judged.chosen.validation) == set(LEARNERS)
        best = max(judged.chosen.validation.values())
        assert judged.chosen.validation[judged.chosen.name] == best


def test_all_three_calibrations_are_shown_on_the_test_runs(result: CrossValidated) -> None:
    for judged in result.folds:
        assert set(judged.calibration) == {"raw", "temperature", "platt", "beta"}
        for shown in judged.calibration.values():
            counted = sum(b["count"] for b in shown["reliability"])
            assert counted == judged.metrics["all"]["pairs"]


def test_the_threshold_reaches_its_precision_on_validation(result: CrossValidated) -> None:
    for judged in result.folds:
        part = PAIRS.of_runs(judged.fold.validation)
        selected = judged.chosen.scores(part.x) >= judged.chosen.threshold
        assert not selected.any() or part.ready[selected].mean() >= 0.98


def test_runs_that_no_fold_tests_have_no_score() -> None:
    one = cross_validate(PAIRS, FOLDS[:1], {"trees": LEARNERS["trees"]})
    tested = np.isin(np.array(PAIRS.runs)[PAIRS.run], FOLDS[0].test)
    np.testing.assert_array_equal(np.isfinite(one.scores), tested)
    assert set(one.thresholds[~tested]) == {NOTHING}


def test_costs_cut_raw_scores_by_the_weighted_threshold_and_others_by_the_plain_one() -> None:
    aim, learners = Costs(unsafe=4.0, miss=1.0), {"weighted": LEARNERS["weighted"]}
    for calibration, threshold in (("raw", 4 / 9), ("platt", 0.8), ("temperature", 0.8)):
        choice = Choice(calibration=calibration, aim=aim)
        chosen = cross_validate(PAIRS, FOLDS[:1], learners, choice).folds[0].chosen
        assert chosen.threshold == pytest.approx(threshold)
        assert (chosen.calibration == Raw()) == (calibration == "raw")


def test_a_fold_with_one_class_only_is_refused_in_a_sentence() -> None:
    fold = FOLDS[0]
    rows = np.isin(np.array(PAIRS.runs)[PAIRS.run], fold.validation)
    pairs = replace(PAIRS, ready=PAIRS.ready | rows)
    with pytest.raises(BadInput, match="the validation pairs hold READY only"):
        cross_validate(pairs, [fold], LEARNERS)


def test_unknown_ways_to_choose_are_refused() -> None:
    with pytest.raises(BadInput, match="select_by: is 'accuracy', none of keep_pr_auc"):
        Choice(select_by="accuracy", aim=TargetPrecision(0.9))
    with pytest.raises(BadInput, match="there is no configuration to train"):
        cross_validate(PAIRS, FOLDS, {})
