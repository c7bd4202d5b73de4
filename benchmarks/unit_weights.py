"""Fits how likely a later step needs a unit (`statecomp.records.extracting.order.weights`).

At two checkpoints of every recorded run the steps older than two are a span, as a rule would take
them.  What is wanted of it: the identifiers that later actions use and that nothing else in sight
holds (each later step counts once, however many it uses), and the strings that the labels want kept
(`must_keep`, set by a language model, not by people).  A softmax over the span's units should put
its mass on those that hold what is wanted.  Fitted on the `tuned` half of the groups
(must_keep_recall.py splits them); prints the mean log likelihood on both halves and the weights.

    python -m benchmarks.unit_weights > src/statecomp/records/extracting/order/weights.py
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.must_keep_recall import HALVES, LABELS, RUNS, plain, read_labels
from statecomp.errors import BadInput
from statecomp.history.facts import FactIndex
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.extracting.order.ranking import Setting, features
from statecomp.records.extracting.units import WORDS, Unit, units_of
from statecomp.replays.run import used_identifiers
from statecomp.replays.safety import Dependencies, common_identifiers
from statecomp.traces.jsonl import read_runs
from statecomp.wire.assemble import parse
from statecomp.wire.providers import wire_named
from statecomp.workers.local import LocalEngine

PENALTY, ROUNDS = 0.6, 120
CHECKPOINTS = (0.4, 0.75)
AGE = 3
KEPT_WEIGHT = 0.3
"""What a string of the labels counts beside a later step that would break."""
MOST_UNITS, COLUMNS = 6000, 200


class Case(NamedTuple):
    """A span: what is seen of its units, and which of them hold each thing that is wanted."""

    tuned: bool
    table: NDArray[np.float32]
    wanted: list[tuple[float, NDArray[np.intp]]]


def spans_of(history: History) -> Iterator[tuple[list[Interaction], Situation, int]]:
    """Each unbroken run of steps that is old at a checkpoint and was not at the one before."""
    steps = history.interactions
    done = 0
    for share in CHECKPOINTS if len(steps) >= 6 else ():
        checkpoint = round(len(steps) * share) + 1
        until, done = done, checkpoint - AGE
        prefix = [s for s in history.segments if not _is_after(s, checkpoint)]
        run: list[Interaction] = []
        for place, segment in enumerate((*prefix, None)):
            if isinstance(segment, Interaction) and until < segment.number <= done:
                run.append(segment)
            elif run:
                start = place - len(run)
                before = tuple(s for s in prefix[:start] if not isinstance(s, Interaction))
                after = tuple(prefix[place:])
                yield run, Situation(FactIndex((*before, *after)), before, after), checkpoint
                run = []


def _is_after(segment: object, checkpoint: int) -> bool:
    return isinstance(segment, Interaction) and segment.number >= checkpoint


def used_later(
    units: Sequence[Unit], situation: Situation, needs: Dependencies, checkpoint: int
) -> Iterator[tuple[float, list[int]]]:
    holders: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        for name in unit.names:
            holders.setdefault(name, []).append(place)
    for number, names in needs.needs.items():
        missing = [n for n in names if n in holders and n not in situation.rest]
        if number >= checkpoint:
            yield from ((1.0 / len(missing), holders[name]) for name in missing)


def cases(columns: dict[str, int]) -> Iterator[Case]:
    runs = [run for run in read_runs(RUNS) if not isinstance(run, BadInput)]
    common = common_identifiers(LocalEngine(1).map(used_identifiers, runs))
    labels = read_labels()
    for run in runs:
        history = parse(run.messages, wire_named(run.protocol))
        needs = Dependencies.of(history, common)
        half = HALVES[hashlib.sha256(run.group.encode()).digest()[0] % 2]
        for span, situation, checkpoint in spans_of(history):
            units = [unit for unit in units_of(span) if unit.place not in WORDS]
            if not 0 < len(units) <= MOST_UNITS:
                continue
            wanted = list(used_later(units, situation, needs, checkpoint))
            texts = [plain(unit.text) for unit in units]
            rest = plain("\n".join(s.text for s in (*situation.before, *situation.after)))
            for member in span:
                label = labels.get(run.id, {}).get(member.number)
                for string in map(plain, label.must_keep if label else ()):
                    if string and string not in rest:
                        held = [place for place, text in enumerate(texts) if string in text]
                        wanted += [(KEPT_WEIGHT, held)] if held else []
            if wanted:
                table = table_of(units, Setting.of(units, situation), columns)
                yield Case(half == "tuned", table, [(w, np.array(held)) for w, held in wanted])


def table_of(
    units: Sequence[Unit], setting: Setting, columns: dict[str, int]
) -> NDArray[np.float32]:
    table = np.zeros((len(units), COLUMNS), np.float32)
    for row, unit in zip(table, units, strict=True):
        for name, value in features(unit, setting):
            row[columns.setdefault(name, len(columns))] += value
    return table


def loss(weights: NDArray[np.float64], chosen: list[Case]) -> tuple[float, NDArray[np.float64]]:
    total, slope, count = 0.0, np.zeros_like(weights), 0.0
    for case in chosen:
        score = case.table @ weights
        mass = np.exp(score - score.max())
        share = mass / mass.sum()
        mean = share @ case.table
        for weight, holders in case.wanted:
            inside = share[holders]
            held = float(inside.sum()) + 1e-12
            total -= weight * np.log(held)
            slope -= weight * ((inside / held) @ case.table[holders] - mean)
            count += weight
    penalty = PENALTY * float(weights @ weights)
    return (total + penalty) / count, (slope + 2 * PENALTY * weights) / count


def main() -> int:
    if not RUNS.exists() or not LABELS.exists():
        print("Skipped: the labelled runs are not here.", file=sys.stderr)
        return 0
    columns: dict[str, int] = {}
    found = list(cases(columns))
    halves = [[case for case in found if case.tuned is tuned] for tuned in (True, False)]
    fit = minimize(loss, np.zeros(COLUMNS), (halves[0],), jac=True, options={"maxiter": ROUNDS})
    for label, half in zip(("tuned", "held out"), halves, strict=True):
        print(f"{label}: {len(half)} spans, {-loss(fit.x, half)[0]:.3f}", file=sys.stderr)
    print('"""What benchmarks/unit_weights.py fitted."""\n\nfrom __future__ import annotations\n')
    print("from collections.abc import Mapping\n\nWEIGHTS: Mapping[str, float] = {")
    for name in sorted(columns):
        if abs(value := float(fit.x[columns[name]])) >= 0.05:
            print(f'    "{name}": {value:.2f},'.replace("-0.00", "0.0"))
    print("}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
