"""Fits the odds that a later step needs an identifier (`statecomp.llm.inventory.WEIGHTS`).

Spans of four interactions of the recorded runs, as they would be summarised two steps later.  An
identifier that only the span shows counts as needed if a later action is the first to use it.  A
logistic regression on what can be seen of it; every run's uses weigh the same, or one run that
rewrites a file from memory decides everything.  Fitted on half of the groups of runs; prints the
area under the curve there and on the other half, and the weights to paste.

    python benchmarks/reuse_weights.py [--limit RUNS]
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from statecomp.annotate.records import Reading
from statecomp.errors import BadInput
from statecomp.history.facts import FactIndex, facts_of
from statecomp.history.interaction import Interaction
from statecomp.history.trajectory import Trajectory
from statecomp.llm.inventory import sights
from statecomp.replay.run import used_identifiers
from statecomp.replay.safety import Dependencies, common_identifiers
from statecomp.traces.jsonl import read_runs

RUNS = Path(__file__).resolve().parents[2] / "shared" / "data" / "trajectories.jsonl.gz"
SPAN, LATER = 4, 2


class Example(NamedTuple):
    run: str
    tuned: bool
    features: dict[str, float]
    needed: bool


def examples(run: Trajectory, common: frozenset[str]) -> Iterator[Example]:
    reading = Reading.of(run)
    segments, members = reading.history.segments, reading.interactions
    first: dict[str, int] = {}
    needs = Dependencies.of(reading.history, common).needs
    for number in sorted(needs):
        for name in needs[number]:
            first.setdefault(name, number)
    places = {s.number: p for p, s in enumerate(segments) if isinstance(s, Interaction)}
    tuned = hashlib.sha256(run.group.encode()).digest()[-1] % 2 == 0
    for start in range(0, len(members) - SPAN + 1, SPAN):
        span = members[start : start + SPAN]
        decided = min(span[-1].number + LATER, len(members))
        gone = {member.id for member in span}
        rest = FactIndex(s for s in segments[: places[decided]] if s.id not in gone)
        own = set().union(*(facts_of(member).own for member in span))
        for _, sight in sights(span, rest):
            if sight.name not in own:
                needed = first.get(sight.name, 0) >= decided
                yield Example(run.id, tuned, dict(sight.features()), needed)


def fit(found: list[Example]) -> None:
    names = sorted({name for example in found for name in example.features})
    table = np.array([[e.features.get(n, 0.0) for n in names] for e in found], np.float32)
    needed = np.array([e.needed for e in found])
    tuned = np.array([e.tuned for e in found])
    uses = Counter(e.run for e in found if e.needed)
    weight = np.array([1.0 / uses[e.run] if e.needed else 1.0 for e in found])
    model = LogisticRegression(C=0.3, solver="newton-cholesky")
    model.fit(table[tuned], needed[tuned], sample_weight=weight[tuned])
    score = model.decision_function(table)
    for label, half in (("tuned", tuned), ("held out", ~tuned)):
        area = roc_auc_score(needed[half], score[half], sample_weight=weight[half])
        print(f"{label:9} {half.sum():7} identifiers, {needed[half].sum():5} needed: {area:.3f}")
    for name, value in zip(names, model.coef_[0], strict=True):
        print(f'    "{name}": {value:.2f},')
    print(f"BIAS = {model.intercept_[0]:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=int, default=None, help="only this many runs")
    options = parser.parse_args()
    if not RUNS.exists():
        print(f"skipped: {RUNS} is not here")
        return 0
    runs = [run for run in read_runs(RUNS) if not isinstance(run, BadInput)][: options.limit]
    common = common_identifiers(used_identifiers(run) for run in runs)
    fit([example for run in runs for example in examples(run, common)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
