"""Where to cut: by the costs of the two mistakes, or by a precision reached on validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from statecomp.errors import BadInput
from statecomp.router.metrics import TARGET_PRECISION, threshold_at_precision
from statecomp.router.pairs import Flags, Floats

NOTHING = 1.0
"""No score reaches it (see `calibrate.MARGIN`)."""


@dataclass(frozen=True, slots=True)
class LossWeights:
    """w_1 and w_0: how much a READY and a KEEP pair count in the loss."""

    ready: float = 1.0
    keep: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("ready_weight", self.ready), ("keep_weight", self.keep)):
            if not 0.0 < value < float("inf"):
                raise BadInput(f"must be positive, not {value}", field=name)

    def weighted(self, posterior: float) -> float:
        """p*: the score that minimises the weighted loss (appendix B.2, weighted optimum)."""
        ready, keep = self.ready * posterior, self.keep * (1.0 - posterior)
        return ready / (ready + keep)

    def posterior(self, weighted: float) -> float:
        """eta, from the weighted score (appendix B.2, inverse)."""
        ready, keep = self.keep * weighted, self.ready * (1.0 - weighted)
        return ready / (keep + ready)


UNWEIGHTED = LossWeights()


@dataclass(frozen=True, slots=True)
class Costs:
    """What it costs to select a KEEP interaction, and to retain a READY one."""

    unsafe: float
    miss: float

    def __post_init__(self) -> None:
        for name, value in (("unsafe-cost", self.unsafe), ("miss-cost", self.miss)):
            if not 0.0 < value < float("inf"):
                raise BadInput(f"must be positive, not {value}", field=name)

    @property
    def threshold(self) -> float:
        """eta_0: select from this posterior on (appendix B.3, cost-sensitive selection)."""
        return self.unsafe / (self.unsafe + self.miss)

    def weighted_threshold(self, weights: LossWeights) -> float:
        """tau_w: the same rule for a score trained with these weights."""
        return weights.weighted(self.threshold)

    def regret(self, posterior: float) -> float:
        """What a decision against the rule costs at this posterior (appendix B.3)."""
        return (self.unsafe + self.miss) * abs(posterior - self.threshold)


@dataclass(frozen=True, slots=True)
class TargetPrecision:
    """Select as much as validation allows at this precision."""

    precision: float = TARGET_PRECISION

    def __post_init__(self) -> None:
        if not 0.0 < self.precision <= 1.0:
            raise BadInput(f"must lie in (0, 1], not {self.precision}", field="precision")


Aim: TypeAlias = Costs | TargetPrecision


def operating_threshold(
    scores: Floats, ready: Flags, aim: Aim, weights: LossWeights = UNWEIGHTED
) -> float:
    """The threshold for this aim; NOTHING where validation never reaches the precision.

    `weights` are those the scores still carry: calibration on unweighted pairs has undone them.
    """
    if isinstance(aim, Costs):
        return aim.weighted_threshold(weights)
    threshold = threshold_at_precision(scores, ready, aim.precision)
    return NOTHING if threshold is None else threshold
