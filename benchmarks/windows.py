"""How many requests of long sessions no longer fit a window, with and without replacing?

Recorded runs joined to long sessions, each scored by a router that has not seen its task.  For each
window prints, of the sessions, how many outgrow it, and of all requests the share that would be
refused or cut: sent whole, under the default that is told the window (from nine tenths of it on
whatever shortens is done), and under periodic summaries.

    statecomp evaluate RUNS --labels L [--more-labels M] [--forecasts F] --save-folds FOLDS
    python benchmarks/windows.py FOLDS [--windows 32000 64000 128000] [--join 6]

Skips where the recorded runs are absent.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from statecomp.annotation.labels import read_labels
from statecomp.config import Settings, strategy_factory
from statecomp.config.folds import SameRouters
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replays.run import replay_run
from statecomp.replays.sessions import joined
from statecomp.traces.jsonl import read_runs
from statecomp.workers.local import LocalEngine

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Job:
    """Tokens sent with each request of a session, by strategy."""

    specs: Mapping[str, str]

    def __call__(self, run: Trajectory) -> Mapping[str, Sequence[int]]:
        settings = Settings(prices=shipped_prices().of())
        factories = {name: strategy_factory(spec, settings) for name, spec in self.specs.items()}
        done = replay_run(run, factories, frozenset())
        sent = {r.strategy: tuple(step.bill.input for step in r.steps) for r in done.replays}
        return {"whole": done.raw_tokens, **sent}


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("folds", help="what `statecomp evaluate --save-folds` wrote")
    parser.add_argument("--windows", type=int, nargs="*", default=[32_000, 64_000, 128_000])
    parser.add_argument("--join", type=int, default=6, help="runs to a session")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not DATA.exists():
        print("skipped: the recorded runs are not beside this checkout")
        return
    ours = {w: f"statecomp:scorer=folds:{options.folds},window={w}" for w in options.windows}
    job = Job(
        {**{f"statecomp {w}": spec for w, spec in ours.items()}, "periodic": "periodic:every=5"}
    )
    labels = read_labels(DATA / "expert_labels.jsonl")
    found = [r for r in read_runs(DATA / "trajectories.jsonl.gz") if not isinstance(r, BadInput)]
    runs = [run for run in found if run.id in labels]
    sessions = joined(runs, options.join, SameRouters((options.folds,)))
    results = list(LocalEngine(options.jobs).map(job, sessions))
    requests = sum(len(result["whole"]) for result in results)
    print(f"{len(results)} sessions, {requests / len(results):.0f} requests each")
    for window in options.windows:
        for name in ("whole", f"statecomp {window}", "periodic"):
            over = [sum(tokens > window for tokens in result[name]) for result in results]
            print(
                f"window {window:8,}: {name.split()[0]:10} {sum(map(bool, over)):3} sessions "
                f"outgrow it, {sum(over) / requests:6.1%} of the requests"
            )


if __name__ == "__main__":
    main()
