"""The runs that a pipeline works on: files, or runs already in memory; never all held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_all

Runs: TypeAlias = str | Path | Iterable[str | Path | Trajectory]
"""A file, several of them, or runs."""
OnBad: TypeAlias = Callable[[BadInput], None]
"""Hears of a record that cannot be read: it raises, or the record is left out."""


def stop(problem: BadInput) -> None:
    raise problem


class RunSource(Protocol):
    """Runs that can be read more than once; what is wrong with a bad one stands in its place."""

    def __iter__(self) -> Iterator[Trajectory | BadInput]: ...

    def nothing(self) -> BadInput:
        """What to say when there was not one."""
        ...


@dataclass(frozen=True)
class ChosenRuns:
    """The runs a person asked for, in their files: read as they are used, never all held.

    What is wrong with a bad record stands in its place, so that it is met in the same order
    whatever the engine reads ahead.
    """

    paths: tuple[Path, ...]
    limit: int | None = None
    domain: str | None = None

    def __iter__(self) -> Iterator[Trajectory | BadInput]:
        found = 0
        for run in read_all(self.paths):
            if isinstance(run, BadInput):
                yield run
            elif self.domain is None or run.domain.casefold() == self.domain.casefold():
                found += 1
                yield run
            if self.limit and found == self.limit:
                return

    def nothing(self) -> BadInput:
        wanted = f" of the domain {self.domain!r}" if self.domain else ""
        return BadInput(f"no run{wanted} could be read", file=", ".join(map(str, self.paths)))


@dataclass(frozen=True)
class GivenRuns:
    """Runs that are in memory, and files among them."""

    runs: tuple[str | Path | Trajectory, ...]

    def __iter__(self) -> Iterator[Trajectory | BadInput]:
        for run in self.runs:
            if isinstance(run, Trajectory):
                yield run
            else:
                yield from ChosenRuns((Path(run),))

    def nothing(self) -> BadInput:
        return BadInput("there is no run in what was given")


def source_of(runs: Runs) -> RunSource:
    """Whatever a caller gave, as something that can be read more than once."""
    if isinstance(runs, str | Path):
        return ChosenRuns((Path(runs),))
    return GivenRuns(tuple(runs))


def held(source: RunSource, on_bad: OnBad = stop) -> list[Trajectory]:
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
