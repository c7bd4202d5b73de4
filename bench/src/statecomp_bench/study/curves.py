"""What the router figures show: out-of-fold scores, and how quality moves with data and length."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from statecomp.errors import BadInput
from statecomp.router.committee import Committee
from statecomp.router.cross import DEFAULT, Choice, CrossValidated, Learner, cross_validate
from statecomp.router.folds import Fold, learning_more, rotations
from statecomp.router.metrics import THIRDS, length_edges, measures
from statecomp.router.pairs import Flags, Floats, Numbers, Pairs
from statecomp.router.pipeline import Material, TrainingPlan, corpus_of
from statecomp.router.threshold import NOTHING

MEMBERS = Committee().parts
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
    learners: Mapping[str, Learner],
    seed: int = 0,
    fractions: Sequence[float] = FRACTIONS,
    progress: Progress = lambda stage: None,
    only_learned: Collection[str] = (),
    choice: Choice = DEFAULT,
) -> RouterStudy:
    """Five rotations by group with the whole training part, then with less and less of it.

    Runs that are `only_learned` from are neither tuned nor judged on.
    """
    runs = pairs.catalogue()
    judged = [run for run in runs if run.name not in only_learned]
    more = [run for run in runs if run.name in only_learned]
    folds = learning_more(rotations(judged, seed=seed), judged, more, seed=seed)
    by_fraction: dict[float, CrossValidated] = {}
    for fraction in sorted(fractions, reverse=True):
        progress(f"{fraction:.0%} of the training runs")
        cut = [_with_less(fold, pairs, fraction, seed) for fold in folds]
        by_fraction[fraction] = cross_validate(pairs, cut, learners, choice)
    whole = by_fraction[max(fractions)]
    settled = (pairs.age >= 2) & np.isfinite(whole.scores)  # (pairs,)
    fold = np.full(len(pairs), -1, np.int32)  # (pairs,)
    of_run = np.array(pairs.runs)[pairs.run]  # (pairs,)
    for number, tested in enumerate(whole.folds):
        fold[np.isin(of_run, tested.fold.test)] = number
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
        lengths=_by_length(
            pairs.where(settled).of_runs(run.name for run in judged),
            whole.scores[settled],
            fold[settled],
        ),
    )


def study_shipped(
    material: Material,
    seed: int = 0,
    fractions: Sequence[float] = FRACTIONS,
    progress: Progress = lambda stage: None,
    members: int = MEMBERS,
) -> RouterStudy:
    """The recipe of the shipped router: labels and forecasts, calibrated as it is."""
    plan = TrainingPlan(seed=seed)
    corpus = corpus_of(material, plan)
    less = frozenset(run.name for run in corpus.more)
    learners: dict[str, Learner] = {
        "committee": Committee(parts=members, untrusted=less, seed=seed)
    }
    choice = Choice(calibration=plan.calibration, aim=plan.aim)
    return study_router(corpus.pairs, learners, seed, fractions, progress, less, choice)


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
