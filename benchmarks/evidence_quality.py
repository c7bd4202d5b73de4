"""How well do evidence features tell READY from KEEP, beside the age alone, and what do they cost?

    python benchmarks/evidence_quality.py [--ablate] [RUNS LABELS]

Pairs (interaction i, later checkpoint k) of the labelled runs, predicted by models that were fitted
on other tasks: five folds by `group`, within each domain ordered by their hash and dealt out in
turn.  The features were chosen with these labels in sight, so the figures are somewhat kind.
The expert labels were set by a large language model, not by people.

auroc      area under the ROC curve, out of fold
keep pr    area under the precision-recall curve for KEEP
cover 98   largest share of pairs called READY, at one threshold over all folds, with a precision of
           98 %; `per fold` is the mean of the same in each fold

The logistic regression needs numpy alone; boosting is shown where scikit-learn is installed.
`--ablate` also leaves out one group of features at a time.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from statecomp.annotation.labels import Labels, read_labels
from statecomp.annotation.records import Reading
from statecomp.features.evidence import GROUPS, NAMES, EvidenceReader
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_runs

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDS, PRECISION, SETTLED = 5, 0.98, 2
RIDGE, CLIP, NEWTON_STEPS = 300.0, 4.0, 12
AGE = ("age_log", "age_inverse")
Array = NDArray[np.float64]
Model = Callable[[Array, Array, Array], Array]
"""Features and labels to learn from, features to score; gives scores."""


@dataclass(frozen=True)
class Pairs:
    """All pairs (i, k) of the labelled runs, a row each."""

    features: Array  # (pairs, features)
    ready: Array  # (pairs,)
    age: NDArray[np.int_]  # (pairs,)
    fold: NDArray[np.int_]  # (pairs,)
    domain: NDArray[np.str_]  # (pairs,)

    def where(self, mask: NDArray[np.bool_]) -> Pairs:
        return Pairs(
            self.features[mask],
            self.ready[mask],
            self.age[mask],
            self.fold[mask],
            self.domain[mask],
        )


def folds(readings: Sequence[Reading]) -> dict[str, int]:
    fold: dict[str, int] = {}
    for domain in sorted({reading.domain for reading in readings}):
        groups = {reading.group for reading in readings if reading.domain == domain}
        ordered = sorted(groups, key=lambda group: hashlib.sha256(group.encode()).hexdigest())
        for place, group in enumerate(ordered):
            fold.setdefault(group, place % FOLDS)
    return fold


def checkpoints(history: History) -> Iterator[History]:
    """The history before each interaction but the first."""
    for place, segment in enumerate(history.segments):
        if isinstance(segment, Interaction) and segment.number > 1:
            yield History(history.segments[:place])


def pairs_of(readings: Sequence[Reading], labels: Labels) -> Pairs:
    fold, rows = folds(readings), []
    reader = EvidenceReader()
    facts: list[tuple[bool, int, int, str]] = []
    for reading in readings:
        known = labels[reading.id]
        for history in checkpoints(reading.history):
            _, matrix = reader.read(history)
            for interaction, row in zip(history.interactions, matrix, strict=True):
                if label := known.get(interaction.number):
                    k, part = history.checkpoint, fold[reading.group]
                    facts.append((label.ready(k), k - label.number, part, reading.domain))
                    rows.append(row)
    ready, age, parts, domain = (np.array(column) for column in zip(*facts, strict=True))
    return Pairs(np.array(rows, dtype=float), ready.astype(float), age, parts, domain)


def logistic(known: Array, ready: Array, asked: Array) -> Array:
    """Ridge logistic regression by Newton's method on clipped standard scores."""
    mean, spread = known.mean(axis=0), known.std(axis=0) + 1e-6  # (features,)
    a, b = (_scaled(features, mean, spread) for features in (known, asked))
    weights = np.zeros(a.shape[1])  # (features + 1,)
    ridge = np.diag([RIDGE] * (a.shape[1] - 1) + [0.0])  # (features + 1, features + 1)
    for _ in range(NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(a @ weights, -30, 30)))  # (pairs,)
        slope = a.T @ (p - ready) + ridge @ weights  # (features + 1,)
        curve = (a * (p * (1 - p))[:, None]).T @ a + ridge  # (features + 1, features + 1)
        weights -= np.linalg.solve(curve + 1e-9 * np.eye(len(curve)), slope)
    return np.asarray(b @ weights)  # (asked,)


def _scaled(features: Array, mean: Array, spread: Array) -> Array:
    scaled = np.clip((features - mean) / spread, -CLIP, CLIP)  # (pairs, features)
    return np.hstack([scaled, np.ones((len(scaled), 1))])  # (pairs, features + 1)


def boosting(known: Array, ready: Array, asked: Array) -> Array:
    ensemble: Any = import_module("sklearn.ensemble")
    model = ensemble.HistGradientBoostingClassifier(
        max_iter=250,
        learning_rate=0.04,
        max_leaf_nodes=12,
        min_samples_leaf=150,
        l2_regularization=30.0,
        max_features=0.2,
        early_stopping=False,
        random_state=0,
    )
    # Threads that wait for each other on a busy machine make this a hundred times slower.
    with import_module("threadpoolctl").threadpool_limits(1):
        return np.asarray(model.fit(known, ready).predict_proba(asked)[:, 1])  # (asked,)


