"""What was judged before, in a folder: a study that is stopped goes on where it was.

A judgement is named by all that makes it: pairs, labels, forecasts, folds, configurations, and how
validation decides among them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from statecomp.router.cross import DEFAULT, Choice, Learner
from statecomp.router.folds import Fold
from statecomp.router.pairs import Floats, Pairs

CHOSEN = "chosen"
"""The name of the scores by the calibration that was asked for."""
SAYS = "says"


@dataclass(frozen=True)
class Trial:
    """What is cross-validated, and how."""

    pairs: Pairs
    folds: Sequence[Fold]
    learners: Mapping[str, Learner]
    choice: Choice = DEFAULT

    def name(self) -> str:
        """Another one for whatever could change what comes of it; the same on every day."""
        pairs = self.pairs
        given = (pairs.runs, [*self.folds], sorted(self.learners.items()), self.choice)
        made = hashlib.sha256(_spelled(given).encode())
        columns = [pairs.x, pairs.ready, pairs.run, pairs.number, pairs.checkpoint]
        columns += [] if pairs.foreseen is None else [pairs.foreseen]
        for column in columns:
            made.update(np.ascontiguousarray(column).tobytes())
        return made.hexdigest()[:32]


@dataclass(frozen=True)
class Judgement:
    """What is asked of a trial: its numbers, and scores of every pair (NaN: not tested)."""

    says: Any
    scores: Mapping[str, Floats]


@dataclass(frozen=True)
class Kept:
    """`folder` None keeps nothing."""

    folder: Path | None = None

    def once(self, trial: Trial, judge: Callable[[], Judgement]) -> Judgement:
        """What is kept of this trial, or what `judge` makes of it now."""
        if self.folder is None:
            return judge()  # nothing is named, and no label is read before its time
        file = self.folder / f"{trial.name()}.npz"
        if (known := _read(file)) is None:
            known = judge()
            _write(file, known)
        return known


FORGETS = Kept()


def _read(file: Path) -> Judgement | None:
    try:
        with np.load(file, allow_pickle=False) as found:
            scores = {name: found[name] for name in found.files if name != SAYS}
            return Judgement(json.loads(str(found[SAYS])), scores)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None  # not judged yet, or stopped while it was written


def _write(file: Path, judgement: Judgement) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".part.npz")
    named: dict[str, Any] = {SAYS: np.array(json.dumps(judgement.says)), **judgement.scores}
    np.savez_compressed(draft, **named)
    draft.replace(file)


def _spelled(value: object) -> str:
    """As `repr`, but sets in order: theirs is another one in every process."""
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(_spelled, value)))}}}"
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{part.name}={_spelled(getattr(value, part.name))}" for part in fields(value))
        return f"{type(value).__qualname__}({', '.join(parts)})"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_spelled, value))}]"
    return repr(value)
