"""The runs that a pipeline works on: files, or runs already in memory; never all held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_runs

Runs: TypeAlias = str | Path | Iterable[str | Path | Trajectory]
"""A file, several of them, or runs."""
OnBad: TypeAlias = Callable[[BadInput], None]
"""Hears of a record that cannot be read: it raises, or the record is left out."""


def stop(problem: BadInput) -> None:
    raise problem


@dataclass(frozen=True)
class ChosenRuns:
    """The runs a person asked for, in files or in memory: read as they are used, never all held.

    They can be read more than once.  What is wrong with a bad record stands in its place, so that
    it is met in the same order whatever the engine reads ahead.
    """

    given: tuple[str | Path | Trajectory, ...]
    limit: int | None = None
    domain: str | None = None

    @classmethod
    def of(cls, runs: Runs) -> ChosenRuns:
        """Whatever a caller gave."""
        return cls((runs,) if isinstance(runs, str | Path) else tuple(runs))

    def __iter__(self) -> Iterator[Trajectory | BadInput]:
        found = 0
        for run in chain.from_iterable(map(_read, self.given)):
            if isinstance(run, BadInput):
                yield run
            elif self.domain is None or run.domain.casefold() == self.domain.casefold():
                found += 1
                yield run
            if self.limit and found == self.limit:
                return

    def nothing(self) -> BadInput:
        """What to say when there was not one."""
        wanted = f" of the domain {self.domain!r}" if self.domain else ""
        files = (str(one) for one in self.given if not isinstance(one, Trajectory))
        return BadInput(f"no run{wanted} could be read", file=", ".join(files))


def _read(one: str | Path | Trajectory) -> Iterable[Trajectory | BadInput]:
    return (one,) if isinstance(one, Trajectory) else read_runs(Path(one))


def held(source: ChosenRuns, on_bad: OnBad = stop) -> list[Trajectory]:
    """All of them at once, for work that looks at each more than once."""
    found: list[Trajectory] = []
    for run in source:
        if isinstance(run, BadInput):
            on_bad(run)
        else:
            found.append(run)
    if not found:
        raise source.nothing()
    return found
