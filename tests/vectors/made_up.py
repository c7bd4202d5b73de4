"""Small runs and made-up vectors of them, for tests that need no model."""

from __future__ import annotations

from random import Random

import numpy as np

from statecomp.annotation.labels import Label, Labels
from statecomp.history.trajectory import Trajectory
from statecomp.vectors.cost import Cost
from statecomp.vectors.sample import ALL, Sample
from statecomp.vectors.shelf import Vectors, bare
from tests.words import chat_of

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
