"""The router's input: candidate, current state and context side by side, with a name a column.

x_ik = [h_i; q_k; r_ik] (appendix B.1 of the paper).  The context r is the mean of the `top`
candidates of the same prefix that are nearest to the current state by cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from statecomp.errors import BadInput

Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AssembleSettings:
    """`pairwise` adds the product and the difference of candidate and current state."""

    top: int = 4
    pairwise: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceColumns:
    """Columns that were counted, not read by a model: one row for each candidate."""

    values: Floats  # (n, e)
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Features:
    """The rows are in the order of the candidates."""

    values: Floats  # (n, columns)
    names: tuple[str, ...]


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


def assemble(
    candidates: Floats,
    current: Floats,
    evidence: EvidenceColumns | None = None,
    settings: AssembleSettings = AssembleSettings(),
) -> Features:
    """One row for each candidate: (n, d) and (d,) become (n, columns)."""
    rows, width = candidates.shape
    state = np.broadcast_to(current, (rows, width))  # (n, d)
    context = np.broadcast_to(nearest_mean(candidates, current, settings.top), (rows, width))
    blocks = {"candidate": candidates, "current": state, "context": context}
    if settings.pairwise:
        blocks |= {"product": candidates * state, "difference": candidates - state}
    values = [*blocks.values()]
    names = columns(tuple(blocks), width)
    if evidence is not None:
        if evidence.values.shape != (rows, len(evidence.names)):
            shape = "x".join(map(str, evidence.values.shape))
            raise BadInput(f"evidence of shape {shape} does not fit {rows} candidates")
        values.append(evidence.values)
        names = (*names, *evidence.names)
    return Features(np.concatenate(values, axis=1).astype(np.float32), names)  # (n, columns)


def columns(blocks: Sequence[str], width: int) -> tuple[str, ...]:
    return tuple(f"{block}.{place}" for block in blocks for place in range(width))
