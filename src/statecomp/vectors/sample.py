"""Which runs, checkpoints and targets a study reads: the same for every construction.

Bounded views read thousands of tokens for each pair, so a study on a CPU reads a seeded sample.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.features.store import run_digest
from statecomp.history.trajectory import Trajectory

FIRST = 3
"""The earliest sampled checkpoint: before it no pair has k >= i+2."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How many checkpoints of a run, and how many targets at each; None means all of them."""

    checkpoints: int | None = None
    targets: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("checkpoints", self.checkpoints), ("targets", self.targets)):
            if value is not None and value < 1:
                raise BadInput("must be at least 1", field=f"sampled {name}")

    def __str__(self) -> str:
        return f"checkpoints={self.checkpoints or 'all'} targets={self.targets or 'all'}" + (
            f" seed={self.seed}" if self.checkpoints or self.targets else ""
        )

    def of(self, run: Trajectory, last: int) -> dict[int, tuple[int, ...]]:
        """The numbers of the targets at each checkpoint; drawn by content, so a name is nothing."""
        random = Random(f"{self.seed} {run_digest(run)}")
        chosen = [*range(FIRST if self.checkpoints else 2, last + 1)]
        if self.checkpoints is not None and self.checkpoints < len(chosen):
            chosen = sorted(random.sample(chosen, self.checkpoints))
        return {k: self._targets(random, range(1, k)) for k in chosen}

    def _targets(self, random: Random, numbers: range) -> tuple[int, ...]:
        if self.targets is None or self.targets >= len(numbers):
            return tuple(numbers)
        return tuple(sorted(random.sample(numbers, self.targets)))


ALL = Sample()


def deal(runs: Iterable[Trajectory], count: int | None, seed: int = 0) -> list[Trajectory]:
    """`count` runs dealt evenly over the domains, in an order of their content."""
    found = [*runs]
    if count is None or count >= len(found):
        return found
    stacks: dict[str, list[Trajectory]] = {}
    for run in sorted(found, key=run_digest):
        stacks.setdefault(run.domain, []).append(run)
    for domain in sorted(stacks):
        Random(f"{seed} {domain}").shuffle(stacks[domain])
    dealt: set[str] = set()
    while len(dealt) < count:
        for domain in sorted(stacks):
            if stacks[domain] and len(dealt) < count:
                dealt.add(stacks[domain].pop().id)
    return [run for run in found if run.id in dealt]


def shorter_than(runs: Iterable[Trajectory], tokens: int | None) -> list[Trajectory]:
    """The runs of at most so many tokens."""
    found = [*runs]
    if tokens is None:
        return found
    short = [run for run in found if Reading.of(run).history.tokens <= tokens]
    if not short:
        raise BadInput(f"no run has {tokens:,} tokens or fewer")
    return short
