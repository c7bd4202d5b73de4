"""What commits cost and save under prompt caching, with the economic gate and without.

Every run is judged with a survival estimate learned from other tasks: tasks are dealt into five
blocks, and each block's estimate comes from the runs of the other four.  With `--folds`, each run
is scored by a router that has not seen its task.  All strategies and all price structures see the
same runs in one go.  Run as

    statecomp evaluate RUNS --labels L [--more-labels M] [--forecasts F] --save-folds FOLDS
    python benchmarks/economics.py [--folds FOLDS] [--limit N] [--jobs 2] [--margins 1 2 3]
    python benchmarks/economics.py --fit > src/statecomp/controller/survival.toml

The second form prints the estimate over all runs, the one that is shipped.  Skips where the
recorded runs are absent.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from statecomp.annotate.labels import read_labels
from statecomp.baselines.window import SlidingWindow
from statecomp.compressor import StateComp
from statecomp.config.options import Options
from statecomp.config.scorers import Scoring, gates_of, scoring
from statecomp.controller.economics import Economics
from statecomp.controller.prices import PriceBook, Prices, shipped_prices
from statecomp.controller.spans import Gates
from statecomp.controller.survival import Survival, fit, survival_toml
from statecomp.engines.local import map_runs
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replay.accounting import dollars_of
from statecomp.replay.run import RunReplay, StrategyFactory, replay_run, used_identifiers
from statecomp.replay.safety import common_identifiers
from statecomp.replay.table import Row, rows, rows_by_domain
from statecomp.router.folds import Run, rotations
from statecomp.strategy import Strategy
from statecomp.traces.jsonl import read_runs
from statecomp.wire.protocol import Wire

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
# A write premium; automatic caching without one; no caching.
MODELS = ("claude-sonnet", "gpt-5", "uncached")
LABELS = DATA / "expert_labels.jsonl"


@dataclass(frozen=True)
class Job:
    """One run with a scorer's own gates, and with the economic gate at each model's prices.

    Without caching nothing is held back: that gate is the one to compare others with for what
    smaller spans do without economics.
    """

    scorer: str
    survivals: Mapping[str, Survival]
    common: frozenset[str]
    margins: tuple[float, ...]

    def __call__(self, run: Trajectory) -> RunReplay:
        scored = scoring(self.scorer)
        waiting = gates_of(Options("", ""), scored, pays=True)
        factories: dict[str, StrategyFactory] = {"window:keep=10": _window}
        factories["off"] = _factory(scored, scored.gates, None)
        for model in MODELS:
            prices = shipped_prices().of(model)
            gate = Economics(PriceBook({model: prices}, model), self.survivals[run.id])
            # What costs nothing pays at any margin.
            for margin in self.margins if prices.cached < prices.write else self.margins[:1]:
                name = f"on, margin {margin:g} @{model}"
                factories[name] = _factory(scored, waiting, replace(gate, margin=margin))
        return replay_run(run, factories, self.common)


def _factory(scored: Scoring, gates: Gates, economics: Economics | None) -> StrategyFactory:
    def build(run: Trajectory, wire: Wire) -> Strategy:
        return StateComp(scored.scorer(run), gates=gates, protocol=wire.name, economics=economics)

    return build


def _window(run: Trajectory, wire: Wire) -> Strategy:
    return SlidingWindow(10)


def requests_of(run: Trajectory) -> int:
    return sum(message.get("role") == "assistant" for message in run.messages)


def learned(runs: Sequence[Trajectory]) -> Survival:
    lengths = [requests_of(run) for run in runs]
    return fit(lengths, known_from=min(lengths))


def survivals_out_of_fold(runs: Sequence[Trajectory]) -> dict[str, Survival]:
    """For each run an estimate from runs of other tasks."""
    found: dict[str, Survival] = {}
    for fold in rotations([Run(run.id, run.group, run.domain) for run in runs]):
        survival = learned([run for run in runs if run.id not in fold.test])
        found |= dict.fromkeys(fold.test, survival)
    return found


def show(results: Sequence[RunReplay], title: str) -> None:
    for model in MODELS:
        prices = shipped_prices().of(model)
        whole = sum(dollars_of(result.raw_bills, prices) for result in results)
        print(f"\n{title}, {model}: {len(results)} runs, ${whole:.2f} without compression")
        print(
            f"{'':28} {'tokens':>7} {'dollars':>8} {'broken':>7} {'commits':>8} {'breaks':>7} "
            f"{'in front':>8} {'dearer':>7} {'worst':>7} {'lost':>6}"
        )
        for row in rows(results, prices):
            name, _, of_model = row.strategy.partition(" @")
            if of_model == "uncached" != model:
                name = "off, gates of on"
            if of_model in ("", "uncached", model):
                print(f"{name:28} {line(row)}")
        print(f"dollars by domain, on: {by_domain(results, prices)}")


def by_domain(results: Sequence[RunReplay], prices: Prices) -> str:
    """With the gate at these prices; where there are several margins, the first."""
    return ", ".join(
        f"{domain} {-row.dollars_saved:+.1%}"
        for domain, table in rows_by_domain(results, prices).items()
        for row in [row for row in table if row.strategy.endswith(f" @{prices.model}")][:1]
    )


def line(row: Row) -> str:
    """Changes against no compression; `dearer` to `lost` are about runs that cost more."""
    front = f"{row.first_change:8.0%}" if row.first_change is not None else " " * 8
    return (
        f"{-row.saved:+7.1%} {-row.dollars_saved:+8.2%} {row.broken_share:7.2%} "
        f"{row.commits:8,} {row.damage:7,} {front} "
        f"{row.dearer_share:7.1%} {row.worst:+7.1%} {row.lost_dollars / row.raw_dollars:6.2%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="print the survival estimate")
    parser.add_argument("--limit", type=int, help="at most so many runs of each kind")
    parser.add_argument("--folds", help="the folder `statecomp evaluate --save-folds` wrote")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--margins", type=float, nargs="+", default=[Economics().margin])
    options = parser.parse_args()
    if not DATA.exists():
        print("skipped: the recorded runs are not beside this checkout")
        return
    runs = [r for r in read_runs(DATA / "trajectories.jsonl.gz") if not isinstance(r, BadInput)]
    if options.fit:
        print(survival_toml(learned(runs)), end="")
        return
    survivals = survivals_out_of_fold(runs)
    common = common_identifiers(map_runs(used_identifiers, runs, options.jobs))
    labelled = read_labels(LABELS)
    kinds = {
        "labels": (f"labels:{LABELS}", [run for run in runs if run.id in labelled]),
        "age": ("age:after=3", runs),
        "router": (f"folds:{options.folds}", runs),
    }
    for name in ["router"] if options.folds else ["labels", "age"]:
        scorer, known = kinds[name]
        job = Job(scorer, survivals, common, tuple(options.margins))
        # Evenly from all domains, which stand one after the other in the file.
        step = max(1, len(known) // options.limit) if options.limit else 1
        chosen = known[::step][: options.limit]
        show(list(map_runs(job, chosen, options.jobs)), name)


if __name__ == "__main__":
    main()
