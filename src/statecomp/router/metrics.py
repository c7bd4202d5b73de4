"""How well scores part READY from KEEP: ranking, operating points and calibration, exactly.

Ranking needs both classes, precision needs a selected pair: where one is missing the value is None.
READY is the positive class unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from statecomp.router.pairs import Flags, Floats, Numbers, Pairs

BINS = 10
TARGET_PRECISION = 0.98
AGES = (("1", 1, 1), ("2-3", 2, 3), ("4-7", 4, 7), ("8-15", 8, 15), ("16-31", 16, 31))
OLDEST = "32+"
THIRDS = ("short", "medium", "long")


def auroc(scores: Floats, ready: Flags) -> float | None:
    """The chance that a READY pair scores above a KEEP pair; a tie counts half."""
    positives = int(ready.sum())
    negatives = len(ready) - positives
    if not positives or not negatives:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # (values,)  the mean rank of each value
    above = float(ranks[place][ready].sum()) - positives * (positives + 1) / 2
    return above / (positives * negatives)


def average_precision(scores: Floats, positive: Flags) -> float | None:
    """PR-AUC as the sum of precision over steps of recall; tied scores enter together."""
    positives = int(positive.sum())
    if not positives or positives == len(positive):
        return None
    _, true, selected = _sweep(scores, positive)
    gained = np.diff(true, prepend=0)  # (values,)
    return float((gained * true / selected).sum() / positives)


def ready_pr_auc(scores: Floats, ready: Flags) -> float | None:
    return average_precision(scores, ready)


def keep_pr_auc(scores: Floats, ready: Flags) -> float | None:
    """The same curve with KEEP as the class to find, by the score turned round."""
    return average_precision(-scores, ~ready)


def _sweep(scores: Floats, positive: Flags) -> tuple[Floats, Numbers, Numbers]:
    """Each distinct score as a threshold, highest first: how many positives, how many in all."""
    order = np.argsort(-scores, kind="stable")  # (pairs,)
    ordered = scores[order]  # (pairs,)
    last = np.flatnonzero(np.diff(ordered, append=-np.inf))  # (values,)
    true = np.cumsum(positive[order])[last]  # (values,)
    return ordered[last], true.astype(np.int32), (last + 1).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Operating:
    """What a threshold does.  `unsafe_rate` is the share of all KEEP pairs it selects."""

    precision: float | None
    recall: float | None
    coverage: float | None
    f1: float | None
    balanced_accuracy: float | None
    unsafe_rate: float | None


def operating(scores: Floats, ready: Flags, threshold: float | Floats) -> Operating:
    """Precision, recall and coverage (appendix D.3) where scores at the threshold are selected."""
    selected = scores >= threshold  # (pairs,)
    true = int((selected & ready).sum())
    false = int((selected & ~ready).sum())
    positives = int(ready.sum())
    negatives = len(ready) - positives
    recall, unsafe = _share(true, positives), _share(false, negatives)
    halves = None if recall is None or unsafe is None else (recall + 1 - unsafe) / 2
    return Operating(
        precision=_share(true, true + false),
        recall=recall,
        coverage=_share(true + false, len(ready)),
        f1=_share(2 * true, true + false + positives),
        balanced_accuracy=halves,
        unsafe_rate=unsafe,
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def threshold_at_precision(scores: Floats, ready: Flags, target: float) -> float | None:
    """The threshold that selects most while its precision reaches the target, if any does."""
    if not len(scores):
        return None
    thresholds, true, selected = _sweep(scores, ready)
    # Whole numbers on one side: true/selected rounds, and 49/50 must count as 98 %.
    reaching = np.flatnonzero(true >= target * selected - 1e-9)
    return float(thresholds[reaching[-1]]) if len(reaching) else None


def coverage_at_precision(
    scores: Floats, ready: Flags, target: float = TARGET_PRECISION
) -> float | None:
    """The largest share that can be selected at this precision; zero where none reaches it."""
    if not len(scores):
        return None
    threshold = threshold_at_precision(scores, ready, target)
    return 0.0 if threshold is None else float((scores >= threshold).mean())


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a reliability diagram: scores in [low, high), the last bar closed."""

    low: float
    high: float
    count: int
    score: float | None
    ready: float | None


