"""Calibration finds the map that made the labels, keeps the ranking, and survives JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.errors import BadInput
from statecomp.router.calibrate import (
    CALIBRATIONS,
    Beta,
    Calibration,
    Platt,
    Raw,
    Temperature,
    as_json,
    fit_beta,
    fit_platt,
    fit_temperature,
    from_json,
    sigmoid,
)
from statecomp.router.metrics import ece, log_loss
from statecomp.router.pairs import Flags, Floats
from statecomp.router.threshold import UNWEIGHTED, LossWeights


def drawn(slope: float, bias: float, count: int = 40_000) -> tuple[Floats, Flags]:
    """Logits, and labels that are READY with probability sigmoid(slope * z + bias)."""
    random = np.random.default_rng(1)
    logit = random.normal(size=count) * 2
    return logit, random.random(count) < sigmoid(slope * logit + bias)


def test_platt_finds_slope_and_bias() -> None:
    found = fit_platt(*drawn(0.5, -1.0))
    assert found.slope == pytest.approx(0.5, abs=0.03)
    assert found.bias == pytest.approx(-1.0, abs=0.05)


def test_temperature_finds_the_slope_once_the_weights_are_taken_back() -> None:
    logit, ready = drawn(0.4, 0.0)
    weights = LossWeights(ready=5.0)
    found = fit_temperature(logit + np.log(5.0), ready, weights)
    assert found.temperature == pytest.approx(2.5, abs=0.1)
    assert found.shift == pytest.approx(np.log(5.0))


def test_beta_finds_a_slope_for_each_side_where_one_line_does_not_fit() -> None:
    logit, _ = drawn(1.0, 0.0)
    truth = Beta(low=0.6, high=2.0, bias=-0.8)
    ready = np.random.default_rng(2).random(len(logit)) < truth.apply(logit)
    found = fit_beta(logit, ready)
    assert found.low == pytest.approx(0.6, abs=0.05)
    assert found.high == pytest.approx(2.0, abs=0.1)
    assert found.bias == pytest.approx(-0.8, abs=0.1)
    bent, line = (log_loss(c.apply(logit), ready) or 0.0 for c in (found, fit_platt(logit, ready)))
    assert bent < line - 0.001


def test_beta_with_equal_slopes_is_a_line() -> None:
    logit = np.linspace(-30, 30, 61)
    line, bent = Platt(0.7, 0.2), Beta(0.7, 0.7, 0.2)
    np.testing.assert_allclose(bent.apply(logit), line.apply(logit), rtol=1e-9)


def test_beta_is_a_line_where_two_slopes_would_turn_the_ranking() -> None:
    random = np.random.default_rng(3)
    logit = random.normal(size=4_000) * 2
    ready = random.random(4_000) < sigmoid(1.5 * np.abs(logit) - 1.0)
    found = fit_beta(logit, ready)
    assert found.low == found.high


def test_fitting_lowers_the_calibration_error() -> None:
    logit, ready = drawn(0.5, 1.0)
    errors = {
        kind: ece(fit(logit, ready, UNWEIGHTED).apply(logit), ready)
        for kind, fit in CALIBRATIONS.items()
    }
    assert errors["platt"] is not None
    assert errors["raw"] is not None
    assert errors["platt"] < 0.02 < errors["raw"]


def test_no_slope_near_the_found_one_has_a_lower_loss() -> None:
    logit, ready = drawn(0.7, 0.3)
    found = fit_platt(logit, ready)
    best = log_loss(found.apply(logit), ready)
    assert best is not None
    for slope, bias in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
        other = log_loss(Platt(found.slope + slope, found.bias + bias).apply(logit), ready)
        assert other is not None
        assert other > best


@given(st.lists(st.tuples(st.floats(-50, 50), st.booleans()), min_size=2, max_size=30))
def test_calibration_never_turns_a_ranking_round(rows: list[tuple[float, bool]]) -> None:
    logit = np.array([z for z, _ in rows])
    ready = np.array([y for _, y in rows])
    if ready.all() or not ready.any():
        return
    order = np.argsort(logit, kind="stable")
    for fit in CALIBRATIONS.values():
        scores = fit(logit, ready, UNWEIGHTED).apply(logit)[order]
        assert np.isfinite(scores).all()
        assert (np.diff(scores) >= -1e-12).all()


def test_parted_classes_give_a_finite_slope() -> None:
    logit = np.array([-3.0, -2.0, 2.0, 3.0])
    assert 0 < fit_platt(logit, logit > 0).slope < 100


@given(st.floats(-1e6, 1e6))
def test_a_score_is_never_quite_zero_or_one(logit: float) -> None:
    assert 0.0 < float(sigmoid(np.array([logit]))[0]) < 1.0


@pytest.mark.parametrize(
    "calibration", [Raw(), Temperature(1.7, 0.2), Platt(0.3, -1.25), Beta(0.5, 2.0, -1.0)]
)
def test_json_gives_the_same_calibration_back(calibration: Calibration) -> None:
    assert from_json(json.loads(json.dumps(as_json(calibration)))) == calibration


@pytest.mark.parametrize(
    "record",
    [None, {}, {"kind": "other"}, {"kind": "platt", "slope": 1.0}, {"kind": "raw", "x": 1}],
)
def test_an_unknown_calibration_is_refused(record: object) -> None:
    with pytest.raises(BadInput, match="calibration: is none of raw, temperature, platt, beta"):
        from_json(record)


def test_a_calibration_that_would_turn_the_ranking_round_is_refused() -> None:
    with pytest.raises(BadInput, match="calibration: holds a number that cannot be"):
        from_json({"kind": "platt", "slope": -1.0, "bias": 0.0})


def test_one_class_cannot_be_calibrated() -> None:
    with pytest.raises(BadInput, match="the validation pairs hold READY only"):
        fit_platt(np.zeros(3), np.ones(3, np.bool_))
