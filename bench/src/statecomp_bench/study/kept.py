"""Rows that were judged before, in a folder: a study that is stopped goes on where it was.

A row is named by all that makes it: its pairs, labels, folds and configurations.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from statecomp.router.cross import Learner
from statecomp.router.folds import Fold
from statecomp.router.pairs import Floats, Pairs


@dataclass(frozen=True)
class KeptJudgement:
    """What a table needs of one row: its numbers, and a score for every pair (NaN: not tested)."""

    row: Mapping[str, Any]
    scores: Floats


@dataclass(frozen=True)
class Kept:
    """`folder` None keeps nothing."""

    folder: Path | None = None

    def find(self, name: str) -> KeptJudgement | None:
        if self.folder is None:
            return None
        try:
            with np.load(self.folder / f"{name}.npz", allow_pickle=False) as found:
                return KeptJudgement(json.loads(str(found["row"])), found["scores"])
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None  # not judged yet, or stopped while it was written

    def put(self, name: str, judgement: KeptJudgement) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f"{name}.part.npz"
        np.savez_compressed(draft, row=json.dumps(judgement.row), scores=judgement.scores)
        draft.replace(self.folder / f"{name}.npz")


FORGETS = Kept()


def name_of(pairs: Pairs, folds: Sequence[Fold], learners: Mapping[str, Learner]) -> str:
    made = hashlib.sha256(repr((pairs.runs, [*folds], sorted(learners.items()))).encode())
    for column in (pairs.x, pairs.ready, pairs.run, pairs.number, pairs.checkpoint):
        made.update(np.ascontiguousarray(column).tobytes())
    return made.hexdigest()[:32]
