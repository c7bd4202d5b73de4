"""Fits how likely a later step needs a unit (`statecomp.llm.extracting.weights`).

The labelled runs name the strings a summary must carry (set by a language model, not by people).
For each span of READY interactions, and each such string that the rest of the history does not
hold, a softmax over the span's units should put its mass on those that hold the string.  Fitted on
the `tuned` half of the groups (must_keep_recall.py splits them); prints the mean log likelihood on
both halves and the weights to paste.

    python -m benchmarks.unit_weights > src/statecomp/llm/extracting/weights.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.must_keep_recall import LABELS, RUNS, Run, labelled_runs, plain, ready_spans
from statecomp.history.facts import FactIndex
from statecomp.history.situation import Situation
from statecomp.llm.extracting.ranking import Setting, features
from statecomp.llm.extracting.units import Unit, units_of

PENALTY = 0.6
ROUNDS = 150


class Case(NamedTuple):
    """A span: what is seen of its units, what each costs, and which hold each wanted string."""

    tuned: bool
    table: NDArray[np.float32]
    costs: NDArray[np.float32]
    holders: list[NDArray[np.intp]]


def spans_of(run: Run) -> Iterator[tuple[list[Unit], Situation, list[str]]]:
    segments = run.history.segments
    for span in ready_spans(run.history, run.labels):
        start = segments.index(span[0])
        before, after = segments[:start], segments[start + len(span) :]
        situation = Situation(FactIndex((*before, *after)), before, after)
        wanted = [plain(w) for member in span for w in run.labels[member.number].must_keep]
        yield units_of(span), situation, wanted


def cases(columns: dict[str, int]) -> Iterator[Case]:
    for run in labelled_runs():
        for units, situation, wanted in spans_of(run):
            setting = Setting.of(units, situation)
            texts = [plain(unit.text) for unit in units]
            holders = [np.array([p for p, t in enumerate(texts) if w in t]) for w in wanted]
            found = [dict(features(unit, setting)) for unit in units]
            for name in (name for seen in found for name in seen):
                columns.setdefault(name, len(columns))
            table = np.zeros((len(units), 160), np.float32)
            for row, seen in zip(table, found, strict=True):
                for name, value in seen.items():
                    row[columns[name]] = value
            costs = np.array([len(unit.text) / 4 + 5.0 for unit in units], np.float32)
            yield Case(run.half == "tuned", table, costs, [h for h in holders if len(h)])


def loss(weights: NDArray[np.float64], chosen: list[Case]) -> tuple[float, NDArray[np.float64]]:
    total, slope, count = 0.0, np.zeros_like(weights), 0
    for case in chosen:
        score = case.table @ weights
        mass = np.exp(score - score.max())
        share = mass / mass.sum()
        mean = share @ case.table
        for holders in case.holders:
            inside = share[holders]
            held = float(inside.sum()) + 1e-12
            total -= np.log(held)
            slope -= (inside / held) @ case.table[holders] - mean
            count += 1
    penalty = PENALTY * float(weights @ weights)
    return (total + penalty) / count, (slope + 2 * PENALTY * weights) / count


def main() -> int:
    if not RUNS.exists() or not LABELS.exists():
        print("Skipped: the labelled runs are not here.", file=sys.stderr)
        return 0
    columns: dict[str, int] = {}
    found = list(cases(columns))
    halves = [[c for c in found if c.tuned is tuned and c.holders] for tuned in (True, False)]
    fit = minimize(loss, np.zeros(160), (halves[0],), jac=True, options={"maxiter": ROUNDS})
    for label, half in zip(("tuned", "held out"), halves, strict=True):
        print(f"{label}: {-loss(fit.x, half)[0]:.3f}", file=sys.stderr)
    print('"""What benchmarks/unit_weights.py fitted."""\n\nfrom __future__ import annotations\n')
    print("from collections.abc import Mapping\n\nWEIGHTS: Mapping[str, float] = {")
    for name in sorted(columns):
        if abs(value := float(fit.x[columns[name]])) >= 0.05:
            print(f'    "{name}": {value:.2f},'.replace("-0.00", "0.0"))
    print("}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
