"""Cross-validation: everything is chosen on train and validation; test labels come last.

Choosing gets no test pairs at all, and judging cannot change a choice: `choose` and `judge` are
apart for that reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from statecomp.errors import BadInput
from statecomp.router import metrics
from statecomp.router.calibrate import CALIBRATIONS, Calibration
from statecomp.router.folds import Fold
from statecomp.router.network import Router
from statecomp.router.pairs import Features, Flags, Floats, Pairs
from statecomp.router.threshold import (
    NOTHING,
    UNWEIGHTED,
    Aim,
    LossWeights,
    TargetPrecision,
    operating_threshold,
)

Measure = Callable[[Floats, Flags], float | None]
SELECTIONS: Mapping[str, Measure] = {
    "keep_pr_auc": metrics.keep_pr_auc,
    "ready_pr_auc": metrics.ready_pr_auc,
    "auroc": metrics.auroc,
    "coverage_at_98": metrics.coverage_at_precision,
}


SAFE = TargetPrecision()


@dataclass(frozen=True)
class Unseen:
    """Pairs as they look to what has not learned from them: with these a router is tuned."""

    logits: Floats
    ready: Flags


class Trained(Protocol):
    """What a learner gives back."""

    @property
    def router(self) -> Router: ...

    @property
    def weights(self) -> LossWeights:
        """w_1 and w_0 as its scores carry them."""
        ...


@runtime_checkable
class SelfTested(Trained, Protocol):
    """What learned from all pairs, each of them kept from parts of it that then scored it."""

    @property
    def unseen(self) -> Unseen: ...


class Learner(Protocol):
    """One configuration, such as TrainSettings, TreeSettings or Committee."""

    def fit(self, train: Pairs, validation: Pairs) -> Trained: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """How validation decides: which configuration, which calibration, which threshold."""

    select_by: str = "keep_pr_auc"
    calibration: str = "platt"
    aim: Aim = SAFE

    def __post_init__(self) -> None:
        for name, value, known in (
            ("select_by", self.select_by, SELECTIONS),
            ("calibration", self.calibration, CALIBRATIONS),
        ):
            if value not in known:
                raise BadInput(f"is {value!r}, none of {', '.join(known)}", field=name)


DEFAULT = Choice()


@dataclass(frozen=True)
class Chosen:
    """A router ready to be used or judged; `validation` is what every configuration reached."""

    name: str
    router: Router
    weights: LossWeights
    calibrations: Mapping[str, Calibration]
    calibration: Calibration
    threshold: float
    validation: Mapping[str, float]

    def scores(self, x: Features) -> Floats:
        return self.calibration.apply(self.router.logits(x))  # (pairs,)


@dataclass(frozen=True)
class JudgedFold:
    """One fold after its test labels were read; `scores` belong to the rows of its test runs.

    `calibration` holds the ECE and the reliability diagram of each way to calibrate.
    """

    fold: Fold
    chosen: Chosen
    scores: Floats
    metrics: Mapping[str, Any]
    calibration: Mapping[str, Any]


@dataclass(frozen=True)
class CrossValidated:
    """All folds, and each row as the fold that did not learn from it scores it.

    Scores are NaN where no fold tested.
    """

    folds: tuple[JudgedFold, ...]
    scores: Floats
    thresholds: Floats
    metrics: Mapping[str, Any]


Progress = Callable[[int, str], None]


def cross_validate(
    pairs: Pairs,
    folds: Sequence[Fold],
    learners: Mapping[str, Learner],
    choice: Choice = DEFAULT,
    progress: Progress = lambda fold, stage: None,
) -> CrossValidated:
    """Chooses on each fold's train and validation runs, then judges on its test runs.

    `progress` hears (fold, "choose") and (fold, "judge").
    """
    edges = metrics.length_edges(pairs)
    judged = []
    for number, fold in enumerate(folds, start=1):
        progress(number, "choose")
        chosen = choose(pairs.of_runs(fold.train), pairs.of_runs(fold.validation), learners, choice)
        progress(number, "judge")
        judged.append(judge(fold, chosen, pairs.of_runs(fold.test), edges))
    return pooled(pairs, judged, edges)


def choose(
    train: Pairs, validation: Pairs, learners: Mapping[str, Learner], choice: Choice = DEFAULT
) -> Chosen:
    """Configuration, checkpoint, calibration and threshold, from these two parts alone."""
    if not learners:
        raise BadInput("there is no configuration to train")
    measure, reached, best = SELECTIONS[choice.select_by], dict[str, float](), None
    for name, learner in learners.items():
        trained = learner.fit(train, validation)
        unseen = (
            trained.unseen
            if isinstance(trained, SelfTested)
            else Unseen(trained.router.logits(validation.x), validation.ready)
        )
        reached[name] = measure(unseen.logits, unseen.ready) or 0.0
        if best is None or reached[name] > reached[best[0]]:
            best = name, trained, unseen
    assert best is not None
    name, trained, unseen = best
    calibrations = {
        kind: fit(unseen.logits, unseen.ready, trained.weights)
        for kind, fit in CALIBRATIONS.items()
    }
    calibration = calibrations[choice.calibration]
    carried = trained.weights if choice.calibration == "raw" else UNWEIGHTED
    scores = calibration.apply(unseen.logits)  # (unseen pairs,)
    threshold = operating_threshold(scores, unseen.ready, choice.aim, carried)
    return Chosen(
        name, trained.router, trained.weights, calibrations, calibration, threshold, reached
    )


def judge(fold: Fold, chosen: Chosen, test: Pairs, edges: tuple[float, float]) -> JudgedFold:
    """The first and only look at the labels of the test runs."""
    logit = chosen.router.logits(test.x)  # (test pairs,)
    diagrams = {}
    for kind, calibration in chosen.calibrations.items():
        shown = calibration.apply(logit)  # (test pairs,)
        bins = [asdict(b) for b in metrics.reliability(shown, test.ready)]
        diagrams[kind] = {"ece": metrics.ece(shown, test.ready), "reliability": bins}
    scores = chosen.calibration.apply(logit)  # (test pairs,)
    numbers = metrics.report(scores, test, chosen.threshold, edges=edges)
    return JudgedFold(fold, chosen, scores, numbers, diagrams)


def pooled(
    pairs: Pairs, judged: Sequence[JudgedFold], edges: tuple[float, float]
) -> CrossValidated:
    """All test rows together, each held to the threshold of its own fold."""
    scores = np.full(len(pairs), np.nan)  # (pairs,)
    thresholds = np.full(len(pairs), NOTHING)  # (pairs,)
    runs = np.array(pairs.runs)[pairs.run]  # (pairs,)
    for one in judged:
        rows = np.isin(runs, one.fold.test)  # (pairs,)
        scores[rows] = one.scores
        thresholds[rows] = one.chosen.threshold
    tested = np.isfinite(scores)  # (pairs,)
    numbers = metrics.report(scores[tested], pairs.where(tested), thresholds[tested], edges=edges)
    return CrossValidated(tuple(judged), scores, thresholds, numbers)
