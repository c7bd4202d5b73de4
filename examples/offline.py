"""Recorded runs, from Python: label them, train a router on the labels, replay with and without.

It needs `pip install statecomp[learn]`.  Six runs are far too few to learn from: the point is the
three calls, which are the same for six thousand.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import statecomp

RUNS = sorted((Path(__file__).parents[1] / "samples").glob("*.jsonl"))


def main() -> None:
    done = statecomp.annotate(RUNS)
    labels = {run.id: {label.number: label for label in run.labels} for run in done}
    print(f"{len(done)} runs, {sum(map(len, labels.values()))} interactions labelled")
    with TemporaryDirectory() as folder:
        made = statecomp.train(
            RUNS, labels, out=folder, plan=statecomp.TrainingPlan(learners=("linear",))
        )
        print(f"a router on {len(made.pairs):,} pairs, threshold {made.bundle.threshold:.2f}")
        names = {
            "window:keep=10": "the last ten",
            f"statecomp:scorer=router:{folder}": "the router",
        }
        compared = statecomp.replay(RUNS[:2], list(names), labels=labels)
    for row in compared.rows:
        print(f"{names.get(row.strategy, row.strategy):12} {row.bill.input:9,} tokens sent")


if __name__ == "__main__":
    main()
