"""How well does LRE's regression tell the steps whose identifiers are used again?

    python benchmarks/lre_quality.py [-o WEIGHTS.json] [RUNS LABELS]

The label needs no expert: an identifier the step introduces occurs in at least three later steps.
The label file only says which runs the router learned from, so that both learn from the same: five
rotations by task judge the recipe; `-o` writes weights fitted on the runs of `statecomp train`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from statecomp.annotation.labels import read_labels
from statecomp.annotation.records import Reading
from statecomp.baselines.lre import EvictionWeights, features, fit, labels, look
from statecomp.history.trajectory import Trajectory
from statecomp.router.folds import FoldRun, rotations
from statecomp.router.metrics import auroc
from statecomp.traces.jsonl import read_runs

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
Rows = list[tuple[float, ...]]


def table(reading: Reading) -> tuple[Rows, list[bool]]:
    return list(features(map(look, reading.history.interactions))), labels(reading.history)


def together(
    tables: Mapping[str, tuple[Rows, list[bool]]], names: Sequence[str]
) -> tuple[Rows, list[bool]]:
    rows = [row for name in names for row in tables[name][0]]
    return rows, [label for name in names for label in tables[name][1]]


def judged(weights: EvictionWeights, rows: Rows, reused: Sequence[bool]) -> float:
    scores = np.array([weights.score(row) for row in rows])  # (steps,)
    return auroc(scores, np.array(reused)) or 0.0


def main(arguments: Sequence[str]) -> None:
    given = list(arguments)
    out = Path(given.pop(given.index("-o") + 1)) if "-o" in given else None
    paths = [Path(argument) for argument in given if argument != "-o"]
    runs, known = paths or (DATA / "trajectories.jsonl.gz", DATA / "expert_labels.jsonl")
    labelled = read_labels(known)
    found = [r for r in read_runs(runs) if isinstance(r, Trajectory) and r.id in labelled]
    readings = [Reading.of(run) for run in found]
    tables = {reading.id: table(reading) for reading in readings}
    folds = rotations([FoldRun(r.id, r.group, r.domain) for r in readings])
    positive = sum(sum(reused) for _, reused in tables.values())
    steps = sum(len(reused) for _, reused in tables.values())
    print(f"{len(tables)} runs, {steps} steps, {positive / steps:.1%} used again")
    for number, fold in enumerate(folds, start=1):
        weights = fit(*together(tables, fold.train))
        print(f"fold {number}: AUROC {judged(weights, *together(tables, fold.test)):.3f}")
    if out:
        learning = (*folds[0].train, *folds[0].test)
        rows, reused = together(tables, learning)
        origin = f"{len(learning)} runs, {len(rows)} steps, seed 0 (the runs of the shipped router)"
        weights = fit(rows, reused, origin)
        held = together(tables, folds[0].validation)
        out.write_text(weights.document(), "utf-8")
        print(f"written to {out}: AUROC {judged(weights, *held):.3f} on the runs left out")


if __name__ == "__main__":
    main(sys.argv[1:])
