"""The reader of a router that was trained on hidden states: a history in, its features out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from statecomp.features.context import nearest_mean
from statecomp.features.evidence import EvidenceReader
from statecomp.history.history import History
from statecomp.router.hidden.opened import HERE, Serving, shared
from statecomp.router.hidden.spec import Spec
from statecomp.router.pairs import Features
from statecomp.router.scorer import Late

NOBODY = frozenset[str]()


class HiddenReader:
    """One for a conversation; the model behind it is one for all."""

    def __init__(self, reads: Spec, serving: Serving = HERE) -> None:
        self._reads, self._limit_s = reads, serving.limit_s
        self._model = shared(reads, serving)
        self._evidence = EvidenceReader() if reads.evidence else None
        beside = EvidenceReader.NAMES if reads.evidence else ()
        self.NAMES: Sequence[str] = (*reads.columns(), *beside)

    def read(self, history: History) -> tuple[Sequence[str], Features]:
        """Raises Late with what there is where the time was over before all was read."""
        try:
            found = self._model.read(history, self._limit_s)
        except TimeoutError:
            nothing = np.zeros((0, len(self.NAMES)), np.float32)  # (0, width)
            raise Late((), nothing, NOBODY) from None
        x = self._rows(history, found.ids, found.candidates, found.current)
        if found.stale or len(found.ids) < len(history.interactions):
            raise Late(found.ids, x, found.stale)
        return found.ids, x

    def _rows(
        self, history: History, ids: Sequence[str], candidates: Features, current: Features
    ) -> Features:
        """The columns as `vectors.blocks.inputs` has them for training."""
        parts = [candidates, np.broadcast_to(current, candidates.shape)]
        if self._reads.nearest:
            parts.append(np.broadcast_to(nearest_mean(candidates, current), candidates.shape))
        if self._reads.recurrent:
            parts.insert(0, np.zeros((len(ids), 1), np.float32))  # one history, one state
        if self._evidence is not None:
            names, evidence = self._evidence.read(history)  # (interactions, evidence)
            places = {name: place for place, name in enumerate(names)}
            parts.append(evidence[[places[name] for name in ids]])
        return np.concatenate(parts, axis=1).astype(np.float32)  # (n, width)
