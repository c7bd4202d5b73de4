"""A trained router as the scorer of the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from statecomp.errors import ScoringFailed
from statecomp.history.history import History
from statecomp.router.bundle import Bundle, Encoder
from statecomp.router.pairs import Features


class Reader(Protocol):
    """Turns a history into features: one row for each interaction it names."""

    @property
    def NAMES(self) -> Sequence[str]: ...  # noqa: N802  a constant of the reader

    def read(self, history: History) -> tuple[Sequence[str], Features]:
        """Interaction ids, and their features (interactions, width)."""
        ...


@dataclass(frozen=True)
class RouterScorer:
    """Reads features, scores them; whatever goes wrong means no scores, never wrong ones.

    A reader that does not suit the bundle is refused here, before the first history.
    """

    reader: Reader
    bundle: Bundle
    encoder: Encoder | None = None

    def __post_init__(self) -> None:
        self.bundle.must_read(self.reader.NAMES, self.encoder)

    def score(self, history: History) -> Mapping[str, float]:
        if not history.interactions:
            return {}
        try:
            ids, x = self.reader.read(history)
            scores = self.bundle.scores(np.asarray(x))  # (interactions,)
        except ScoringFailed:
            raise
        except Exception as error:
            raise ScoringFailed(str(error) or type(error).__name__) from error
        if len(ids) != len(scores):
            raise ScoringFailed(f"{len(ids)} interactions were named, and {len(scores)} scored")
        return dict(zip(ids, map(float, scores), strict=True))
