"""The router's input for each row of a table: vectors, aggregations, evidence side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.labels import Labels
from statecomp.errors import BadInput
from statecomp.features.context import nearest_mean
from statecomp.features.evidence import NAMES, EvidenceReader
from statecomp.router.hidden.spec import Spec
from statecomp.router.pairs import Features, Numbers, Pairs
from statecomp.router.supervision import pairs_at, prefixes
from statecomp.vectors.shelf import Vectors

Places = NDArray[np.intp]
TOP = 4
AGE = ("age_log", "age_inverse")


def top_mean(vectors: Vectors, top: int = TOP) -> Features:
    """r_k by same-prefix selection: the mean of the candidates nearest to the current state."""
    out = np.zeros_like(vectors.candidate)  # (pairs, d)
    state = vectors.state  # (pairs,)
    for place in range(int(state.max(initial=-1)) + 1):
        rows = np.flatnonzero(state == place)  # (targets,)
        out[rows] = nearest_mean(vectors.candidate[rows], vectors.current[rows[0]], top)
    return out


def inputs(vectors: Vectors, reads: Spec) -> Features:
    """What a router that reads this sees of each pair; columns as `Spec.columns` names them."""
    parts = [vectors.candidate, vectors.current]
    if reads.nearest:
        parts.append(top_mean(vectors))
    if reads.recurrent:
        parts.insert(0, state_column(vectors))
    if reads.evidence:
        parts.append(evidence_of(vectors))
    return np.concatenate(parts, axis=1).astype(np.float32)  # (pairs, width)


def similarity(vectors: Vectors) -> Features:
    """How near each candidate is to the current state, by cosine."""
    dots = (vectors.candidate * vectors.current).sum(axis=1)  # (pairs,)
    norms = np.linalg.norm(vectors.candidate, axis=1) * np.linalg.norm(vectors.current, axis=1)
    cosine: Features = (dots / np.maximum(norms, 1e-12)).astype(np.float32)  # (pairs,)
    return cosine[:, None]  # (pairs, 1)


def state_column(vectors: Vectors) -> Features:
    """What the GRU finds histories by."""
    return vectors.state.astype(np.float32)[:, None]  # (pairs, 1)


def evidence_of(vectors: Vectors) -> Features:
    """Evidence at the same pairs, one row each."""
    out = np.zeros((len(vectors.run), len(NAMES)), np.float32)  # (pairs, evidence)
    for place, reading in enumerate(vectors.readings):
        rows = np.flatnonzero(vectors.run == place)  # (pairs of the run,)
        asked = _by_checkpoint(rows, vectors.checkpoint)
        reader = EvidenceReader()
        for k, prefix in prefixes(reading):
            if k in asked:
                _, x = reader.read(prefix)  # (interactions, evidence)
                out[asked[k]] = x[vectors.number[asked[k]] - 1]
    return out


def _by_checkpoint(rows: Places, checkpoint: Numbers) -> dict[int, Places]:
    return {int(k): rows[checkpoint[rows] == k] for k in np.unique(checkpoint[rows])}


def evidence_columns(names: Iterable[str]) -> list[int]:
    return [NAMES.index(name) for name in names]


def labelled(
    vectors: Vectors,
    labels: Labels,
    parts: Sequence[Features],
    forecasts: Forecasts | None = None,
) -> Pairs:
    """Pairs whose x is these parts side by side; every run must have its labels."""
    without = [reading.id for reading in vectors.readings if reading.id not in labels]
    if without:
        problem = f"hold none for run {without[0]!r}, whose features were given"
        raise BadInput(problem, field="labels")
    x = np.concatenate(list(parts), axis=1).astype(np.float32)  # (pairs, width)
    places = (vectors.run, vectors.number, vectors.checkpoint)
    return pairs_at(vectors.readings, x, places, labels, forecasts)
