"""Pairs from a seed: runs with boundaries, and features that know a little about them."""

from __future__ import annotations

import numpy as np

from statecomp.router.pairs import Pairs

DOMAINS = ("code", "data", "web")


def pairs_of(runs: int = 12, *, seed: int = 0, width: int = 5, tasks: int | None = None) -> Pairs:
    """READY is common; feature 0 is the age, feature 1 hints at the label, the rest is noise."""
    random = np.random.default_rng(seed)
    rows: list[tuple[int, int, int, bool]] = []
    lengths = [int(length) for length in random.integers(5, 16, runs)]
    for place, length in enumerate(lengths):
        for number in range(1, length):
            boundary = number + 1 + int(random.geometric(0.3))
            rows += [(place, number, k, k >= boundary) for k in range(number + 1, length + 1)]
    run, numbers, checkpoint, ready = (np.array(column) for column in zip(*rows, strict=True))
    x = random.normal(size=(len(rows), width))  # (pairs, width)
    x[:, 0] = checkpoint - numbers
    x[:, 1] += 1.5 * ready
    tasks = tasks or runs
    return Pairs(
        x=x.astype(np.float32),
        ready=ready.astype(np.bool_),
        run=run.astype(np.int32),
        number=numbers.astype(np.int32),
        checkpoint=checkpoint.astype(np.int32),
        runs=tuple(f"run-{place:03d}" for place in range(runs)),
        groups=tuple(f"task-{place % tasks:03d}" for place in range(runs)),
        domains=tuple(DOMAINS[place % tasks % len(DOMAINS)] for place in range(runs)),
        lengths=tuple(lengths),
    )


def names_of(pairs: Pairs) -> tuple[str, ...]:
    return tuple(f"feature {number}" for number in range(pairs.width))
