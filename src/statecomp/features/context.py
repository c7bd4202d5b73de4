"""The context of a checkpoint: what the candidates nearest to its current state have in common.

It is the paper's same-prefix selection (appendix B.1): the mean of the `top` candidates of the same
prefix that are nearest to the current state by cosine.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]


def nearest_mean(candidates: Floats, current: Floats, top: int = 4) -> Floats:
    """The mean of the `top` candidates nearest to the current state; zeros where there are none."""
    if not len(candidates) or top <= 0:
        return np.zeros_like(current)  # (d,)
    norms = np.linalg.norm(candidates, axis=1) * np.linalg.norm(current)  # (n,)
    cosine = candidates @ current / np.maximum(norms, 1e-12)  # (n,)
    # A stable order: of equally near candidates the earlier one counts, on every machine.
    nearest = np.argsort(-cosine, kind="stable")[:top]  # (top,)
    mean: Floats = candidates[nearest].mean(axis=0)  # (d,)
    return mean
