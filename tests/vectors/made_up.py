"""Small runs and made-up vectors of them, for tests that need no model."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np

from statecomp.annotation.labels import Label, Labels
from statecomp.history.trajectory import Trajectory
from statecomp.testing.words import chat_of
from statecomp.vectors.cost import Cost
from statecomp.vectors.sample import ALL, Sample
from statecomp.vectors.shelf import Vectors, bare

DOMAINS = ("Code", "Web")


def run_of(name: str, steps: int = 6, domain: str = "Code") -> Trajectory:
    chat = chat_of("p" + "r" * steps, "the quick brown fox jumps over the lazy dog " * 4)
    first = {**chat[0], "content": f"{chat[0]['content']} {name}"}
    return Trajectory(name, (first, *chat[1:]), domain=domain, group=f"task {name}")


def runs_of(count: int = 15, steps: int = 7) -> list[Trajectory]:
    return [run_of(f"run-{n:02}", steps + n % 3, DOMAINS[n % 2]) for n in range(count)]


def labels_of(runs: list[Trajectory], steps: int = 12, seed: int = 0) -> Labels:
    random = Random(seed)
    return {
        run.id: {i: Label(run.id, i, i + random.choice((1, 2, 3, 5))) for i in range(1, steps)}
        for run in runs
    }


def written(runs: list[Trajectory], labels: Labels, folder: Path) -> tuple[Path, Path]:
    """The files that the verbs read: runs, and their labels."""
    records = (
        {"id": r.id, "domain": r.domain, "group": r.group, "messages": list(r.messages)}
        for r in runs
    )
    known = (label for one in labels.values() for label in one.values())
    lines = ({"id": t.run, "i": t.number, "boundary": t.boundary} for t in known)
    paths = folder / "runs.jsonl", folder / "labels.jsonl"
    for path, values in zip(paths, (records, lines), strict=True):
        path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return paths


def vectors_of(
    runs: list[Trajectory], labels: Labels, sample: Sample = ALL, width: int = 4, seed: int = 0
) -> Vectors:
    """Candidates that know a little of the label, beside noise."""
    random, found = np.random.default_rng(seed), bare(runs, sample)
    candidate = random.normal(size=(len(found.run), width)).astype(np.float32)
    rows = zip(found.run, found.number, found.checkpoint, strict=True)
    ready = [labels[runs[r].id][int(i)].ready(int(k)) for r, i, k in rows]
    candidate[:, 0] += 2.0 * np.array(ready)
    by_state = random.normal(size=(int(found.state.max()) + 1, width)).astype(np.float32)
    return Vectors(
        candidate,
        by_state[found.state],
        found.run,
        found.number,
        found.checkpoint,
        found.readings,
        Cost(900, 300, 50),
        100,
        1.5,
    )
