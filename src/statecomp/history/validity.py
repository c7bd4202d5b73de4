"""What makes a message list acceptable to a provider, said as a list of violations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken wire rule: which rule, where it is broken, and one sentence for a person."""

    rule: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text} [{self.rule}]"
