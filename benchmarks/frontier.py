"""Saved against broken: the router out of fold beside windows, masks, periodic summaries and age.

Every run is scored by a router that has seen neither it nor another run of its task; the routers
are those of a cross-validation.  All strategies see the same runs in one go.  Run as

    statecomp evaluate RUNS --labels L [--more-labels M] [--forecasts F] --save-folds FOLDS
    python benchmarks/frontier.py FOLDS [--runs labelled|others|all] [--every N] [--svg FILE]

The last lines say, for shares of broken steps from 0.5 to 3 %, what the best setting of each kind
saves at no more than that.  Skips where the recorded runs are absent.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from statecomp.annotation.labels import read_labels
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.recipes import RECIPES
from statecomp.replays.run import RunReplay, replay_run, used_identifiers
from statecomp.replays.safety import common_identifiers
from statecomp.replays.table import StrategyRow, hindsight_share, rows
from statecomp.traces.jsonl import read_runs
from statecomp.workers.local import LocalEngine

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TERSE = "budget=0.04,dense=0"
USUAL = "longer_than=3"
SMALL = "longer_than=0,min_source_tokens=300"
PLAIN = (
    *(f"window:keep={n}" for n in (5, 10, 20)),
    *(f"mask:keep={n}" for n in (5, 10, 20)),
    *(f"periodic:every={n}" for n in (3, 5)),
    *(f"periodic:every={n},{TERSE}" for n in (3, 5, 10)),
    *(f"statecomp:scorer=age:after={n},{USUAL}" for n in (2, 3, 5, 10)),
    *(f"statecomp:scorer=age:after={n},{USUAL},{TERSE}" for n in (2, 5)),
    *(f"statecomp:scorer=age:after={n},{SMALL},{TERSE}" for n in (2, 3, 5)),
)
RATES = (0.005, 0.0075, 0.01, 0.015, 0.02, 0.03)
KINDS = {"window": "s", "mask": "^", "periodic": "D", "age": "o", "router": "*"}
# Where nothing is cached no rewrite waits for the cache: what goes is wariness alone.
FREE = "prices=uncached"
ROUTED = (
    *(f"statecomp:scorer=folds:{{}},recipe={r}" for r in RECIPES),
    "statecomp:scorer=folds:{},recipe=paper,threshold=0.9",
    *(f"statecomp:scorer=folds:{{}},{FREE},wariness={w}" for w in (0.5, 1.5, 4)),
    *(f"statecomp:scorer=folds:{{}},{FREE},wariness={w},{TERSE}" for w in (0.01, 0.05, 0.2)),
    *(f"statecomp:scorer=folds:{{}},{FREE},wariness={w},{TERSE}" for w in (0.5, 1.5, 4, 10)),
    f"statecomp:scorer=folds:{{}},{FREE},wariness=0.01,{TERSE},name_worth=15000",
)


@dataclass(frozen=True)
class Job:
    """One run under every strategy."""

    folds: str
    common: frozenset[str]

    def __call__(self, run: Trajectory) -> RunReplay:
        specs = {spec: spec for spec in PLAIN}
        specs |= {
            spec.replace("scorer=folds:{}", "router"): spec.format(self.folds) for spec in ROUTED
        }
        factories = {name: strategy_factory(spec, Settings()) for name, spec in specs.items()}
        return replay_run(run, factories, self.common)


def show(table: list[StrategyRow], bound: float) -> None:
    print(f"{'strategy':72} {'saved':>6} {'dollars':>8} {'broken':>7}  95 %")
    for row in sorted(table, key=lambda row: row.broken_share):
        interval = f"{row.broken_low:.2%}-{row.broken_high:.2%}"
        print(
            f"{row.strategy:72} {row.saved:6.1%} {-row.dollars_saved:+8.1%} "
            f"{row.broken_share:7.2%}  {interval}"
        )
    print(f"hindsight bound: {bound:.1%} saved, nothing broken")


def compare(table: list[StrategyRow]) -> None:
    """The most each kind saves at no more than a share of broken steps, on straight lines."""
    print("broken at most " + "".join(f"{kind:>10}" for kind in KINDS))
    for rate in RATES:
        best = (most_saved([r for r in table if kind in r.strategy], rate) for kind in KINDS)
        print(f"{rate:14.2%} " + "".join(f"{saved:10.1%}" for saved in best))


def most_saved(table: list[StrategyRow], rate: float) -> float:
    """Mixing two settings over runs reaches every point between them."""
    points = sorted((r.broken_share, r.saved) for r in table)
    within = [saved for broken, saved in [(0.0, 0.0), *points] if broken <= rate]
    between = [
        low_saved + (high_saved - low_saved) * (rate - low) / (high - low)
        for low, low_saved in [(0.0, 0.0), *points]
        for high, high_saved in points
        if low <= rate < high
    ]
    return max(within + between)


def draw(table: list[StrategyRow], path: Path) -> None:
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    figure = Figure(figsize=(8.4, 5.2), layout="constrained")
    axes = figure.add_subplot()
    for kind, marker in KINDS.items():
        points = sorted((r.broken_share, r.saved) for r in table if kind in r.strategy)
        if points:
            across, up = zip(*points, strict=True)
            (drawn,) = axes.plot(across, up, marker, label=kind)
            # The line joins what no other setting of its kind beats.
            best = [p for n, p in enumerate(points) if p[1] > max([0, *up[:n]])]
            axes.plot(*zip(*best, strict=True), linewidth=1, color=drawn.get_color())
    axes.set(xlabel="broken steps", ylabel="tokens saved")
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folds", help="the folder `statecomp evaluate --save-folds` wrote")
    parser.add_argument("--runs", choices=("labelled", "others", "all"), default="labelled")
    parser.add_argument("--every", type=int, default=1, help="only every n-th of these runs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    if not DATA.exists():
        print("skipped: the recorded runs are not beside this checkout")
        return
    runs = [r for r in read_runs(DATA / "trajectories.jsonl.gz") if not isinstance(r, BadInput)]
    labels = read_labels(DATA / "expert_labels.jsonl")
    common = common_identifiers(LocalEngine(options.jobs).map(used_identifiers, runs))
    wanted = {"labelled": (True,), "others": (False,), "all": (True, False)}[options.runs]
    chosen = [run for run in runs if (run.id in labels) in wanted][:: options.every]
    print(f"{len(chosen)} runs")
    results = list(LocalEngine(options.jobs).map(Job(options.folds, common), chosen))
    table = rows(results, shipped_prices().of())
    show(table, hindsight_share(results))
    compare(table)
    if options.svg:
        draw(table, options.svg)


if __name__ == "__main__":
    main()
