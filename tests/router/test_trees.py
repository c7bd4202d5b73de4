"""Trees as arrays answer exactly as the library that grew them."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from statecomp.errors import BadInput
from statecomp.router.metrics import auroc
from statecomp.router.threshold import LossWeights
from statecomp.router.trees import Trees, TreeSettings, bagged, exported, fit_trees, grow
from tests.router.synthetic import pairs_of

SMALL = TreeSettings(trees=40, leaves=8, patience=10)


def test_arrays_score_as_scikit_learn_does_also_where_values_are_missing() -> None:
    pairs = pairs_of(20, seed=1)
    x = pairs.x.copy()
    x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    grown = grow(x, pairs.ready, SMALL)
    trees = exported(grown, SMALL.trees, pairs.width)
    np.testing.assert_allclose(trees.logits(x), grown.decision_function(x), atol=1e-6)
    fresh = np.random.default_rng(1).normal(size=(5000, pairs.width)).astype(np.float32)
    np.testing.assert_allclose(trees.logits(fresh), grown.decision_function(fresh), atol=1e-6)
    np.testing.assert_allclose(list(trees.staged(fresh))[-1], trees.logits(fresh), atol=1e-9)


def test_the_number_of_trees_is_that_of_the_lowest_validation_loss() -> None:
    fitted = fit_trees(pairs_of(20), pairs_of(8, seed=9), SMALL)
    assert len(fitted.router.roots) == fitted.best == int(np.argmin(fitted.curve)) + 1
    test = pairs_of(8, seed=5)
    area = auroc(fitted.router.logits(test.x), test.ready)
    assert area is not None
    assert area > 0.8


def test_a_monotone_feature_only_raises_the_score() -> None:
    settings = TreeSettings(trees=30, leaves=8, monotone=(1, 0, 0, 0, 0))
    trees = fit_trees(pairs_of(20), pairs_of(8, seed=9), settings).router
    x = np.zeros((60, 5), np.float32)
    x[:, 0] = np.linspace(0, 20, 60)
    assert (np.diff(trees.logits(x)) >= 0).all()
    with pytest.raises(BadInput, match="monotone: must name 5 directions, not 1"):
        fit_trees(pairs_of(20), pairs_of(8), TreeSettings(monotone=(1,)))


def test_weights_move_all_logits_by_about_their_log_ratio() -> None:
    train, validation = pairs_of(40), pairs_of(8, seed=9)
    plain = fit_trees(train, validation, SMALL).router.logits(validation.x)
    settings = TreeSettings(LossWeights(keep=8.0), trees=40, leaves=8, patience=10)
    fitted = fit_trees(train, validation, settings)
    moved = np.median(fitted.router.logits(validation.x) - plain)
    assert moved == pytest.approx(-np.log(8.0), abs=0.7)
    assert fitted.weights == LossWeights(keep=8.0)


def test_growing_twice_gives_the_same_bytes() -> None:
    one, other = (fit_trees(pairs_of(12), pairs_of(6, seed=2), SMALL).router for _ in range(2))
    for field in fields(Trees):
        assert getattr(one, field.name).tobytes() == getattr(other, field.name).tobytes()


def test_no_rows_have_no_scores() -> None:
    trees = fit_trees(pairs_of(12), pairs_of(6, seed=2), SMALL).router
    assert trees.logits(np.zeros((0, 5), np.float32)).shape == (0,)


def test_bags_answer_with_their_mean_and_each_learns_from_other_runs() -> None:
    train, validation = pairs_of(20), pairs_of(8, seed=9)
    settings = replace(SMALL, bags=3, share=0.5, columns=0.6)
    parts = [*bagged(train, settings)]
    assert [len(part.runs) for part in parts] == [10, 10, 10]
    assert len({part.runs for part in parts}) == 3
    fitted = fit_trees(train, validation, settings)
    grown = [grow(part.x, part.ready, settings, bag) for bag, part in enumerate(parts)]
    alone = [exported(one, fitted.best, train.width).logits(validation.x) for one in grown]
    np.testing.assert_allclose(fitted.router.logits(validation.x), np.mean(alone, axis=0))
    assert len(fitted.router.roots) == 3 * fitted.best


def test_runs_whose_labels_are_trusted_less_are_drawn_less() -> None:
    pairs = pairs_of(20)
    rare = frozenset(pairs.runs[:10])
    for part in bagged(pairs, replace(SMALL, bags=3, share=0.6, rare=rare)):
        assert len(rare & {*part.runs}) == 2
        assert len({*part.runs} - rare) == 6


def test_a_bag_that_would_hold_one_class_only_learns_from_all_runs() -> None:
    pairs = pairs_of(20)
    rare = replace(pairs, ready=np.arange(len(pairs)) > 0)
    sizes = {len(part.runs) for part in bagged(rare, replace(SMALL, bags=8, share=0.1))}
    assert sizes == {2, 20}
