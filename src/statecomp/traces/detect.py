"""Which tool wrote a recording, told by its content: names of files say little and lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces import (
    claude_code,
    codex,
    jsonl,
    mini_swe_agent,
    openhands,
    requests,
    swe_agent,
)


class Format(Protocol):
    """The one shape of every format; a module is one."""

    NAME: str

    def recognises(self, records: Sequence[Any]) -> bool:
        """Whether the first values of a file are of this format."""
        ...

    def runs(self, records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]: ...


# The more a format says of itself, the earlier it is asked; request logs say least.
FORMATS: tuple[Format, ...] = (
    claude_code,
    codex,
    mini_swe_agent,
    swe_agent,
    openhands,
    jsonl,
    requests,
)
BY_NAME = {each.NAME: each for each in FORMATS}


def format_of(records: Sequence[Any]) -> Format | None:
    """The format of a file that begins with these values."""
    return next((each for each in FORMATS if each.recognises(records)), None)
