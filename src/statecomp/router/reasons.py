"""Why a score is what it is: which features pushed it, so that a person can argue with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from statecomp.router.bundle import Bundle
from statecomp.router.pairs import Features


class Reason(NamedTuple):
    """A feature, its value here, and by how much it moves the logit towards READY."""

    feature: str
    value: float
    push: float


def reasons(bundle: Bundle, x: Features, top: int = 3) -> list[list[Reason]]:
    """For each interaction, the features that move its score most.

    A feature's push is what the logit loses when the feature is set to the median of this history:
    what makes this interaction different from its neighbours, for any kind of router.
    """
    logits = bundle.router.logits(x)  # (interactions,)
    medians = np.median(x, axis=0).astype(np.float32)  # (width,)
    push = np.empty(x.shape)  # (interactions, width)
    for column, median in enumerate(medians):
        typical = x.copy()  # (interactions, width)
        typical[:, column] = median
        push[:, column] = logits - bundle.router.logits(typical)
    order = np.argsort(-np.abs(push), axis=1)[:, :top]  # (interactions, top)
    return [
        [
            Reason(bundle.features[column], float(x[row, column]), float(push[row, column]))
            for column in columns
            if push[row, column]
        ]
        for row, columns in enumerate(order)
    ]
