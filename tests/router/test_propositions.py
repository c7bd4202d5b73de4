"""The propositions of appendix B.2, B.3 and C.2, as properties of this code."""

from __future__ import annotations

from functools import cache
from math import log

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from statecomp.controller.circumstances import JUST_AFTER
from statecomp.controller.spans import Gates, eligible_spans, selected_runs
from statecomp.errors import BadInput
from statecomp.history.history import History
from statecomp.router.calibrate import sigmoid
from statecomp.router.loss import WeightedBce
from statecomp.router.threshold import (
    NOTHING,
    Costs,
    LossWeights,
    TargetPrecision,
    operating_threshold,
)
from statecomp.testing.words import history_of

chances = st.floats(0.01, 0.99)
amounts = st.floats(0.05, 50.0)
weights = st.builds(LossWeights, ready=amounts, keep=amounts)
costs = st.builds(Costs, unsafe=amounts, miss=amounts)


def risk(score: float, posterior: float, weights: LossWeights) -> float:
    """The conditional weighted BCE, through the loss that training uses."""
    logit = torch.tensor([log(score / (1 - score))], dtype=torch.float64)
    loss = WeightedBce(weights)
    ready, keep = (float(loss(logit, torch.tensor([y], dtype=torch.float64))) for y in (1.0, 0.0))
    return posterior * ready + (1 - posterior) * keep


def label_cost(posterior: float, costs: Costs, *, select: bool) -> float:
    return costs.unsafe * (1 - posterior) if select else costs.miss * posterior


@given(chances, chances, weights)
def test_the_weighted_optimum_is_the_only_minimiser(
    posterior: float, other: float, weights: LossWeights
) -> None:
    best = weights.weighted(posterior)
    assume(abs(other - best) > 1e-3)
    assert risk(other, posterior, weights) > risk(best, posterior, weights)


@given(chances, chances, weights)
def test_excess_risk_is_a_scaled_divergence(
    p: float, posterior: float, weights: LossWeights
) -> None:
    best = weights.weighted(posterior)
    scale = weights.ready * posterior + weights.keep * (1 - posterior)
    divergence = best * log(best / p) + (1 - best) * log((1 - best) / (1 - p))
    excess = risk(p, posterior, weights) - risk(best, posterior, weights)
    assert excess == pytest.approx(scale * divergence, rel=1e-6, abs=1e-9)


@given(chances, weights)
def test_weighting_shifts_the_log_odds_and_its_inverse_shifts_them_back(
    posterior: float, weights: LossWeights
) -> None:
    weighted = weights.weighted(posterior)
    odds = log(posterior / (1 - posterior)) + log(weights.ready / weights.keep)
    assert log(weighted / (1 - weighted)) == pytest.approx(odds, abs=1e-6)
    assert weights.posterior(weighted) == pytest.approx(posterior)


@given(chances, costs)
def test_selecting_from_the_threshold_on_costs_least(posterior: float, costs: Costs) -> None:
    select = posterior >= costs.threshold
    chosen = label_cost(posterior, costs, select=select)
    other = label_cost(posterior, costs, select=not select)
    assert chosen <= other + 1e-9


@given(chances, costs)
def test_the_regret_of_the_other_decision_is_linear(posterior: float, costs: Costs) -> None:
    select = label_cost(posterior, costs, select=True)
    retain = label_cost(posterior, costs, select=False)
    assert costs.regret(posterior) == pytest.approx(abs(select - retain), abs=1e-9)


@given(chances, costs, weights)
def test_the_weighted_threshold_decides_as_the_posterior_does(
    posterior: float, costs: Costs, weights: LossWeights
) -> None:
    assume(abs(posterior - costs.threshold) > 1e-9)
    by_score = weights.weighted(posterior) >= costs.weighted_threshold(weights)
    assert by_score == (posterior >= costs.threshold)
    expected = weights.ready * costs.unsafe
    expected /= weights.ready * costs.unsafe + weights.keep * costs.miss
    assert costs.weighted_threshold(weights) == pytest.approx(expected)


@given(st.floats(-20, 20), st.booleans(), weights)
def test_the_gradient_of_the_loss_is_the_weighted_residual(
    z: float, ready: bool, weights: LossWeights
) -> None:
    """First derivative in a logit (appendix B.2)."""
    logit = torch.tensor([z], dtype=torch.float64, requires_grad=True)
    loss = WeightedBce(weights)(logit, torch.tensor([float(ready)], dtype=torch.float64))
    (gradient,) = torch.autograd.grad(loss, logit)
    weight = weights.ready if ready else weights.keep
    score = 1 / (1 + np.exp(-z))
    assert float(gradient) == pytest.approx(weight * (score - ready), rel=1e-6, abs=1e-9)


@cache
def drawn(word: str) -> History:
    return history_of(word, bulk="a line of output " * 20)


logits = st.floats(-6, 6)


@given(
    word=st.text("prro", min_size=1, max_size=14),
    data=st.data(),
    threshold=st.floats(0.05, 0.95),
    longer_than=st.integers(0, 4),
    min_source_tokens=st.sampled_from([0, 150, 400]),
)
def test_perturbations_within_the_margin_keep_all_spans(
    word: str, data: st.DataObject, threshold: float, longer_than: int, min_source_tokens: int
) -> None:
    """Appendix C.2: |g(x) - g(x~)| <= L e < |g(x) - a_tau| for every eligible interaction."""
    history = drawn(word)
    cut = log(threshold / (1 - threshold))
    full, bounded = {}, {}
    for interaction in history.interactions:
        logit = data.draw(logits.filter(lambda z: abs(z - cut) > 1e-3))
        share = data.draw(st.floats(-0.999, 0.999))
        full[interaction.id] = score_of(logit)
        bounded[interaction.id] = score_of(logit + share * abs(logit - cut))
    gates = Gates(threshold, longer_than, min_source_tokens)
    asked = gates.required(history, JUST_AFTER)
    one, other = (list(selected_runs(history, s, asked)) for s in (full, bounded))
    assert one == other
    spans, others = (eligible_spans(history, s, asked, gates) for s in (full, bounded))
    assert spans == others


def score_of(logit: float) -> float:
    return float(sigmoid(np.array([logit]))[0])


def test_costs_give_the_threshold_whatever_the_scores() -> None:
    scores, ready = np.array([0.2, 0.9]), np.array([False, True])
    aim = Costs(unsafe=9.0, miss=1.0)
    assert operating_threshold(scores, ready, aim) == pytest.approx(0.9)
    assert operating_threshold(scores, ready, aim, LossWeights(keep=9.0)) == pytest.approx(0.5)


def test_a_precision_that_validation_never_reaches_selects_nothing() -> None:
    scores, ready = np.array([0.2, 0.9]), np.array([True, False])
    assert operating_threshold(scores, ready, TargetPrecision(0.98)) == NOTHING
    assert operating_threshold(scores, ready, TargetPrecision(0.5)) == 0.2


def test_costs_weights_and_targets_must_make_sense() -> None:
    with pytest.raises(BadInput, match="unsafe-cost: must be positive, not 0"):
        Costs(unsafe=0, miss=1)
    with pytest.raises(BadInput, match="ready_weight: must be positive, not nan"):
        LossWeights(ready=float("nan"))
    with pytest.raises(BadInput, match="precision: must lie in"):
        TargetPrecision(1.5)
