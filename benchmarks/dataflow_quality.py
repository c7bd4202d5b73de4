"""How close the dataflow annotator comes to the expert labels, beside rules that read nothing.

    python benchmarks/dataflow_quality.py [RUNS LABELS]

The labelled runs are parted by `group` into two halves: within each domain the groups are ordered
by their hash and dealt out in turn.  The rules and their numbers were made on half A.  Half B was
measured after each of three versions, and the first of these measurements led to a more careful
second version; so B is held out from the fitting, but not untouched.
The expert labels were set by a large language model, not by people.

kappa      agreement over all pairs (interaction, later checkpoint) beyond chance
unsafe     share of the pairs called READY that the expert keeps
late       share of the expert's READY pairs that are called KEEP
exact, +-1 share of boundaries that agree, or are at most one checkpoint apart
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from statecomp.annotation.compare import compare
from statecomp.annotation.dataflow import Dataflow
from statecomp.annotation.labels import Label, Labels, read_labels
from statecomp.annotation.pipeline import annotate
from statecomp.annotation.records import Reading
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_runs

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
Rule = Callable[[Reading], Mapping[int, Label]]


def dataflow(reading: Reading) -> Mapping[int, Label]:
    labelled = annotate(reading, Dataflow())
    return {label.number: label for label in labelled.labels}


def by_age(delay: int | None) -> Rule:
    """READY `delay` checkpoints after the interaction, whatever it holds; None: never."""

    def label(reading: Reading) -> Mapping[int, Label]:
        numbers = range(1, reading.last + 1)
        boundaries = {
            n: n + delay if delay is not None and n + delay <= reading.last else None
            for n in numbers
        }
        return {n: Label(reading.id, n, boundary) for n, boundary in boundaries.items()}

    return label


RULES: Mapping[str, Rule] = {
    "dataflow": dataflow,
    "always i+2": by_age(2),
    "always i+3": by_age(3),
    "never": by_age(None),
}


def halves(readings: Sequence[Reading]) -> dict[str, list[Reading]]:
    half: dict[str, str] = {}
    for domain in sorted({reading.domain for reading in readings}):
        groups = {reading.group for reading in readings if reading.domain == domain}
        ordered = sorted(groups, key=lambda group: hashlib.sha256(group.encode()).hexdigest())
        half |= {group: "AB"[place % 2] for place, group in enumerate(ordered)}
    return {name: [r for r in readings if half[r.group] == name] for name in "AB"}


def columns(readings: Sequence[Reading], mine: Labels, expert: Labels) -> str:
    """kappa, unsafe, late, exact and within one, as percentages where they are shares."""
    chosen = {reading.id: mine[reading.id] for reading in readings}
    found = compare(chosen, expert, {reading.id: reading.last for reading in readings})
    unsafe, late = found.all.unsafe_share, found.all.late_share
    shares = (unsafe, late, found.exact_share, found.within_one_share)
    shown = "  ".join("     -" if share is None else f"{share:6.1%}" for share in shares)
    return f"{found.all.kappa or 0.0:6.3f}  {shown}"


def report(parts: Mapping[str, list[Reading]], expert: Labels) -> None:
    domains = sorted({reading.domain for part in parts.values() for reading in part})
    head = " kappa  unsafe    late   exact     +-1"
    print(f"{'':<14}" + "  |  ".join(f"{head}" for _ in parts))
    for rule, label in RULES.items():
        mine = {r.id: label(r) for part in parts.values() for r in part}
        for domain in ("", *domains):
            chosen = [[r for r in part if domain in ("", r.domain)] for part in parts.values()]
            cells = [columns(readings, mine, expert) for readings in chosen]
            print(f"{'  ' + domain if domain else rule:<14}" + "  |  ".join(cells))


def main() -> int:
    runs, labels = DATA / "trajectories.jsonl.gz", DATA / "expert_labels.jsonl"
    if len(sys.argv) == 3:
        runs, labels = Path(sys.argv[1]), Path(sys.argv[2])
    if not runs.exists() or not labels.exists():
        print("There are no recorded runs with expert labels to compare with (shared/data).")
        return 0
    expert = read_labels(labels)
    recorded = [Reading.of(run) for run in read_runs(runs) if isinstance(run, Trajectory)]
    parts = halves([reading for reading in recorded if reading.id in expert])
    for name, part in parts.items():
        groups = len({reading.group for reading in part})
        print(f"half {name}: {len(part)} runs of {groups} tasks")
    report(parts, expert)
    started = time.perf_counter()
    for reading in recorded:
        dataflow(reading)
    seconds = time.perf_counter() - started
    longest = max(reading.last for reading in recorded)
    print(f"{len(recorded)} runs (the longest has {longest} interactions) in {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
