"""The bench's figures: reward against tokens, tokens over a run, what became of its interactions.

Needs matplotlib; nothing else imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from statistics import fmean

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from statecomp.annotation.figures import LOOKS, STYLE, pictures
from statecomp_bench.results import Result
from statecomp_bench.tables import MethodRow

Label = Callable[[str], str]

STANDINGS: Mapping[str, tuple[str, str]] = {
    " ": ("not there yet", "#ffffff"),
    "k": ("kept", "#56B4E9"),
    "e": ("edited", "#E69F00"),
    "s": ("in a summary", "#009E73"),
    "-": ("gone", "#b0b0b0"),
}
GREY = "#9a9a9a"
LEADER = {
    "arrowstyle": "-",
    "color": "#c4c4c4",
    "linewidth": 0.7,
    "shrinkB": 4,
    "relpos": (0.0, 0.5),
}
LABEL_GAP = 0.04
"""Between two names beside the plot, as a share of its height."""


def drawn(figures: Mapping[str, Figure], note: str) -> dict[str, bytes]:
    """SVG and PNG by file name."""
    with mpl.rc_context(STYLE):
        return pictures(figures, note)


def reward_tokens(lines: Sequence[MethodRow], label: Label) -> Figure:
    """Every method a point; up and left is better."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.2, max(4.8, 1.6 + 0.24 * len(lines))), layout="constrained")
        axes = figure.add_subplot()
        axes.set(title="Reward against tokens", ylabel="mean reward × 100")
        axes.set_xlabel("tokens of a run, side calls included (thousands, logarithmic)")
        axes.set_xscale("log")
        for row, (colour, marker) in zip(lines, map(_point, lines), strict=True):
            size = 90 if row.name == "statecomp" else 45
            axes.scatter(
                row.tokens / 1e3,
                100 * row.reward,
                s=size,
                c=colour,
                marker=marker,
                zorder=3,
                linewidths=0,
            )
        base = lines[0]
        axes.axhline(100 * base.reward, color=GREY, linestyle=":", linewidth=1, zorder=1)
        axes.axvline(base.tokens / 1e3, color=GREY, linestyle=":", linewidth=1, zorder=1)
        axes.set_ylim(*_room([100 * row.reward for row in lines]))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_formatter("{x:,.0f}")
        axes.tick_params(axis="x", which="both", labelsize=9, rotation=30)
        _names_beside(axes, lines, label)
        return figure


def _point(row: MethodRow) -> tuple[str, str]:
    """StateComp and the baseline stand out; the names beside the plot tell the others apart."""
    if row.name == "statecomp":
        return "#D55E00", "*"
    return ("#000000", "s") if row.change is None else ("#0072B2", "o")


def _room(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    edge = max(2.0, 0.08 * (high - low))
    return low - edge, high + edge


def _names_beside(axes: Axes, lines: Sequence[MethodRow], label: Label) -> None:
    """Names in a column on the right, in the order of the rewards, never over one another."""
    low, high = axes.get_ylim()
    order = sorted(lines, key=lambda row: (row.reward, -row.tokens))
    wanted = [(100 * row.reward - low) / (high - low) for row in order]
    for row, height in zip(order, spread(wanted), strict=True):
        axes.annotate(
            label(row.strategy),
            (row.tokens / 1e3, 100 * row.reward),
            (1.03, height),
            textcoords="axes fraction",
            va="center",
            fontsize=9,
            fontweight="bold" if row.name == "statecomp" else "normal",
            arrowprops=LEADER,
            annotation_clip=False,
        )


def spread(wanted: Sequence[float], gap: float = LABEL_GAP) -> list[float]:
    """Places between 0 and 1 as near to the wanted rising ones as a gap between them allows.

    Without their gaps, places must only rise: neighbours that would fall share their mean.
    """
    gap = min(gap, 1 / max(1, len(wanted) - 1))
    pools: list[list[float]] = []
    for index, place in enumerate(wanted):
        pools.append([place - index * gap])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    ceiling = 1 - gap * (len(wanted) - 1)
    levels = [min(max(fmean(pool), 0.0), ceiling) for pool in pools for _ in pool]
    return [level + index * gap for index, level in enumerate(levels)]


def tokens_per_step(runs: Sequence[Result], label: Label) -> Figure:
    """What each request of one task and seed held, a line a method."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.2, 5.0), layout="constrained")
        axes = figure.add_subplot()
        title = f"Tokens per step: {runs[0].task}, seed {runs[0].seed}"
        axes.set(title=title, xlabel="step (request)", ylabel="input tokens (thousands)")
        for place, (run, (colour, marker, line)) in enumerate(
            zip(runs, cycle(LOOKS), strict=False)
        ):
            axes.plot(
                range(1, len(run.tokens) + 1),
                [tokens / 1e3 for tokens in run.tokens],
                line,
                color=colour,
                marker=marker,
                markevery=(2 * place, 15),
                label=f"{label(run.strategy)}: {run.steps} steps, reward {100 * run.reward:.0f}",
            )
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside lower center", ncols=2, columnspacing=1.6, fontsize=9)
        return figure


def dynamics(standing: Sequence[str], title: str) -> Figure:
    """One run: each row a request, each column an interaction, the colour what became of it."""
    letters = list(STANDINGS)
    width = max((len(row) for row in standing), default=0) or 1
    grid = [[letters.index(letter) for letter in row.ljust(width)] for row in standing]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 6.4), layout="constrained")
        axes = figure.add_subplot()
        axes.imshow(
            grid,
            ListedColormap([colour for _, colour in STANDINGS.values()]),
            vmin=0,
            vmax=len(letters) - 1,
            aspect="auto",
            interpolation="nearest",
            extent=(0.5, width + 0.5, len(grid) + 0.5, 0.5),
        )
        axes.grid(visible=False)
        axes.set(title=title, xlabel="interaction", ylabel="checkpoint (request)")
        present = {letter for row in standing for letter in row}
        key = [
            Patch(color=c, label=name)
            for letter, (name, c) in STANDINGS.items()
            if letter in present
        ]
        figure.legend(handles=key, loc="outside lower center", ncols=len(key) or 1)
        return figure
