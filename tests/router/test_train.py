"""Training is repeatable, stops by validation, and leaves a network numpy can run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from statecomp.errors import BadInput
from statecomp.router.calibrate import sigmoid
from statecomp.router.loss import (
    BalancedFocal,
    EveryRow,
    Oversample,
    ReadyShare,
    Sampling,
    WeightedBce,
)
from statecomp.router.metrics import auroc
from statecomp.router.model import RouterModel, standardisation
from statecomp.router.network import Network, side_by_side
from statecomp.router.tensors import tensors_of
from statecomp.router.threshold import LossWeights
from statecomp.router.train import Epoch, TrainSettings, fit, taught
from tests.router.synthetic import pairs_of

QUICK = TrainSettings(hidden=16, batch=256, epochs=6, learning_rate=1e-2)


def digest(network: Network) -> dict[str, bytes]:
    return {name: tensor.tobytes() for name, tensor in tensors_of(network).items()}


@pytest.mark.parametrize("hidden", [0, 128, 2048])
def test_numpy_says_what_torch_says(hidden: int) -> None:
    pairs = pairs_of(10, width=40)
    torch.manual_seed(3)
    model = RouterModel(*standardisation(pairs.x), hidden, 0.3).eval()
    with torch.no_grad():
        theirs = model(torch.from_numpy(pairs.x)).numpy()
    ours = model.network().logits(pairs.x)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert model.network().kind == ("mlp" if hidden else "linear")
    assert model.network().logits(pairs.x[:0]).shape == (0,)


def test_columns_are_standardised_on_train_and_constant_ones_left_alone() -> None:
    x = np.random.default_rng(0).normal(3.0, 5.0, size=(1000, 3)).astype(np.float32)
    x[:, 2] = 7.3
    mean, scale = standardisation(x)
    np.testing.assert_allclose(mean.numpy(), x.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(scale.numpy()[:2], x.std(axis=0)[:2], rtol=1e-5)
    assert scale[2] == 1.0


@pytest.mark.parametrize(
    "settings",
    [
        replace(QUICK, hidden=0),
        QUICK,
        replace(QUICK, loss=WeightedBce(LossWeights(keep=4.0)), monitor="log_loss"),
        replace(QUICK, loss=BalancedFocal(beta=0.999, gamma=2.0)),
        replace(QUICK, sampling=Oversample()),
        replace(QUICK, sampling=ReadyShare(0.5), monitor="ready_pr_auc"),
    ],
)
def test_every_configuration_learns_and_repeats_to_the_byte(settings: TrainSettings) -> None:
    train, validation, test = pairs_of(20), pairs_of(8, seed=1), pairs_of(8, seed=2)
    state = torch.random.get_rng_state()
    one, other = (fit(train, validation, settings) for _ in range(2))
    assert digest(one.router) == digest(other.router)
    assert one.curve == other.curve
    assert torch.equal(state, torch.random.get_rng_state())
    area = auroc(one.router.logits(test.x), test.ready)
    assert area is not None
    assert area > 0.8


def test_another_seed_gives_another_router() -> None:
    train, validation = pairs_of(8), pairs_of(4, seed=1)
    one, other = (fit(train, validation, replace(QUICK, seed=seed)).router for seed in (0, 1))
    assert digest(one) != digest(other)


def test_training_stops_after_its_patience_and_keeps_the_best_checkpoint() -> None:
    train, validation = pairs_of(4), pairs_of(6, seed=1)
    settings = replace(QUICK, epochs=200, patience=3, learning_rate=0.05, monitor="log_loss")
    heard: list[Epoch] = []
    fitted = fit(train, validation, settings, heard.append)
    assert tuple(heard) == fitted.curve
    assert len(fitted.curve) == fitted.best + 3 < 200
    values = [epoch.validation for epoch in fitted.curve]
    assert fitted.best == int(np.argmax(values)) + 1


def test_bad_pairs_and_settings_are_refused_in_a_sentence() -> None:
    train, validation = pairs_of(4), pairs_of(4, seed=1)
    x = train.x.copy()
    x[0, 0] = np.inf
    with pytest.raises(BadInput, match="feature number 1 of the training pairs is inf in row 1"):
        fit(replace(train, x=x), validation, QUICK)
    with pytest.raises(BadInput, match="the validation pairs hold KEEP only"):
        fit(train, validation.where(~validation.ready), QUICK)
    with pytest.raises(BadInput, match="training has 5 features, validation 6"):
        fit(train, pairs_of(4, width=6), QUICK)
    with pytest.raises(BadInput, match="monitor: is 'accuracy', none of log_loss"):
        TrainSettings(monitor="accuracy")
    with pytest.raises(BadInput, match="training diverged in epoch"):
        fit(train, validation, replace(QUICK, learning_rate=1e25))


flags = st.lists(st.booleans(), min_size=2, max_size=60).map(
    lambda rows: np.array([True, False, *rows])
)


@given(flags, st.integers(0, 5), st.sampled_from([1.0, 4.0]))
def test_oversampling_repeats_the_rare_class_only(
    ready: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], seed: int, majority: float
) -> None:
    rows = Oversample(majority).rows(ready, np.random.default_rng(seed))
    counts = np.bincount(rows, minlength=len(ready))
    assert counts.min() >= 1
    rare, common = sorted((int(ready.sum()), int((~ready).sum())))
    assert len(rows) == common + max(rare, round(common / majority))
    if rare < common:
        assert (counts[ready == (ready.sum() == common)] == 1).all()


@given(flags, st.integers(0, 5), st.floats(0.1, 0.9))
def test_a_ready_share_is_met_to_a_row(
    ready: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], seed: int, share: float
) -> None:
    rows = ReadyShare(share).rows(ready, np.random.default_rng(seed))
    assert len(rows) == len(ready)
    assert abs(int(ready[rows].sum()) - share * len(ready)) <= 1


@pytest.mark.parametrize("sampling", [EveryRow(), Oversample(4.0), ReadyShare(0.3)])
def test_sampling_weighs_classes_by_how_often_they_are_seen(sampling: Sampling) -> None:
    ready = np.random.default_rng(0).random(5000) < 0.9
    seen = ready[sampling.rows(ready, np.random.default_rng(1))]
    weights = sampling.weights(ready)
    odds = seen.mean() / (1 - seen.mean()) / (ready.mean() / (1 - ready.mean()))
    assert weights.ready / weights.keep == pytest.approx(odds, rel=0.01)


@given(st.lists(st.tuples(st.floats(-9, 9), st.booleans()), min_size=1, max_size=9))
def test_focal_without_focus_or_balance_is_cross_entropy(rows: list[tuple[float, bool]]) -> None:
    logit = torch.tensor([z for z, _ in rows])
    ready = torch.tensor([float(y) for _, y in rows])
    focal = BalancedFocal(beta=0.0, gamma=0.0).counting(5, 90)(logit, ready)
    assert float(focal) == pytest.approx(float(WeightedBce()(logit, ready)), rel=1e-5, abs=1e-6)


def test_focal_weighs_the_rare_class_more_and_sure_pairs_less() -> None:
    weights = BalancedFocal(beta=0.9999).counting(9000, 600).weights
    assert weights.keep > 5 * weights.ready
    assert weights.keep + weights.ready == pytest.approx(2.0)
    ready = torch.tensor([1.0])
    sure, unsure = torch.tensor([3.0]), torch.tensor([0.0])
    plain, focal = WeightedBce(), BalancedFocal(beta=0.0, gamma=2.0)
    assert focal(sure, ready) / plain(sure, ready) < focal(unsure, ready) / plain(unsure, ready)


def test_a_network_can_be_taught_probabilities() -> None:
    """Two kinds of rows, told 0.9 and 0.2: neither class, and it says so."""
    x = np.tile(np.array([[0.0], [1.0]], np.float32), (400, 1))
    wanted = np.tile([0.9, 0.2], 400)
    settings = TrainSettings(hidden=8, dropout=0.0, learning_rate=1e-2, batch=64, epochs=40)
    network, again = (taught(x, wanted, standardisation(x), settings) for _ in range(2))
    assert sigmoid(network.logits(x[:2])) == pytest.approx([0.9, 0.2], abs=0.02)
    np.testing.assert_array_equal(network.logits(x), again.logits(x))


def test_networks_side_by_side_answer_with_their_mean() -> None:
    x = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    wanted = (x[:, 0] > 0).astype(float)
    parts = [
        taught(x, wanted, standardisation(x), TrainSettings(hidden=5, epochs=2, seed=seed))
        for seed in range(3)
    ]
    mean = np.mean([part.logits(x) for part in parts], axis=0)
    np.testing.assert_allclose(side_by_side(parts).logits(x), mean, atol=1e-6)


def test_teaching_that_diverges_is_one_sentence() -> None:
    x = np.array([[np.nan], [1.0]], np.float32)
    with pytest.raises(BadInput, match="diverged in epoch 1; lower the learning rate"):
        taught(x, np.array([0.5, 0.5]), standardisation(x), TrainSettings(hidden=4))
