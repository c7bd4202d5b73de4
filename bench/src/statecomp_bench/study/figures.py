"""The paper's figures about the router (sections 5.2 and D.2-3), drawn for any labels.

Needs matplotlib; nothing else imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from statecomp.annotation.figures import LOOKS, STYLE, pictures
from statecomp.router.metrics import TARGET_PRECISION, ece, reliability
from statecomp.router.pairs import Flags, Floats
from statecomp_bench.study.curves import MEASURES, Curve, Curves, RouterStudy

WIDE = (9.6, 4.4)
BINS = 40
THIN = 0.8
REFERENCE: dict[str, Any] = {"color": "#444444", "linestyle": ":", "linewidth": 1.4}
NAMES = {"platt": "Platt"}
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
    edges = [place / BINS for place in range(BINS + 1)]
    classes = (("KEEP", ~study.ready, LOOKS[1]), ("READY", study.ready, LOOKS[0]))
    for name, rows, (colour, _, line) in classes:
        label = f"{name} ({int(rows.sum()):,} pairs)"
        axes.hist(
            study.scores[rows], edges, density=True, histtype="stepfilled", alpha=0.25, color=colour
        )
        axes.hist(
            study.scores[rows],
            edges,
            density=True,
            histtype="step",
            color=colour,
            linestyle=line,
            linewidth=1.8,
            label=label,
        )
    axes.set(title="Router scores by label", xlabel="calibrated score", ylabel="density")
    axes.set_xlim(0, 1)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def precision_coverage(study: RouterStudy) -> Figure:
    """Precision and coverage against the threshold, thin lines for folds, with the 98 % line."""
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = figure.add_subplot()
    (blue, _, solid), (orange, _, dashed) = LOOKS[:2]
    grid = np.linspace(0, 1, 201)[:-1]  # (thresholds,)
    for fold in range(int(study.fold.max(initial=-1)) + 1):
        rows = study.fold == fold
        precision, coverage = _selected(study.scores[rows], study.ready[rows], grid)
        axes.plot(grid, precision, solid, color=blue, linewidth=THIN, alpha=0.45)
        axes.plot(grid, coverage, dashed, color=orange, linewidth=THIN, alpha=0.45)
    precision, coverage = _selected(study.scores, study.ready, grid)
    axes.plot(grid, precision, solid, color=blue, label="precision")
    axes.plot(grid, coverage, dashed, color=orange, label="coverage")
    axes.axhline(TARGET_PRECISION, **REFERENCE, label="98 % precision")
    axes.set(title="Held-out precision and coverage", xlabel="threshold", xlim=(0, 1))
    axes.set_ylabel("share")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    figure.legend(loc="outside lower center", ncols=3)
    return figure


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
    for (kind, scores), (colour, marker, line) in zip(
        study.calibrated.items(), LOOKS, strict=False
    ):
        bins = [b for b in reliability(scores, study.ready) if b.count]
        label = f"{NAMES.get(kind, kind)}: ECE {ece(scores, study.ready):.3f}"
        axes.plot(
            [b.score or 0.0 for b in bins],
            [b.ready or 0.0 for b in bins],
            line,
            color=colour,
            marker=marker,
            label=label,
        )
    axes.set(title="Reliability", xlabel="mean score of the bin", ylabel="READY share of the bin")
    axes.set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
    axes.legend(loc="upper left")
    return figure


def training_and_length(study: RouterStudy) -> Figure:
    """Left: with a share of the training runs; right: on short, medium and long runs."""
    figure = Figure(figsize=WIDE, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _folds(left, study.fractions)
    _folds(right, study.lengths)
    left.set(title="Training data and run length", xlabel="share of the training runs")
    left.set_ylabel("on pairs with k ≥ i+2")
    right.set(xlabel="run length (thirds of the runs)")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _folds(axes: Axes, curves: Curves) -> None:
    """A thin line a fold, a thick one for their mean."""
    places = range(len(curves.places))
    for (measure, name), (colour, marker, line) in zip(MEASURES.items(), LOOKS, strict=False):
        folds = curves.folds[measure]
        for curve in folds:
            axes.plot(curves.at, _numbers(curve), line, color=colour, linewidth=THIN, alpha=0.45)
        means = [_mean([curve[place] for curve in folds]) for place in places]
        axes.plot(
            curves.at, means, line, color=colour, marker=marker, label=f"{name}, mean of folds"
        )
    axes.set_xticks(curves.at, curves.places)
    axes.set_ylim(0, 1.02)


def _numbers(curve: Curve) -> list[float]:
    return [np.nan if value is None else value for value in curve]


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return fmean(known) if known else np.nan
