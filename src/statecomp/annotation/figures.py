"""The paper's figures about labels (section 5.2 and appendix D.1), drawn for any labels.

Needs matplotlib; nothing else imports this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import cycle
from statistics import fmean
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from statecomp.annotation.stats import (
    PROGRESS,
    LabelledRun,
    Measure,
    delay_cdf,
    over_progress,
    percentiles,
)

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same letters on every machine
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#666666",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "lines.markersize": 5.0,
    "legend.frameon": False,
    "text.parse_math": False,  # a file name with dollar signs is no formula
    "svg.fonttype": "path",
    "svg.hashsalt": "statecomp",  # otherwise ids in the SVG are random, and its bytes with them
}
# Okabe and Ito's colours stay apart for colour-blind readers; the markers do so in grey.
LOOKS = (
    ("#0072B2", "o", "-"),
    ("#D55E00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#CC79A7", "D", ":"),
    ("#E69F00", "v", "-"),
    ("#56B4E9", "P", "--"),
    ("#000000", "X", "-."),
)
THIRDS = ("early third", "middle third", "late third")
METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "statecomp"},
    "png": {"Software": "statecomp"},
}
PNG_DOTS_PER_INCH = 150
NOTE_POINTS, NOTE_COLUMNS = 9, 100
MARKED = (1, 2)
"""Every second point, the last among them."""


def label_figures(runs: Sequence[LabelledRun], note: str = "") -> dict[str, bytes]:
    """Every figure in both formats, by file name; `note` stands below each title."""
    with mpl.rc_context(STYLE):
        figures = {
            "readiness_by_domain": readiness_by_domain(runs),
            "readiness_overall": readiness_overall(runs),
            "delay_cdf": delay_by_position(runs),
            "span_dynamics": span_dynamics(runs),
        }
        return pictures(figures, note)


def pictures(figures: Mapping[str, Figure], note: str) -> dict[str, bytes]:
    """Each figure in both formats, by file name, with the note below its title."""
    for figure in figures.values():
        _say_below_title(figure, fill(note, NOTE_COLUMNS, break_on_hyphens=False))
    return {
        f"{name}.{suffix}": _drawn(figure, suffix, metadata)
        for name, figure in figures.items()
        for suffix, metadata in METADATA.items()
    }


def _say_below_title(figure: Figure, note: str) -> None:
    axes = figure.axes[0]
    axes.annotate(
        note,
        (0, 1),
        (0, 6),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontsize=NOTE_POINTS,
        color="#666666",
        linespacing=1.3,
    )
    pad = 10 + 1.3 * NOTE_POINTS * len(note.splitlines())
    axes.set_title(axes.get_title(loc="left"), pad=pad)


def _drawn(figure: Figure, suffix: str, metadata: dict[str, str | None]) -> bytes:
    file = BytesIO()
    figure.savefig(file, format=suffix, dpi=PNG_DOTS_PER_INCH, metadata=metadata)
    return file.getvalue()


def readiness_by_domain(runs: Sequence[LabelledRun]) -> Figure:
    """The mean READY fraction a_k over task progress, a line per domain."""
    figure, axes = _canvas("READY fraction by domain", "READY fraction of the history")
    domains = sorted({run.domain for run in runs})
    for domain, (colour, marker, line) in zip(domains, cycle(LOOKS), strict=False):
        members = [run for run in runs if run.domain == domain]
        means = [fmean(column) for column in over_progress(members, LabelledRun.readiness)]
        label = f"{domain} ({len(members)} runs)"
        axes.plot(PROGRESS, means, line, color=colour, marker=marker, markevery=MARKED, label=label)
    _over_progress(axes)
    _upright_percent(axes)
    return _with_legend(figure)


def readiness_overall(runs: Sequence[LabelledRun]) -> Figure:
    """Mean, median and 10th-90th percentile of a_k across runs: variation, not uncertainty."""
    figure, axes = _canvas("READY fraction across runs", "READY fraction of the history")
    columns = over_progress(runs, LabelledRun.readiness)
    low, middle, high = zip(*map(percentiles, columns), strict=True)
    (blue, dot, solid), (orange, square, dashed) = LOOKS[:2]
    means = [fmean(column) for column in columns]
    axes.plot(PROGRESS, means, solid, color=blue, marker=dot, markevery=MARKED, label="mean")
    axes.plot(
        PROGRESS, middle, dashed, color=orange, marker=square, markevery=MARKED, label="median"
    )
    band = "10th to 90th percentile of runs"
    axes.fill_between(PROGRESS, low, high, color=blue, alpha=0.15, linewidth=0, label=band)
    _over_progress(axes)
    _upright_percent(axes)
    return _with_legend(figure)


def delay_by_position(runs: Sequence[LabelledRun]) -> Figure:
    """The distribution of normalised delays, given a boundary, by where the interaction stood."""
    figure, axes = _canvas("Delay to READY by position", "share of interactions READY by then")
    delays = [pair for run in runs for pair in run.delays()]
    grid = (0.0, *sorted({delay for _, delay in delays}), 1.0)
    for third, (name, (colour, _, line)) in enumerate(zip(THIRDS, LOOKS, strict=False)):
        low, high = third / 3, (third + 1) / 3
        group = [delay for position, delay in delays if low < position <= high]
        places = grid if group else ()  # an empty group still has its line in the key
        label = f"{name} of the run\n({len(group):,} with a boundary)"
        shares = delay_cdf(group, places)
        axes.plot(places, shares, line, color=colour, drawstyle="steps-post", label=label)
    axes.set(xlabel="delay from the interaction to its boundary (share of the run)", xlim=(0, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    _upright_percent(axes)
    return _with_legend(figure)


def span_dynamics(runs: Sequence[LabelledRun]) -> Figure:
    """Means of J, span length and coverage c, each against its own largest mean."""
    figure, axes = _canvas("READY spans over task progress", "share of the largest mean")
    measures: tuple[tuple[str, str, Measure], ...] = (
        ("span count", "{:.1f} spans", lambda run, k: run.spans(k).spans),
        ("span length", "{:.1f} interactions", lambda run, k: run.spans(k).mean_length),
        ("coverage", "{:.0%} of the history", lambda run, k: run.spans(k).coverage),
    )
    for (name, unit, measure), (colour, marker, line) in zip(measures, LOOKS, strict=False):
        means = [fmean(column) if column else 0.0 for column in over_progress(runs, measure)]
        largest = max(means)
        label = f"{name}\n(100% = {unit.format(largest)})"
        heights = [mean / largest if largest else 0.0 for mean in means]
        axes.plot(
            PROGRESS, heights, line, color=colour, marker=marker, markevery=MARKED, label=label
        )
    _over_progress(axes)
    _upright_percent(axes)
    return _with_legend(figure)


def _canvas(title: str, upright: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=title, ylabel=upright)
    return figure, axes


def _with_legend(figure: Figure) -> Figure:
    """The key stands below the axes and never covers the data."""
    figure.legend(loc="outside lower center", ncols=4, columnspacing=1.6)
    return figure


def _over_progress(axes: Axes) -> None:
    axes.set(xlabel="task progress (share of the run's checkpoints)", xlim=(0, 1.01))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))


def _upright_percent(axes: Axes) -> None:
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
