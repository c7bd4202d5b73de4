"""The paper's figures about the router (sections 5.2 and D.2-3), drawn for any labels.

Needs matplotlib; nothing else imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from statecomp.annotation.figures import LOOKS, STYLE, pictures
from statecomp.router.metrics import (
    TARGET_PRECISION,
    auroc,
    coverage_at_precision,
    ece,
    reliability,
    threshold_at_precision,
)
from statecomp.router.pairs import Flags, Floats
from statecomp_bench.study.curves import MEASURES, Curve, Curves, RouterStudy

WIDE = (9.6, 4.4)
BINS = 40
SHOWN = (0.02, 0.998)
"""Scores from here to there; what lies outside stands in the last bins."""
TICKS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 0.995)
THIN = 0.8
REFERENCE: dict[str, Any] = {"color": "#444444", "linestyle": ":", "linewidth": 1.4}
NAMES = {"platt": "Platt"}
READY_LOOK, KEEP_LOOK, COVERAGE_LOOK, *OTHER_LOOKS, RANKING_LOOK = LOOKS
"""One thing looks the same in every figure; the READY share of what is taken looks as READY."""
MEASURE_LOOKS = {"auroc": RANKING_LOOK, "keep_pr_auc": KEEP_LOOK}
SURE = 0.8
"""Below it there are few pairs, so that bins there hardly count in the error."""
FEWEST = 20
"""Precision of fewer selected pairs is noise, and not drawn."""


def router_figures(study: RouterStudy, note: str = "") -> dict[str, bytes]:
    """Every figure in both formats, by file name; `note` stands below each title."""
    with mpl.rc_context(STYLE):
        return pictures(
            {
                "score_distributions": score_distributions(study),
                "precision_coverage": precision_coverage(study),
                "calibration": calibration(study),
                "training_and_length": training_and_length(study),
            },
            note,
        )


def score_distributions(study: RouterStudy) -> Figure:
    """How scores of KEEP and of READY pairs lie; each class has area one."""
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = figure.add_subplot()
    edges = _even(BINS + 1)  # (edges,)
    places = np.clip(_stretched(study.scores), edges[0], edges[-1])  # (pairs,)
    classes = (("KEEP", ~study.ready, KEEP_LOOK), ("READY", study.ready, READY_LOOK))
    for name, rows, (colour, _, line) in classes:
        hist = partial(axes.hist, places[rows], edges.tolist(), density=True, color=colour)
        hist(histtype="stepfilled", alpha=0.25)
        label = f"{name} ({int(rows.sum()):,} pairs)"
        hist(histtype="step", linestyle=line, linewidth=1.8, label=label)
    above = auroc(study.scores, study.ready)
    said = "" if above is None else f": READY above KEEP {100 * above:.0f} times in 100"
    axes.set(title=f"Router scores{said}", ylabel="density (each label has area one)")
    _score_axis(axes, "calibrated score; the outermost bars hold all beyond")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def precision_coverage(study: RouterStudy) -> Figure:
    """Precision and coverage against the threshold, thin lines for folds, with the 98 % line."""
    figure = Figure(figsize=WIDE, layout="constrained")
    left, right = figure.subplots(1, 2)
    (blue, _, solid), (green, _, dashed) = READY_LOOK, COVERAGE_LOOK
    at = _even(201)  # (thresholds,)
    grid = 1.0 / (1.0 + np.exp(-at))  # (thresholds,)
    every = np.ones(len(study.scores), np.bool_)  # (pairs,)
    folds = [study.fold == fold for fold in range(int(study.fold.max(initial=-1)) + 1)]
    for rows, width, strength in (*((fold, THIN, 0.45) for fold in folds), (every, 2.0, 1.0)):
        precision, coverage = _selected(study.scores[rows], study.ready[rows], grid)
        how: dict[str, Any] = {"linewidth": width, "alpha": strength}
        left.plot(at, precision, solid, color=blue, **how)
        right.plot(at, coverage, dashed, color=green, **how)
    left.axhline(TARGET_PRECISION, **REFERENCE)
    threshold = threshold_at_precision(study.scores, study.ready, TARGET_PRECISION)
    if threshold is not None:
        for axes in (left, right):
            axes.axvline(_stretched(np.array(threshold)).item(), **REFERENCE)
    left.set(title=_operating(study, threshold), ylabel="READY share of what is taken")
    right.set(ylabel="share of all pairs that is taken", ylim=(0, 1.02))
    for axes in (left, right):
        _score_axis(axes, "threshold")
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    return figure


def _operating(study: RouterStudy, threshold: float | None) -> str:
    if threshold is None:
        return f"No threshold above which {TARGET_PRECISION:.0%} is READY"
    share = coverage_at_precision(study.scores, study.ready)
    taken = f"{TARGET_PRECISION:.0%} of what scores {threshold:.3f} or more is READY"
    return f"{taken}: {share:.0%} of all pairs"


def _stretched(scores: Floats) -> Floats:
    """Log-odds: what matters happens close to one, where a plain axis shows nothing."""
    inside = np.clip(scores, 1e-6, 1 - 1e-6)
    odds: Floats = np.log(inside / (1.0 - inside))
    return odds


def _even(count: int) -> Floats:
    low, high = _stretched(np.array(SHOWN))
    return np.linspace(low, high, count)


def _score_axis(axes: Axes, name: str) -> None:
    axes.set_xticks(_stretched(np.array(TICKS)), [f"{tick:g}" for tick in TICKS])
    axes.set(xlabel=f"{name} (evenly in log-odds)", xlim=(*_stretched(np.array(SHOWN)),))


def _selected(scores: Floats, ready: Flags, grid: Floats) -> tuple[Floats, Floats]:
    chosen = scores[None, :] >= grid[:, None]  # (thresholds, pairs)
    count = chosen.sum(axis=1)  # (thresholds,)
    true = (chosen & ready).sum(axis=1)  # (thresholds,)
    precision = np.where(count >= FEWEST, true / np.maximum(count, 1), np.nan)  # (thresholds,)
    return precision, count / max(1, len(scores))


def calibration(study: RouterStudy) -> Figure:
    """Observed READY share against the mean score, for each way to calibrate."""
    figure = Figure(figsize=(6.4, 6.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], **REFERENCE, label="perfect")
    looks = zip(study.calibrated.items(), [*OTHER_LOOKS, RANKING_LOOK], strict=False)
    for (kind, scores), (colour, marker, line) in looks:
        bins = [b for b in reliability(scores, study.ready) if b.count]
        name, off = NAMES.get(kind, kind), ece(scores, study.ready)
        if used := kind == study.calibration:
            axes.set_title(f"Scores as used ({name}) are off by {off:.3f} on average")
        axes.plot(
            [b.score or 0.0 for b in bins],
            [b.ready or 0.0 for b in bins],
            "-" if used else line,
            color=colour,
            marker=marker,
            linewidth=2.4 if used else 1.2,
            label=f"{name}: ECE {off:.3f}",
        )
    surely = f"{np.mean(study.scores > SURE):.0%} of the pairs score over {SURE:g}"
    axes.set(xlabel=f"mean score of the bin ({surely})", ylabel="READY share of the bin")
    axes.set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
    axes.legend(loc="upper left")
    return figure


def training_and_length(study: RouterStudy) -> Figure:
    """Left: with a share of the training runs; right: on short, medium and long runs."""
    figure = Figure(figsize=WIDE, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _folds(left, study.fractions)
    _folds(right, study.lengths)
    ends = [_mean([fold[place] for fold in study.fractions.folds["auroc"]]) for place in (0, -1)]
    few, most = study.fractions.places[0], study.fractions.places[-1]
    left.set(
        title=f"AUROC {ends[0]:.3f} with {few} of the training runs, {ends[1]:.3f} with {most}",
        xlabel="share of the training runs",
        ylabel="AUROC; PR-AUC of KEEP",
    )
    lowest = min(value for curves in (study.fractions, study.lengths) for value in _all(curves))
    left.set_ylim(max(0.0, np.floor(10 * lowest) / 10), 1.0)
    right.set(xlabel="run length (thirds of the runs)")
    right.margins(x=0.15)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _folds(axes: Axes, curves: Curves) -> None:
    """A thin line a fold, a thick one for their mean."""
    places = range(len(curves.places))
    for measure, name in MEASURES.items():
        (colour, marker, line), folds = MEASURE_LOOKS[measure], curves.folds[measure]
        for curve in folds:
            axes.plot(curves.at, _numbers(curve), line, color=colour, linewidth=THIN, alpha=0.45)
        means = [_mean([curve[place] for curve in folds]) for place in places]
        axes.plot(
            curves.at, means, line, color=colour, marker=marker, label=f"{name}, mean of folds"
        )
    axes.set_xticks(curves.at, curves.places)


def _all(curves: Curves) -> list[float]:
    """Every value of every curve, and one where there are none."""
    lines = [fold for measure in MEASURES for fold in curves.folds[measure]]
    return [value for line in lines for value in line if value is not None] or [1.0]


def _numbers(curve: Curve) -> list[float]:
    return [np.nan if value is None else value for value in curve]


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return fmean(known) if known else np.nan
