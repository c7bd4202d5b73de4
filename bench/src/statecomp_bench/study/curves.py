"""What the router figures show: out-of-fold scores, and how quality moves with data and length."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import numpy as np

from statecomp.errors import BadInput
from statecomp.router.committee import Committee
from statecomp.router.cross import DEFAULT, Choice, Learner, cross_validate
from statecomp.router.folds import Fold, learning_more, rotations
from statecomp.router.metrics import THIRDS, length_edges, measures
from statecomp.router.pairs import Flags, Floats, Numbers, Pairs
from statecomp.router.pipeline import Material, TrainingPlan, corpus_of
from statecomp.router.threshold import NOTHING
from statecomp_bench.study.kept import CHOSEN, Judgement, Trial
from statecomp_bench.study.rows import PLAINLY, SETTLED, Judging

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
    calibration: str  # of `scores`
    fractions: Curves
    lengths: Curves


def study_router(
    pairs: Pairs,
    learners: Mapping[str, Learner],
    how: Judging = PLAINLY,
    fractions: Sequence[float] = FRACTIONS,
    only_learned: Collection[str] = (),
    choice: Choice = DEFAULT,
) -> RouterStudy:
    """Five rotations by group with the whole training part, then with less and less of it.

    Runs that are `only_learned` from are neither tuned nor judged on.
    """
    runs = pairs.catalogue()
    judged = [run for run in runs if run.name not in only_learned]
    more = [run for run in runs if run.name in only_learned]
    folds = learning_more(rotations(judged, seed=how.seed), judged, more, seed=how.seed)
    by_fraction: dict[float, Judgement] = {}
    for fraction in sorted(fractions, reverse=True):
        how.progress(f"{fraction:.0%} of the training runs", 1, "choose")
        cut = [_with_less(fold, pairs, fraction, how.seed) for fold in folds]
        trial = Trial(pairs, cut, learners, choice)
        by_fraction[fraction] = how.kept.once(trial, partial(_judged, trial))
    return _shown(pairs, folds, by_fraction, choice.calibration)


def _shown(
    pairs: Pairs, folds: Sequence[Fold], by_fraction: Mapping[float, Judgement], calibration: str
) -> RouterStudy:
    whole = by_fraction[max(by_fraction)].scores
    settled = (pairs.age >= 2) & np.isfinite(whole[CHOSEN])  # (pairs,)
    scores = {kind: values[settled] for kind, values in whole.items()}
    chosen, tested = scores.pop(CHOSEN), _tested(pairs, folds)[settled]
    judged = [name for fold in folds for name in fold.test]
    rising = sorted(by_fraction)
    return RouterStudy(
        scores=chosen,
        ready=pairs.ready[settled],
        fold=tested,
        calibrated=scores,
        calibration=calibration,
        fractions=_curves(
            [f"{fraction:.0%}" for fraction in rising],
            rising,
            [by_fraction[f].says for f in rising],
        ),
        lengths=_by_length(pairs.where(settled).of_runs(judged), chosen, tested),
    )


def study_shipped(
    material: Material,
    how: Judging = PLAINLY,
    fractions: Sequence[float] = FRACTIONS,
    members: int = MEMBERS,
) -> RouterStudy:
    """The shipped recipe on evidence read anew, at every checkpoint."""
    corpus = corpus_of(material, TrainingPlan(seed=how.seed))
    less = frozenset(run.name for run in corpus.more)
    return study_recipe(corpus.pairs, less, how, fractions, members)


def study_recipe(
    pairs: Pairs,
    less: Collection[str],
    how: Judging = PLAINLY,
    fractions: Sequence[float] = FRACTIONS,
    members: int = MEMBERS,
) -> RouterStudy:
    """The recipe of the shipped router: labels and forecasts, calibrated as it is; of the runs
    whose labels are trusted `less` it only learns."""
    plan = TrainingPlan(seed=how.seed)
    committee = Committee(parts=members, untrusted=frozenset(less), seed=how.seed)
    choice = Choice(calibration=plan.calibration, aim=plan.aim)
    return study_router(pairs, {"committee": committee}, how, fractions, less, choice)


def _with_less(fold: Fold, pairs: Pairs, fraction: float, seed: int) -> Fold:
    """A share of the training groups; smaller shares lie within larger ones."""
    if fraction >= 1.0:
        return fold
    group = dict(zip(pairs.runs, pairs.groups, strict=True))
    groups = sorted({group[name] for name in fold.train})
    Random(seed).shuffle(groups)
    kept = set(groups[: max(1, round(fraction * len(groups)))])
    return fold._replace(train=tuple(name for name in fold.train if group[name] in kept))


def _tested(pairs: Pairs, folds: Sequence[Fold]) -> Numbers:
    """The fold that tests each pair; -1 where none does."""
    number = {name: place for place, fold in enumerate(folds) for name in fold.test}
    return np.array([number.get(name, -1) for name in pairs.runs], np.int32)[pairs.run]


def _judged(trial: Trial) -> Judgement:
    """What each fold reached on pairs with k >= i+2, and its scores by every calibration."""
    pairs = trial.pairs
    result = cross_validate(pairs, trial.folds, trial.learners, trial.choice)
    runs = np.array(pairs.runs)[pairs.run]  # (pairs,)
    scores = {CHOSEN: result.scores}
    for judged in result.folds:
        rows = np.isin(runs, judged.fold.test)  # (pairs,)
        logit = judged.chosen.router.logits(pairs.x[rows])  # (test pairs,)
        for kind, calibration in judged.chosen.calibrations.items():
            scores.setdefault(kind, np.full(len(pairs), np.nan))[rows] = calibration.apply(logit)
    return Judgement([judged.metrics[SETTLED] for judged in result.folds], scores)


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
