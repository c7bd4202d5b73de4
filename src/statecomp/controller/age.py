"""Age as a score: the control that looks at nothing but how long ago something happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from statecomp.history.history import History


@dataclass(frozen=True, slots=True)
class AgeScorer:
    """Ready once more than `after` newer interactions exist."""

    after: int = 3

    def score(self, history: History) -> Mapping[str, float]:
        newest = history.checkpoint - 1
        return {i.id: float(newest - i.number >= self.after) for i in history.interactions}
