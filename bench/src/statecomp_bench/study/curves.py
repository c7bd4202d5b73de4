"""What the router figures show: out-of-fold scores, and how quality moves with data and length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from statecomp.errors import BadInput
from statecomp.router.cross import CrossValidated, Learner, cross_validate
from statecomp.router.folds import Fold, rotations
from statecomp.router.metrics import THIRDS, length_edges, measures
from statecomp.router.pairs import Flags, Floats, Numbers, Pairs
from statecomp.router.threshold import NOTHING

FRACTIONS = (0.1, 0.25, 0.5, 0.75, 1.0)
MEASURES: Mapping[str, str] = {"auroc": "AUROC", "keep_pr_auc": "PR-AUC KEEP"}
Curve = tuple[float | None, ...]
"""One value a place; None where a fold lacks a class."""


@dataclass(frozen=True)
class Curves:
    """By measure, one curve a fold; `at` is where a place stands on the axis."""

    places: tuple[str, ...]
    at: tuple[float, ...]
    folds: Mapping[str, tuple[Curve, ...]]


@dataclass(frozen=True)
class RouterStudy:
    """Test pairs with k >= i+2, each scored by the fold that did not learn from it."""

    scores: Floats  # (pairs,)
    ready: Flags  # (pairs,)
    fold: Numbers  # (pairs,)
    calibrated: Mapping[str, Floats]  # each (pairs,)
    fractions: Curves
    lengths: Curves


Progress = Callable[[str], None]


def study_router(
    pairs: Pairs,
    learner: Learner,
    seed: int = 0,
    fractions: Sequence[float] = FRACTIONS,
    progress: Progress = lambda stage: None,
) -> RouterStudy:
    """Five rotations by group with the whole training part, then with less and less of it."""
    folds = rotations(pairs.catalogue(), seed=seed)
    learners = {"router": learner}
    by_fraction: dict[float, CrossValidated] = {}
    for fraction in sorted(fractions, reverse=True):
        progress(f"{fraction:.0%} of the training runs")
        cut = [_with_less(fold, pairs, fraction, seed) for fold in folds]
        by_fraction[fraction] = cross_validate(pairs, cut, learners)
    whole = by_fraction[max(fractions)]
    settled = pairs.age >= 2  # (pairs,)
    fold = np.full(len(pairs), -1, np.int32)  # (pairs,)
    runs = np.array(pairs.runs)[pairs.run]  # (pairs,)
    for number, judged in enumerate(whole.folds):
        fold[np.isin(runs, judged.fold.test)] = number
    return RouterStudy(
        scores=whole.scores[settled],
        ready=pairs.ready[settled],
        fold=fold[settled],
        calibrated=_calibrated(pairs, whole, settled),
        fractions=_curves(
            [f"{fraction:.0%}" for fraction in sorted(fractions)],
            sorted(fractions),
            [[j.metrics["settled"] for j in by_fraction[f].folds] for f in sorted(fractions)],
        ),
        lengths=_by_length(pairs.where(settled), whole.scores[settled], fold[settled]),
    )


def _with_less(fold: Fold, pairs: Pairs, fraction: float, seed: int) -> Fold:
    """A share of the training groups; smaller shares lie within larger ones."""
    if fraction >= 1.0:
        return fold
    group = dict(zip(pairs.runs, pairs.groups, strict=True))
    groups = sorted({group[name] for name in fold.train})
    Random(seed).shuffle(groups)
    kept = set(groups[: max(1, round(fraction * len(groups)))])
    return fold._replace(train=tuple(name for name in fold.train if group[name] in kept))


def _calibrated(pairs: Pairs, result: CrossValidated, settled: Flags) -> dict[str, Floats]:
    """Every kind of calibration on the same logits, each row by its own fold."""
    runs = np.array(pairs.runs)[pairs.run]  # (pairs,)
    shown: dict[str, Floats] = {}
    for judged in result.folds:
        rows = np.isin(runs, judged.fold.test)  # (pairs,)
        logit = judged.chosen.router.logits(pairs.x[rows])  # (test pairs,)
        for kind, calibration in judged.chosen.calibrations.items():
            shown.setdefault(kind, np.full(len(pairs), np.nan))[rows] = calibration.apply(logit)
    return {kind: scores[settled] for kind, scores in shown.items()}


def _by_length(pairs: Pairs, scores: Floats, fold: Numbers) -> Curves:
    """Short, medium and long runs: thirds of the whole collection, judged in each fold."""
    third = np.searchsorted(np.array(length_edges(pairs)), np.array(pairs.lengths)[pairs.run])
    parts = [
        [
            measures(scores[rows], pairs.ready[rows], NOTHING)
            for rows in ((third == place) & (fold == f) for f in range(int(fold.max()) + 1))
        ]
        for place in range(len(THIRDS))
    ]
    return _curves(THIRDS, range(len(THIRDS)), parts)


def _curves(
    places: Sequence[str], at: Sequence[float], parts: Sequence[Sequence[Mapping[str, Any]]]
) -> Curves:
    if not parts or not parts[0]:
        raise BadInput("there is nothing to draw: no fold was judged")
    folds = {
        measure: tuple(
            tuple(part[fold].get(measure) for part in parts) for fold in range(len(parts[0]))
        )
        for measure in MEASURES
    }
    return Curves(tuple(places), tuple(at), folds)
