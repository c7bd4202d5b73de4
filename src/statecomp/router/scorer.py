"""A trained router as the scorer of the controller, and why a score is what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from statecomp.errors import ScoringFailed
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary
from statecomp.recent import LruCache
from statecomp.router.bundle import Bundle
from statecomp.router.hidden.spec import STATE, Encoder
from statecomp.router.pairs import Features

REMEMBERED = 4096


class Reader(Protocol):
    """Turns a history into features: one row for each interaction it names."""

    @property
    def NAMES(self) -> Sequence[str]: ...  # noqa: N802  a constant of the reader

    def read(self, history: History) -> tuple[Sequence[str], Features]:
        """Interaction ids, and their features (interactions, width)."""
        ...


class Late(Exception):
    """A reader's time was over: of these rows, those of `stale` interactions are not new."""

    def __init__(self, ids: Sequence[str], x: Features, stale: frozenset[str]) -> None:
        super().__init__("there was no time to read all of the history")
        self.ids, self.x, self.stale = ids, x, stale


@dataclass(frozen=True)
class RouterScorer:
    """Reads features, scores them; whatever goes wrong means no scores, never wrong ones.

    Routers learn from runs of one task.  In a session of many, what came since the user last spoke
    is therefore read twice, within the whole and as a run of its own, and the warier score counts:
    read within the whole alone, joined runs were scored too high (docs/lab-log.md).

    Where a reader runs out of time, the previous score of an interaction stands; one that never had
    any gets none, and stays.  A reader that does not suit the bundle is refused here, before the
    first history.  `name` is what a ledger knows it by.
    """

    reader: Reader
    bundle: Bundle
    encoder: Encoder | None = None
    name: str = ""
    _before: LruCache[str, float] = field(default_factory=lambda: LruCache(REMEMBERED), repr=False)

    def __post_init__(self) -> None:
        self.bundle.must_read(self.reader.NAMES, self.encoder)

    def score(self, history: History) -> Mapping[str, float]:
        scores = self._scores(history)
        latest = since_user(history)
        if latest is not None:
            alone, inside = self._scores(latest), {i.id for i in latest.interactions}
            scores = {
                name: min(score, alone.get(name, 1.0))
                for name, score in scores.items()
                if name in alone or name not in inside
            }
        known = {**self._previous(history, scores), **scores}
        if history.interactions and not known:
            raise ScoringFailed("there was no time to read any of the history (encode_s)")
        return known

    def _previous(self, history: History, scores: Mapping[str, float]) -> dict[str, float]:
        """What was said before of those of whom nothing can be said now."""
        for name, score in scores.items():
            self._before.put(name, score)
        late = (i.id for i in history.interactions if i.id not in scores)
        return {name: known for name in late if (known := self._before.get(name)) is not None}

    def _scores(self, history: History) -> Mapping[str, float]:
        if not history.interactions:
            return {}
        try:
            ids, x, stale = self._read(history)
            scores = self.bundle.scores(np.asarray(x))  # (interactions,)
        except ScoringFailed:
            raise
        except Exception as error:
            raise ScoringFailed(str(error) or type(error).__name__) from error
        if len(ids) != len(scores):
            raise ScoringFailed(f"{len(ids)} interactions were named, and {len(scores)} scored")
        pairs = zip(ids, map(float, scores), strict=True)
        return {name: score for name, score in pairs if name not in stale}

    def _read(self, history: History) -> tuple[Sequence[str], Features, frozenset[str]]:
        try:
            return *self.reader.read(history), frozenset()
        except Late as late:
            return late.ids, late.x, late.stale


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
    """A feature, its value here, and by how much it moves the logit towards READY.

    A vector counts as one feature, and its value is its length.
    """

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
    blocks = _blocks(bundle)
    push = np.empty((len(x), len(blocks)))  # (interactions, blocks)
    for place, columns in enumerate(blocks.values()):
        typical = x.copy()  # (interactions, width)
        typical[:, columns] = medians[columns]
        push[:, place] = logits - bundle.router.logits(typical)
    order = np.argsort(-np.abs(push), axis=1)[:, :top]  # (interactions, top)
    names = [*blocks]
    return [
        [
            Reason(names[place], _value(x[row, blocks[names[place]]]), float(push[row, place]))
            for place in places
            if push[row, place]
        ]
        for row, places in enumerate(order)
    ]


def _blocks(bundle: Bundle) -> dict[str, list[int]]:
    """The columns of each feature: one, or those of a whole vector."""
    vectors = len(bundle.reads.columns())
    blocks: dict[str, list[int]] = {}
    for column, name in enumerate(bundle.features):
        key = name.partition(".")[0] if column < vectors else name
        blocks.setdefault(key, []).append(column)
    blocks.pop(STATE if vectors else "", None)
    return blocks


def _value(columns: Features) -> float:
    return float(columns[0] if len(columns) == 1 else np.linalg.norm(columns))
