"""A trained router as the scorer of the controller, and why a score is what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from statecomp.errors import ScoringFailed
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary
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

    Routers learn from runs of one task.  In a session of many, what came since the user last spoke
    is therefore read twice, within the whole and as a run of its own, and the warier score counts:
    read within the whole alone, joined runs were scored too high (docs/lab-log.md).

    A reader that does not suit the bundle is refused here, before the first history.
    """

    reader: Reader
    bundle: Bundle
    encoder: Encoder | None = None

    def __post_init__(self) -> None:
        self.bundle.must_read(self.reader.NAMES, self.encoder)

    def score(self, history: History) -> Mapping[str, float]:
        scores = self._scores(history)
        latest = since_user(history)
        if latest is None:
            return scores
        alone = self._scores(latest)
        return {name: min(score, alone.get(name, 1.0)) for name, score in scores.items()}

    def _scores(self, history: History) -> Mapping[str, float]:
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


def since_user(history: History) -> History | None:
    """What came since the user last spoke, as a run of its own; None where that is everything."""
    segments = history.segments
    start = len(segments)
    spoken = False
    while start and not (spoken and not isinstance(segments[start - 1], Pinned)):
        start -= 1
        segment = segments[start]
        spoken = spoken or (isinstance(segment, Pinned) and segment.role == "user")
    if not any(not isinstance(segment, Pinned) for segment in segments[:start]):
        return None
    before = segments[start - 1]
    gone = before.last if isinstance(before, Summary) else getattr(before, "number", 0)
    return History(tuple(_numbered(segment, gone) for segment in segments[start:]))


def _numbered(segment: Segment, gone: int) -> Segment:
    """The segment as it would be numbered had nothing come before."""
    if isinstance(segment, Interaction):
        return replace(segment, number=segment.number - gone)
    if isinstance(segment, Summary):
        return replace(segment, first=segment.first - gone, last=segment.last - gone)
    return segment


class Reason(NamedTuple):
    """A feature, its value here, and by how much it moves the logit towards READY."""

    feature: str
    value: float
    push: float


def reasons(bundle: Bundle, x: Features, top: int = 3) -> list[list[Reason]]:
    """For each interaction, the features that move its score most: a person can argue with them.

    A feature's push is what the logit loses when the feature is set to the median of this history:
    what makes this interaction different from its neighbours, for any kind of router.
    """
    logits = bundle.router.logits(x)  # (interactions,)
    medians = np.median(x, axis=0).astype(np.float32)  # (width,)
    push = np.empty(x.shape)  # (interactions, width)
    for column, median in enumerate(medians):
        typical = x.copy()  # (interactions, width)
        typical[:, column] = median
        push[:, column] = logits - bundle.router.logits(typical)
    order = np.argsort(-np.abs(push), axis=1)[:, :top]  # (interactions, top)
    return [
        [
            Reason(bundle.features[column], float(x[row, column]), float(push[row, column]))
            for column in columns
            if push[row, column]
        ]
        for row, columns in enumerate(order)
    ]
