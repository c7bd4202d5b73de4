"""Who looks on while work is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from statecomp.workers.engine import Watch, unwatched

Progress: TypeAlias = Callable[[str, int | None], AbstractContextManager[Watch]]
"""Given a label and how many there are, if that is known, hears how many are done."""


@contextmanager
def silent(label: str, total: int | None) -> Iterator[Watch]:
    """Nobody looks."""
    yield unwatched
