"""What a provider says that a request cost, in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_TOKENS = 100_000_000
"""No request has more: a larger number is a mistake, and would spoil every sum it is in."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider says it billed; `cached` and `written` are part of `input`."""

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0

    def kinds(self) -> tuple[tuple[str, int], ...]:
        """Each number with its name."""
        return (
            ("input", self.input),
            ("cached", self.cached),
            ("written", self.written),
            ("output", self.output),
        )


def counted(found: Mapping[str, Any], *names: str) -> int:
    """The number that stands under these names, one inside the other; 0 for none to believe."""
    value: Any = found
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 < value <= MOST_TOKENS else 0