def reliability(scores: Floats, ready: Flags, bins: int = BINS) -> list[Bin]:
    """Mean score and READY share of equal-width bins."""
    edges = np.arange(bins + 1) / bins  # (bins + 1,)
    place = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, bins - 1)  # (pairs,)
    count = np.bincount(place, minlength=bins)  # (bins,)
    score = np.bincount(place, weights=scores, minlength=bins)  # (bins,)
    share = np.bincount(place, weights=ready.astype(np.float64), minlength=bins)  # (bins,)
    return [
        Bin(
            low=float(edges[b]),
            high=float(edges[b + 1]),
            count=int(count[b]),
            score=float(score[b] / count[b]) if count[b] else None,
            ready=float(share[b] / count[b]) if count[b] else None,
        )
        for b in range(bins)
    ]


def ece(scores: Floats, ready: Flags, bins: int = BINS) -> float | None:
    """The expected calibration error (appendix D.3, equation of the ECE)."""
    if not len(scores):
        return None
    gaps = (
        b.count * abs(b.ready - b.score)
        for b in reliability(scores, ready, bins)
        if b.ready is not None and b.score is not None
    )
    return sum(gaps) / len(scores)


def log_loss(scores: Floats, ready: Flags) -> float | None:
    """The mean surprise of the labels, in nats."""
    if not len(scores):
        return None
    likely = np.where(ready, scores, 1.0 - scores)  # (pairs,)
    return float(-np.log(np.maximum(likely, 1e-12)).mean())


def measures(scores: Floats, ready: Flags, threshold: float | Floats) -> dict[str, Any]:
    """Every number we report for one set of pairs; rows may have thresholds of their own."""
    return {
        "pairs": len(ready),
        "ready": int(ready.sum()),
        "prevalence": _share(int(ready.sum()), len(ready)),
        "auroc": auroc(scores, ready),
        "ready_pr_auc": ready_pr_auc(scores, ready),
        "keep_pr_auc": keep_pr_auc(scores, ready),
        "coverage_at_98": coverage_at_precision(scores, ready),
        "ece": ece(scores, ready),
        "log_loss": log_loss(scores, ready),
        **asdict(operating(scores, ready, threshold)),
    }


def report(
    scores: Floats,
    pairs: Pairs,
    threshold: float | Floats,
    *,
    edges: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Measures of everything and of each part; parts without a pair are left out.

    `edges` are the run lengths between short, medium and long: those of the whole collection, when
    one fold of it is reported.  Pooled folds bring a threshold for each row.
    """
    cuts = np.broadcast_to(threshold, len(pairs))  # (pairs,)

    def of(rows: Flags) -> dict[str, Any]:
        return measures(scores[rows], pairs.ready[rows], cuts[rows])

    def by(parts: dict[str, Flags]) -> dict[str, Any]:
        return {name: of(rows) for name, rows in parts.items() if rows.any()}

    return {
        "all": measures(scores, pairs.ready, cuts),
        "settled": of(pairs.age >= 2),
        "domain": by(_by_domain(pairs)),
        "length": by(_by_length(pairs, edges or length_edges(pairs))),
        "age": by(_by_age(pairs)),
        "reliability": [asdict(b) for b in reliability(scores, pairs.ready)],
    }


def length_edges(pairs: Pairs) -> tuple[float, float]:
    """The lengths that part the runs into thirds."""
    if not pairs.lengths:
        return 0.0, 0.0
    first, second = np.quantile(np.array(pairs.lengths), (1 / 3, 2 / 3))
    return float(first), float(second)


def _by_domain(pairs: Pairs) -> dict[str, Flags]:
    domains = np.array(pairs.domains)[pairs.run]  # (pairs,)
    return {str(name): domains == name for name in np.unique(domains)}


def _by_length(pairs: Pairs, edges: tuple[float, float]) -> dict[str, Flags]:
    third = np.searchsorted(np.array(edges), np.array(pairs.lengths)[pairs.run])  # (pairs,)
    return {name: third == place for place, name in enumerate(THIRDS)}


def _by_age(pairs: Pairs) -> dict[str, Flags]:
    age = pairs.age  # (pairs,)
    parts = {name: (age >= low) & (age <= high) for name, low, high in AGES}
    return {**parts, OLDEST: age > AGES[-1][2]}
