"""What becomes of every step under two routers, and what that comes to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from statecomp.learning.watch import interval

Fate: TypeAlias = Literal["kept", "open", "quiet", "wanted"]
"""Of a step under one router: not replaced, or replaced and still open, never asked for again for a
while, or come back for."""
REPLACED: Final = frozenset({"open", "quiet", "wanted"})
Pair: TypeAlias = tuple[Fate, Fate]
NEITHER: Final[Pair] = ("kept", "kept")


@dataclass
class SideSums:
    """One router: what it would have sent, and how often its scores expect a return."""

    name: str
    requests: int = 0
    raw_tokens: int = 0
    sent_tokens: int = 0
    raw_dollars: float = 0.0
    sent_dollars: float = 0.0
    expected: float = 0.0


@dataclass
class RivalTable:
    """Steps by their fate under both; a step is counted once, where it stands now."""

    sides: tuple[SideSums, SideSums]
    steps: Counter[Pair] = field(default_factory=Counter)
    compared: int = 0

    def moved(self, before: Pair | None, after: Pair) -> None:
        if before is not None:
            self.steps[before] -= 1
        self.steps[after] += 1

    def replaced(self, place: int) -> int:
        return sum(n for fates, n in self.steps.items() if fates[place] in REPLACED)

    def both(self) -> int:
        return sum(n for (one, other), n in self.steps.items() if {one, other} <= REPLACED)

    @property
    def agreement(self) -> float:
        """Of the steps that either would replace, the share that both would."""
        both = self.both()
        either = self.replaced(0) + self.replaced(1) - both
        return both / either if either else 1.0

    def as_json(self) -> dict[str, Any]:
        return {
            "requests": self.compared,
            "steps": sum(self.steps.values()),
            "both": self.both(),
            "agreement": round(self.agreement, 4),
            "sides": [self._side(place) for place in (0, 1)],
        }

    def _side(self, place: int) -> dict[str, Any]:
        sums, other = self.sides[place], 1 - place
        fates: Counter[str] = Counter()
        alone: Counter[str] = Counter()
        for pair, count in self.steps.items():
            fates[pair[place]] += count
            if pair[other] == "kept":
                alone[pair[place]] += count
        replaced = self.replaced(place)
        # Of all of them, as `expected` is: a return is seen at once, that nobody returns is not.
        low, high = interval(fates["wanted"], replaced) if replaced else (0.0, 1.0)
        return {
            "name": sums.name,
            "saved": 1.0 - sums.sent_tokens / max(1, sums.raw_tokens),
            "tokens": sums.raw_tokens - sums.sent_tokens,
            "dollars": sums.raw_dollars - sums.sent_dollars,
            "dollars_saved": 1.0 - sums.sent_dollars / sums.raw_dollars
            if sums.raw_dollars
            else 0.0,
            "replaced": replaced,
            "wanted": fates["wanted"],
            "low": low,
            "high": high,
            "expected": sums.expected / replaced if replaced else 0.0,
            "alone": sum(alone[fate] for fate in REPLACED),
            "alone_wanted": alone["wanted"],
        }
