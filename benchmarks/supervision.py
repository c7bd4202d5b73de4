"""Writes src/statecomp/bundles/default/supervision.npz, from which `statecomp learn` goes on.

    python benchmarks/supervision.py RUNS --labels EXPERT_LABELS [--checkpoints 7]

The evidence at forecast checkpoints of the recorded runs, with labels and forecasts, and no word of
their text.  `--checkpoints` of each run are kept, spread evenly: the wheel stays small.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from statecomp.annotation.forecasts import read_forecasts
from statecomp.annotation.labels import Labels, read_labels
from statecomp.annotation.records import Reading
from statecomp.history.trajectory import Trajectory
from statecomp.learning.lessons import pairs_of
from statecomp.learning.supervision import FILE, packed, unpacked
from statecomp.traces.jsonl import read_all

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "statecomp" / "bundles" / "default" / FILE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--checkpoints", type=int, default=7)
    given = parser.parse_args()
    expert = read_labels(given.labels)
    labels: Labels = {**read_labels(HERE / "labels" / "more.jsonl"), **expert}
    forecasts = read_forecasts(HERE / "labels" / "forecasts.jsonl")
    runs = [run for run in read_all([given.runs]) if isinstance(run, Trajectory)]
    readings = [Reading.of(run) for run in runs if run.id in forecasts and run.id in labels]
    pairs = pairs_of(readings, labels, given.checkpoints, forecasts)
    data = packed(pairs, frozenset(expert))
    TARGET.write_bytes(data)
    again, trusted = unpacked(data)
    assert pairs.foreseen is not None
    off = np.abs(again.x - pairs.x) / (pairs.x.std(axis=0) + 1e-9)  # (pairs, width)
    print(
        f"{len(pairs):,} pairs of {len(readings)} runs, {len(trusted)} of them trusted; "
        f"{int((~np.isnan(pairs.foreseen)).sum()):,} forecasts; {len(data):,} bytes; "
        f"a value is off by {off.mean():.4f} deviations on average"
    )


if __name__ == "__main__":
    main()
