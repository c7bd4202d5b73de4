"""Vectors squeezed into a few columns before a learner that wants few: principal components.

They are fitted on the training pairs alone, like everything else that is fitted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from statecomp.router.cross import Learner
from statecomp.router.network import Router
from statecomp.router.pairs import Features, Floats, Pairs
from statecomp.router.threshold import LossWeights

ROWS = 4_096
"""Rows the components are computed from, spread evenly over the training pairs."""


@dataclass(frozen=True)
class Projection:
    """The leading `len(mean)` columns become components; the others stay as they are."""

    mean: Features  # (vectors,)
    components: Features  # (kept, vectors)

    def apply(self, x: Features) -> Features:
        wide = len(self.mean)
        squeezed = (x[:, :wide] - self.mean) @ self.components.T  # (pairs, kept)
        return np.concatenate([squeezed, x[:, wide:]], axis=1).astype(np.float32)


@dataclass(frozen=True)
class CompressedRouter:
    """A router behind a projection."""

    projection: Projection
    inner: Router
    width: int
    kind: str = "compressed"

    def logits(self, x: Features) -> Floats:
        return self.inner.logits(self.projection.apply(x))  # (pairs,)


@dataclass(frozen=True)
class FittedCompressed:
    router: CompressedRouter
    weights: LossWeights


@dataclass(frozen=True)
class CompressedSettings:
    """`inner` learns from `kept` components of the first `vectors` columns, and all the others."""

    inner: Learner
    vectors: int
    kept: int = 24

    def fit(self, train: Pairs, validation: Pairs) -> FittedCompressed:
        train.checked("the training pairs")
        projection = fit_projection(train.x[:, : self.vectors], self.kept)
        squeezed = (replace(part, x=projection.apply(part.x)) for part in (train, validation))
        fitted = self.inner.fit(*squeezed)
        router = CompressedRouter(projection, fitted.router, train.width)
        return FittedCompressed(router, fitted.weights)


def fit_projection(x: Features, kept: int) -> Projection:
    """The directions in which these rows differ most."""
    some = x[:: max(1, len(x) // ROWS)]  # (rows, vectors)
    mean = some.mean(axis=0)  # (vectors,)
    _, _, directions = np.linalg.svd(some - mean, full_matrices=False)  # (rank, vectors)
    components = directions[:kept]  # (kept, vectors)
    # The sign of a direction is arbitrary: its largest entry is made positive, on every machine.
    largest = components[np.arange(len(components)), np.abs(components).argmax(axis=1)]
    return Projection(mean, components * np.sign(largest)[:, None])
