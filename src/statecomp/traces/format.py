"""What a format of recordings is, as one value; `traces/formats.py` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one recording: one, or a folder with a file an event."""

    path: Path
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Recordings of several files, and files that only repeat what stands in others."""

    sources: tuple[Source, ...] = ()
    repeated: frozenset[Path] = frozenset()


def _each_alone(files: Sequence[Path]) -> Gathered:
    return Gathered()


@dataclass(frozen=True, slots=True)
class Format:
    """How one tool records: told by content, because names of files say little and lie."""

    name: str
    about: str
    """What such a recording is called, for people; several of them."""
    recognises: Callable[[Sequence[Any]], bool]
    """Whether the first values of a file are of this format."""
    runs: Callable[[Iterable[Any], str], Iterator[Trajectory | BadInput]]
    """The runs in these values; the text is where they come from."""
    gather: Callable[[Sequence[Path]], Gathered] = _each_alone
    """Which files of a folder are one recording; the others are one each."""
