"""Where offline work runs: one job over many items, on any number of processes or machines.

An engine gives the results in the order of the items and the same bytes, whatever it runs on.  The
job crosses to each worker once; items are taken from their iterator as workers come free, so that
more of them can pass through than fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from statecomp.errors import StateCompError

In = TypeVar("In")
Out = TypeVar("Out")
Taken = TypeVar("Taken", contravariant=True)
Given = TypeVar("Given", covariant=True)
Watch: TypeAlias = Callable[[int], None]
"""Hears after each item how many are done."""

# How often an item is tried again when its worker dies, before the work is given up.
RETRIES: Final = 3
# Items in flight for each worker: some stand ready when a worker comes free, the rest wait in file.
AHEAD: Final = 4


class WorkersLost(StateCompError):
    """Workers died, or cannot be reached; what was stored before is kept."""


def unwatched(done: int) -> None:
    """A `Watch` that shows nothing."""


Progress: TypeAlias = Callable[[str, int | None], AbstractContextManager[Watch]]
"""Given a label and how many items there are, if that is known, hears how many are done."""


@contextmanager
def silent(label: str, total: int | None) -> Iterator[Watch]:
    """A `Progress` that shows nothing."""
    yield unwatched


class Engine(Protocol):
    """A job is any picklable callable; what it raises is raised here, in the order of the items."""

    def map(
        self, job: Callable[[In], Out], items: Iterable[In], *, watch: Watch = unwatched
    ) -> Iterator[Out]: ...


@dataclass(frozen=True)
class Spared(Generic[In, Out]):
    """A job whose expected failures are results, so that one bad item does not stop the rest."""

    job: Callable[[In], Out]

    def __call__(self, item: In) -> Out | StateCompError:
        try:
            return self.job(item)
        except StateCompError as problem:
            return problem


class Crew(Protocol[Taken, Given]):
    """Workers, and the items that were given to them."""

    def put(self, item: Taken) -> None: ...

    def take(self) -> Given:
        """The result of the earliest item not taken yet."""
        ...

    def waiting(self) -> int:
        """How many items were put and not taken."""
        ...


def in_order(crew: Crew[In, Out], items: Iterable[In], ahead: int, watch: Watch) -> Iterator[Out]:
    """The results as the items come, with at most `ahead` of them in flight."""
    done = 0
    for item in items:
        crew.put(item)
        if crew.waiting() >= ahead:
            result = crew.take()
            watch(done := done + 1)
            yield result
    while crew.waiting():
        result = crew.take()
        watch(done := done + 1)
        yield result