def out_of_fold(model: Model, pairs: Pairs, names: Sequence[str]) -> Array:
    features = pairs.features[:, [NAMES.index(name) for name in names]]  # (pairs, chosen)
    scores = np.zeros(len(features))  # (pairs,)
    for part in range(FOLDS):
        out = pairs.fold == part
        scores[out] = model(features[~out], pairs.ready[~out], features[out])
    return scores


def auroc(ready: Array, scores: Array) -> float:
    """The chance that a READY pair stands above a KEEP pair; ties count half."""
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # (pairs,)
    positives = ready.sum()
    above = rank[ready > 0].sum() - positives * (positives + 1) / 2
    return float(above / max(1.0, positives * (len(ready) - positives)))


def keep_precision(ready: Array, scores: Array) -> float:
    """Average precision with KEEP as what is looked for, lowest scores first."""
    keep = 1 - ready[np.argsort(scores, kind="stable")]  # (pairs,)
    precision = np.cumsum(keep) / np.arange(1, len(keep) + 1)  # (pairs,)
    return float((precision * keep).sum() / max(1.0, keep.sum()))


def coverage(ready: Array, scores: Array) -> float:
    order = np.argsort(-scores, kind="stable")
    precision = np.cumsum(ready[order]) / np.arange(1, len(order) + 1)  # (pairs,)
    # A threshold cannot part equal scores.
    end = np.append(np.diff(scores[order]) != 0, True)  # (pairs,)
    good = np.flatnonzero((precision >= PRECISION) & end)
    return float((good[-1] + 1) / len(order)) if len(good) else 0.0


def row(pairs: Pairs, scores: Array) -> str:
    parts = [pairs.fold == part for part in range(FOLDS) if (pairs.fold == part).any()]
    by_fold = np.mean([coverage(pairs.ready[part], scores[part]) for part in parts])
    return (
        f"{auroc(pairs.ready, scores):7.3f}  {keep_precision(pairs.ready, scores):7.3f}"
        f"  {coverage(pairs.ready, scores):8.1%}  {by_fold:8.1%}"
    )


def report(pairs: Pairs, models: Mapping[str, tuple[Model, Sequence[str]]]) -> None:
    settled = pairs.where(pairs.age >= SETTLED)
    print(f"{'':27}auroc  keep pr  cover 98  per fold")
    for name, (model, names) in models.items():
        scores = out_of_fold(model, settled, names)
        print(f"{name:<25}{row(settled, scores)}")
        for domain in sorted(set(settled.domain)):
            part = settled.domain == domain
            print(f"{'  ' + domain:<25}{row(settled.where(part), scores[part])}")
        print(f"{'  with k = i+1 too':<25}{row(pairs, out_of_fold(model, pairs, names))}")


def ablate(pairs: Pairs, models: Mapping[str, Model]) -> None:
    settled = pairs.where(pairs.age >= SETTLED)
    for group in GROUPS:
        names = [name for name in NAMES if name not in GROUPS[group]]
        for kind, model in models.items():
            scores = out_of_fold(model, settled, names)
            print(f"{f'{kind} without {group}':<25}{row(settled, scores)}", flush=True)


def cost(readings: Sequence[Reading]) -> None:
    """A run followed to its end, against reading its last checkpoint with nothing remembered."""
    longest = max(readings, key=lambda reading: reading.last)
    followed = first = 0.0
    rows = steps = 0
    for reading in readings:
        reader = EvidenceReader()
        for history in checkpoints(reading.history):
            started = time.perf_counter()
            reader.read(history)
            followed += time.perf_counter() - started
            rows, steps = rows + len(history.interactions), steps + 1
    print(f"a checkpoint costs {followed / steps * 1e3:.2f} ms with one interaction new to it,")
    print(f"{followed / rows * 1e6:.0f} us an interaction that stands in it ({steps} checkpoints)")
    reader, whole = EvidenceReader(), longest.history
    for work in ("first", "again"):
        started = time.perf_counter()
        reader.read(whole)
        spent = time.perf_counter() - started
        first = first or spent
        per_row = spent / len(whole.interactions) * 1e6
        print(f"the longest run, {work}: {per_row:.1f} us an interaction, {spent / first:.2%}")


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--ablate"]
    runs, labels = DATA / "trajectories.jsonl.gz", DATA / "expert_labels.jsonl"
    if len(arguments) == 2:
        runs, labels = Path(arguments[0]), Path(arguments[1])
    if not runs.exists() or not labels.exists():
        print("There are no recorded runs with expert labels to learn from (shared/data).")
        return 0
    expert = read_labels(labels)
    recorded = (run for run in read_runs(runs) if isinstance(run, Trajectory))
    readings = [Reading.of(run) for run in recorded if run.id in expert]
    cost(readings)
    pairs = pairs_of(readings, expert)
    kinds: dict[str, Model] = {"logistic": logistic}
    if util.find_spec("sklearn"):
        kinds["boosting"] = boosting
    models: dict[str, tuple[Model, Sequence[str]]] = {"age alone": (logistic, AGE)}
    models |= {f"{kind}, {len(NAMES)} features": (model, NAMES) for kind, model in kinds.items()}
    report(pairs, models)
    if "--ablate" in sys.argv:
        ablate(pairs, kinds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
