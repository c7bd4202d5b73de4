"""From a logit to a probability: as it is, by a temperature, by Platt's line, or by a bent one.

The fits minimise the log loss on validation pairs by Newton's method, with Platt's softened
targets, so that a perfectly parted validation set does not send the slope to infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from statecomp.errors import BadInput
from statecomp.router.pairs import Flags, Floats
from statecomp.router.threshold import UNWEIGHTED, LossWeights

MARGIN = 1e-9
"""Scores stay this far from 0 and 1, so a threshold of one selects nothing."""
FLATTEST = 1e-3
"""A slope of at least this: calibration must not turn the ranking round."""
STEPS = 100


def sigmoid(logit: Floats) -> Floats:
    """1 / (1 + exp(-z)) without overflow, a little away from 0 and 1."""
    small = np.exp(-np.abs(logit))  # (pairs,)
    score = np.where(logit >= 0, 1.0, small) / (1.0 + small)  # (pairs,)
    return np.clip(score, MARGIN, 1.0 - MARGIN)


@dataclass(frozen=True, slots=True)
class Raw:
    """The score the loss was trained on."""

    def apply(self, logit: Floats) -> Floats:
        return sigmoid(logit)


@dataclass(frozen=True, slots=True)
class Temperature:
    """p = sigmoid((z - shift) / temperature), where shift = log(w_1/w_0) takes weights back."""

    temperature: float
    shift: float = 0.0

    def apply(self, logit: Floats) -> Floats:
        return sigmoid((logit - self.shift) / self.temperature)


@dataclass(frozen=True, slots=True)
class Platt:
    """p = sigmoid(slope * z + bias)."""

    slope: float
    bias: float

    def apply(self, logit: Floats) -> Floats:
        return sigmoid(self.slope * logit + self.bias)


@dataclass(frozen=True, slots=True)
class Beta:
    """p = sigmoid(low * log s - high * log(1 - s) + bias) for the raw score s (Kull et al. 2017).

    A line whose slope is `low` where KEEP is likely and `high` where READY is.  Who learned from
    forecasts needs the two: a reader seldom says 99.9 %, and where it says 97 it often could.
    """

    low: float
    high: float
    bias: float

    def apply(self, logit: Floats) -> Floats:
        doubt, trust = _sides(logit)
        return sigmoid(self.low * doubt + self.high * trust + self.bias)


Calibration: TypeAlias = Raw | Temperature | Platt | Beta


def fit_raw(logit: Floats, ready: Flags, weights: LossWeights = UNWEIGHTED) -> Raw:
    """Nothing to fit; the same shape as the others."""
    return Raw()


def fit_temperature(logit: Floats, ready: Flags, weights: LossWeights = UNWEIGHTED) -> Temperature:
    """The best slope through the origin, once the weights of the loss are taken back."""
    shift = float(np.log(weights.ready / weights.keep))
    (slope,) = _newton(logit[:, None] - shift, _targets(ready))
    return Temperature(temperature=1.0 / max(slope, FLATTEST), shift=shift)


def fit_platt(logit: Floats, ready: Flags, weights: LossWeights = UNWEIGHTED) -> Platt:
    """The best slope and bias; the bias takes the weights back by itself."""
    targets = _targets(ready)  # (pairs,)
    slope, bias = _newton(np.stack([logit, np.ones_like(logit)], axis=1), targets)
    if slope >= FLATTEST:
        return Platt(slope, bias)
    # These logits rank validation pairs the wrong way: say the prevalence, nearly flat.
    mean = float(targets.mean())
    return Platt(FLATTEST, float(np.log(mean / (1 - mean)) - FLATTEST * logit.mean()))


def fit_beta(logit: Floats, ready: Flags, weights: LossWeights = UNWEIGHTED) -> Beta:
    """The best two slopes and bias; Platt's line where the better one would turn the ranking."""
    design = np.stack([*_sides(logit), np.ones_like(logit)], axis=1)  # (pairs, 3)
    low, high, bias = _newton(design, _targets(ready))
    if min(low, high) >= FLATTEST:
        return Beta(low, high, bias)
    line = fit_platt(logit, ready, weights)
    return Beta(line.slope, line.slope, line.bias)


CALIBRATIONS: Mapping[str, Callable[[Floats, Flags, LossWeights], Calibration]] = {
    "raw": fit_raw,
    "temperature": fit_temperature,
    "platt": fit_platt,
    "beta": fit_beta,
}


def _sides(logit: Floats) -> tuple[Floats, Floats]:
    """log s and -log(1 - s) of the raw score s: their sum is the logit."""
    return -np.logaddexp(0.0, -logit), np.logaddexp(0.0, logit)


def _targets(ready: Flags) -> Floats:
    positives = int(ready.sum())
    negatives = len(ready) - positives
    if not positives or not negatives:
        only = "READY" if positives else "KEEP"
        raise BadInput(f"the validation pairs hold {only} only; calibration needs both classes")
    return np.where(ready, (positives + 1) / (positives + 2), 1 / (negatives + 2))  # (pairs,)


def _newton(design: Floats, targets: Floats) -> list[float]:
    """Minimises the log loss of sigmoid(design @ w), which is convex, by damped steps."""
    weights = np.zeros(design.shape[1])  # (columns,)
    ridge = 1e-9 * np.eye(len(weights))  # (columns, columns)  for constant logits
    loss = _loss(design @ weights, targets)
    for _ in range(STEPS):
        score = sigmoid(design @ weights)  # (pairs,)
        gradient = design.T @ (score - targets) / len(targets)  # (columns,)
        curved = design * (score * (1.0 - score))[:, None]  # (pairs, columns)
        step = np.linalg.solve(design.T @ curved / len(targets) + ridge, gradient)  # (columns,)
        while (tried := _loss(design @ (weights - step), targets)) > loss + 1e-15:
            step = step / 2
        weights, gained, loss = weights - step, loss - tried, tried
        if gained < 1e-14:
            break
    return [float(weight) for weight in weights]


def _loss(logit: Floats, targets: Floats) -> float:
    return float((np.logaddexp(0.0, logit) - targets * logit).mean())


def as_json(calibration: Calibration) -> dict[str, Any]:
    """As a bundle keeps it."""
    return {"kind": type(calibration).__name__.lower(), **asdict(calibration)}


def from_json(record: object) -> Calibration:
    """The reverse; anything else is refused."""
    kinds: dict[str, type[Calibration]] = {
        kind.__name__.lower(): kind for kind in (Raw, Temperature, Platt, Beta)
    }
    try:
        if not isinstance(record, dict):
            raise TypeError
        numbers = {name: float(value) for name, value in record.items() if name != "kind"}
        calibration = kinds[record["kind"]](**numbers)
    except (KeyError, TypeError, ValueError) as error:
        problem = f"is none of {', '.join(kinds)}: {record!r}"
        raise BadInput(problem, field="calibration") from error
    signed = ("bias", "shift")
    if not all(np.isfinite(n) and (name in signed or n > 0) for name, n in numbers.items()):
        raise BadInput(f"holds a number that cannot be: {record!r}", field="calibration")
    return calibration
