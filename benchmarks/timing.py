"""When do strategies replace, against labels that say when they could, and what does it cost?

On the labelled runs one by one, and joined four at a time to long sessions (a person who asks for
one thing after another), prints for each strategy, all side by side in one go:

    tokens, dollars   change against sending everything, with prompt caching
    premature         of the pairs (i, k), k >= i+2, that the labels keep, the share replaced
    ready             of those the labels call READY, the share replaced
    must keep         of the strings the labels want kept, the share that stands in what is sent
    broken            steps whose action uses an identifier that was learned and is gone
    worst, dearer     dollars of the run that did worst, and the share of runs that cost more

`{}` in a strategy is the folder of a cross-validation: each run is scored by a router that has not
seen its task, and only runs that share such a router are joined.  Run as

    statecomp evaluate RUNS --labels L [--more-labels M] [--forecasts F] --save-folds FOLDS
    python benchmarks/timing.py FOLDS [--strategy "statecomp:scorer=folds:{}" ...] [--by-domain]

The labels were set by a large language model that read each run in full, not by people.  Skips
where the recorded runs are absent.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from statecomp.annotation.labels import Labels, read_labels
from statecomp.config import Settings, strategy_factory
from statecomp.config.folds import SameRouters
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replays.run import RunReplay, replay_run, used_identifiers
from statecomp.replays.safety import common_identifiers
from statecomp.replays.sessions import joined
from statecomp.replays.table import StrategyRow, rows, rows_by_domain
from statecomp.traces.jsonl import read_runs
from statecomp.workers.local import LocalEngine

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LABELS = DATA / "expert_labels.jsonl"
PLAIN = (
    "window:keep=10",
    "mask:keep=10",
    "periodic:every=5",
    "statecomp:scorer=age:after=3",
    f"statecomp:scorer=labels:{LABELS}",
)
ROUTED = (
    "statecomp:scorer=folds:{},recipe=paper",
    "statecomp:scorer=folds:{},recipe=careful",
    "statecomp:scorer=folds:{}",
    "statecomp:scorer=folds:{},recipe=bold",
)


@dataclass(frozen=True)
class Job:
    """One run or session under every strategy."""

    specs: Mapping[str, str]  # by the name to print
    common: frozenset[str]
    labels: Labels
    breaks: bool = False

    def __call__(self, run: Trajectory) -> RunReplay:
        settings = Settings(prices=shipped_prices().of())
        factories = {name: strategy_factory(spec, settings) for name, spec in self.specs.items()}
        return replay_run(run, factories, self.common, labels=self.labels, breaks=self.breaks)


def show(title: str, results: Sequence[RunReplay], *, by_domain: bool) -> None:
    prices = shipped_prices().of()
    tables = {"": rows(results, prices)}
    if by_domain:
        tables |= rows_by_domain(results, prices)
    for domain, table in tables.items():
        first = table[0]
        about = f"{first.runs} {title}, {first.checkpoints / first.runs:.0f} requests each"
        print(f"\n{domain or 'all'}: {about}, {first.recorded} runs, {first.labelled} with labels")
        print(
            f"{'':50} {'tokens':>7} {'dollars':>8} {'premature':>9} {'ready':>6} {'must keep':>9} "
            f"{'broken':>7} {'worst':>7} {'dearer':>7}"
        )
        for row in table:
            print(line(row))


def line(row: StrategyRow) -> str:
    timing = row.timing
    return (
        f"{row.strategy:50} {0 - row.saved:+7.1%} {0 - row.dollars_saved:+8.1%} "
        f"{percent(timing.premature_share):>9} {percent(timing.taken_share):>6} "
        f"{percent(timing.found_share):>9} {row.broken_share:7.2%} {row.worst:+7.1%} "
        f"{row.dearer_share:7.0%}"
    )


def short(spec: str) -> str:
    return spec.replace("scorer=folds:{}", "router").replace(f"scorer=labels:{LABELS}", "labels")


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("folds", nargs="?", help="what `statecomp evaluate --save-folds` wrote")
    parser.add_argument("--strategy", action="append", metavar="SPEC", help="instead of the usual")
    parser.add_argument("--also", action="append", metavar="SPEC", help="beside the usual")
    parser.add_argument("--join", type=int, default=4, help="runs to a session; 1 makes none")
    parser.add_argument("--breaks", action="store_true", help="no cache lives between two runs")
    parser.add_argument("--sessions-only", action="store_true")
    parser.add_argument("--by-domain", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only every n-th of the runs")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not DATA.exists():
        print("skipped: the recorded runs are not beside this checkout")
        return
    usual = (*PLAIN, *ROUTED) if options.folds else PLAIN
    chosen = options.strategy or (*usual, *(options.also or ()))
    specs = {short(spec): spec.replace("{}", options.folds or "") for spec in chosen}
    runs = [r for r in read_runs(DATA / "trajectories.jsonl.gz") if not isinstance(r, BadInput)]
    labels = read_labels(LABELS)
    common = common_identifiers(LocalEngine(options.jobs).map(used_identifiers, runs))
    job = Job(specs, common, labels, options.breaks)
    labelled = [run for run in runs if run.id in labels][:: options.every]
    if not options.sessions_only:
        results = list(LocalEngine(options.jobs).map(job, labelled))
        show("runs", results, by_domain=options.by_domain)
    if options.join > 1:
        # The same sessions whichever strategies are asked for.
        routers = SameRouters((options.folds,) if options.folds else ())
        sessions = joined(labelled, options.join, routers)
        results = list(LocalEngine(options.jobs).map(job, sessions))
        show("sessions", results, by_domain=options.by_domain)


if __name__ == "__main__":
    main()
