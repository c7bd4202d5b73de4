"""What training minimises, and which rows an epoch sees.

Losses and samplings that favour a class change what a score means; each says by which weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  as everybody writes it
from numpy.typing import NDArray
from torch import Tensor

from statecomp.errors import BadInput
from statecomp.router.pairs import Flags
from statecomp.router.threshold import UNWEIGHTED, LossWeights

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WeightedBce:
    """Equation of the weighted BCE in appendix B.2; the experiments set w_0 to one."""

    weights: LossWeights = UNWEIGHTED

    def __call__(self, logit: Tensor, ready: Tensor) -> Tensor:
        weight = self.weights.ready * ready + self.weights.keep * (1.0 - ready)  # (batch,)
        return F.binary_cross_entropy_with_logits(logit, ready, weight=weight)

    def counting(self, ready: int, keep: int) -> WeightedBce:
        """The loss for a training set with so many pairs of each class."""
        return self


@dataclass(frozen=True, slots=True)
class BalancedFocal:
    """Easy pairs fade by (1 - p_t)^gamma; a class of n pairs weighs (1 - beta) / (1 - beta^n).

    The two weights are scaled to a mean of one.  A focal optimum is no posterior even without
    weights, so these scores want calibration before they meet a cost threshold.
    """

    beta: float = 0.9999
    gamma: float = 3.0
    weights: LossWeights = UNWEIGHTED

    def __post_init__(self) -> None:
        if not 0.0 <= self.beta < 1.0:
            raise BadInput(f"must lie in [0, 1), not {self.beta}", field="beta")
        if self.gamma < 0.0:
            raise BadInput(f"must not be negative, not {self.gamma}", field="gamma")

    def __call__(self, logit: Tensor, ready: Tensor) -> Tensor:
        surprise = F.binary_cross_entropy_with_logits(logit, ready, reduction="none")  # (batch,)
        weight = self.weights.ready * ready + self.weights.keep * (1.0 - ready)  # (batch,)
        return (weight * (1.0 - torch.exp(-surprise)) ** self.gamma * surprise).mean()

    def counting(self, ready: int, keep: int) -> BalancedFocal:
        """The class weights, from the effective numbers of pairs."""
        rare = [1.0, 1.0]
        if self.beta:
            rare = [(1.0 - self.beta) / (1.0 - self.beta**count) for count in (ready, keep)]
        weights = LossWeights(2 * rare[0] / sum(rare), 2 * rare[1] / sum(rare))
        return BalancedFocal(self.beta, self.gamma, weights)


PLAIN = WeightedBce()
Loss: TypeAlias = WeightedBce | BalancedFocal


@dataclass(frozen=True, slots=True)
class EveryRow:
    """Each row once, in a new order."""

    def rows(self, ready: Flags, random: np.random.Generator) -> Rows:
        return random.permutation(len(ready))  # (pairs,)

    def weights(self, ready: Flags) -> LossWeights:
        return LossWeights()


@dataclass(frozen=True, slots=True)
class Oversample:
    """The rare class is repeated at random until it is one to `majority` of the other."""

    majority: float = 4.0

    def __post_init__(self) -> None:
        if not self.majority >= 1.0:
            raise BadInput(f"must be at least 1, not {self.majority}", field="majority")

    def rows(self, ready: Flags, random: np.random.Generator) -> Rows:
        rare = np.flatnonzero(ready == self._ready_is_rare(ready))  # (rare,)
        more = self._repeated(ready) - len(rare)
        rows = np.concatenate([np.arange(len(ready)), random.choice(rare, more)])
        return random.permutation(rows)  # (pairs + more,)

    def weights(self, ready: Flags) -> LossWeights:
        """A class seen twice as often weighs twice as much."""
        rare = self._ready_is_rare(ready)
        factor = self._repeated(ready) / int((ready == rare).sum())
        return LossWeights(ready=factor) if rare else LossWeights(keep=factor)

    def _ready_is_rare(self, ready: Flags) -> bool:
        return bool(2 * ready.sum() < len(ready))

    def _repeated(self, ready: Flags) -> int:
        positives = int(ready.sum())
        rare, common = sorted((positives, len(ready) - positives))
        return max(rare, round(common / self.majority))


@dataclass(frozen=True, slots=True)
class ReadyShare:
    """As many rows as there are, of which this share is READY (the positive-ratio sweep)."""

    share: float

    def __post_init__(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise BadInput(f"must lie in (0, 1), not {self.share}", field="share")

    def rows(self, ready: Flags, random: np.random.Generator) -> Rows:
        wanted = min(max(round(self.share * len(ready)), 1), len(ready) - 1)
        positives = _draw(np.flatnonzero(ready), wanted, random)
        negatives = _draw(np.flatnonzero(~ready), len(ready) - wanted, random)
        return random.permutation(np.concatenate([positives, negatives]))  # (pairs,)

    def weights(self, ready: Flags) -> LossWeights:
        found = float(ready.mean())
        return LossWeights(ready=self.share / found, keep=(1.0 - self.share) / (1.0 - found))


def _draw(rows: Rows, count: int, random: np.random.Generator) -> Rows:
    """Whole rounds of all rows first, so that a row repeats only where it must."""
    rounds, rest = divmod(count, len(rows))
    return np.concatenate([np.repeat(rows, rounds), random.choice(rows, rest, replace=False)])


EVERY_ROW = EveryRow()
Sampling: TypeAlias = EveryRow | Oversample | ReadyShare
