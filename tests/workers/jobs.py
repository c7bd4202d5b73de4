"""Jobs that cross to real worker processes and tell what happened there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

from statecomp.errors import BadInput


def note(path: Path, text: object) -> None:
    """A line of its own, whoever else writes."""
    with path.open("a") as file:
        file.write(f"{text}\n")


def counting(taken: list[int], upto: int = 1_000_000) -> Iterator[int]:
    """Numbers, noted as they are taken."""
    for number in range(upto):
        taken.append(number)
        yield number


def square(number: int) -> int:
    return number * number


def only_even(number: int) -> int:
    if number % 2:
        raise BadInput("is odd", file="numbers", line=number)
    return number


@dataclass(frozen=True)
class Arriving:
    """Notes each time it arrives in a process."""

    log: Path

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        note(self.log, os.getpid())

    def __call__(self, number: int) -> int:
        return number * number


@dataclass(frozen=True)
class Dying:
    """Kills its own process at one of its items, the first time or every time."""

    at: int
    log: Path
    once: bool = True

    def __call__(self, number: int) -> int:
        before = self.log.exists() and str(number) in self.log.read_text().split()
        note(self.log, number)
        if number == self.at and not (self.once and before):
            os.kill(os.getpid(), signal.SIGKILL)
        return number * number


@dataclass(frozen=True)
class Halting:
    """Does the job, but at one run shows its process and waits to be killed, the first time."""

    job: Callable[[Any], Any]
    at: str
    folder: Path

    def __call__(self, run: Any) -> Any:
        victim = self.folder / "victim"
        note(self.folder / "calls", f"{os.getpid()} {run.id}")
        if run.id == self.at and not victim.exists():
            shown = victim.with_suffix(".part")
            shown.write_text(str(os.getpid()))
            shown.rename(victim)
            sleep(600)
        return self.job(run)
