"""A study's table: one row a configuration, judged on the same folds, its spread beside its mean.

`judge_rows` chooses on train and validation alone; `cross_validate` reads test labels last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean, pstdev
from typing import Any

import numpy as np

from statecomp.router.cross import DEFAULT, Choice, CrossValidated, Learner, cross_validate
from statecomp.router.folds import Fold
from statecomp.router.metrics import auroc
from statecomp.router.paired import Difference, difference
from statecomp.router.pairs import Floats, Pairs
from statecomp_bench.study.kept import FORGETS, Kept, KeptJudgement, name_of

COLUMNS: Mapping[str, str] = {
    "auroc": "AUROC",
    "ready_pr_auc": "PR READY",
    "keep_pr_auc": "PR KEEP",
    "coverage_at_98": "coverage at 98 %",
    "precision": "precision",
    "recall": "recall",
    "unsafe_rate": "unsafe",
    "ece": "ECE",
    "f1": "F1",
    "balanced_accuracy": "bal. acc.",
}
SETTLED = "settled"
Notes = Mapping[str, str]


@dataclass(frozen=True)
class StudyEntry:
    """A row to be judged; `notes` are further columns, such as what its features cost."""

    name: str
    pairs: Callable[[], Pairs]
    learners: Mapping[str, Learner]
    notes: Notes = field(default_factory=dict)


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over the folds that have the number."""

    mean: float
    deviation: float
    folds: int


@dataclass(frozen=True)
class StudyRow:
    """What an entry reached on pairs with k >= i+2; `pooled` are all test pairs together."""

    name: str
    numbers: Mapping[str, Spread | None]
    pooled: Mapping[str, Any]
    chosen: tuple[str, ...]
    notes: Notes


@dataclass(frozen=True)
class StudyTable:
    """Rows with what a reader must know about them."""

    title: str
    caption: str
    rows: tuple[StudyRow, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


Progress = Callable[[str, int, str], None]


def quiet(row: str, fold: int, stage: str) -> None:
    """Says nothing."""


def judge_rows(
    entries: Iterable[StudyEntry],
    folds: Sequence[Fold],
    choice: Choice = DEFAULT,
    progress: Progress = quiet,
    against: Sequence[str] = (),
    kept: Kept = FORGETS,
) -> list[StudyRow]:
    """Each entry cross-validated; `progress` hears (row, fold, "choose" or "judge").

    Two names for one configuration on the same pairs are judged once.  Rows get, for each row named
    in `against`, how far their AUROC lies from its, on the same pairs with tasks drawn anew; all
    entries must then be of the same pairs.  What is `kept` is not judged again.
    """
    rows: list[StudyRow] = []
    scores: dict[str, Floats] = {}
    known: dict[tuple[object, ...], KeptJudgement] = {}
    pairs: Pairs | None = None
    for entry in entries:
        pairs, same = entry.pairs(), (entry.pairs, *entry.learners.items())

        def hear(fold: int, stage: str, name: str = entry.name) -> None:
            progress(name, fold, stage)

        judged = known.get(same) or _judged(entry, pairs, folds, choice, hear, kept)
        known[same] = judged
        rows.append(replace(_row(judged.row), name=entry.name, notes=dict(entry.notes)))
        scores[entry.name] = judged.scores
    if pairs is None or not against:
        return rows
    return [
        replace(row, notes={**row.notes, **_gaps(row.name, scores, pairs, against)}) for row in rows
    ]


def _judged(
    entry: StudyEntry,
    pairs: Pairs,
    folds: Sequence[Fold],
    choice: Choice,
    hear: Callable[[int, str], None],
    kept: Kept,
) -> KeptJudgement:
    # Without a folder nothing is named, and no label is read before its time.
    name = name_of(pairs, folds, entry.learners) if kept.folder else ""
    if (known := kept.find(name)) is not None:
        return known
    result = cross_validate(pairs, folds, entry.learners, choice, hear)
    judged = KeptJudgement(asdict(row_of(entry.name, result, entry.notes)), result.scores)
    kept.put(name, judged)
    return judged


def _gaps(
    name: str, scores: Mapping[str, Floats], pairs: Pairs, against: Sequence[str]
) -> dict[str, str]:
    tasks = np.array(pairs.groups)[pairs.run]  # (pairs,)
    found = {}
    for other in against:
        if other not in scores:
            continue
        mine, theirs = scores[name], scores[other]
        rows = (pairs.age >= 2) & np.isfinite(mine) & np.isfinite(theirs)  # (pairs,)
        gap = difference(auroc, mine[rows], theirs[rows], pairs.ready[rows], [*tasks[rows]])
        found[f"AUROC − {other}"] = "" if name == other else words(gap)
    return found


def words(gap: Difference | None) -> str:
    """A difference with its interval; one that chance does not explain stands in bold."""
    if gap is None:
        return "n/a"
    said = f"{gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"
    return f"**{said}**" if gap.low > 0 or gap.high < 0 else said


def row_of(name: str, result: CrossValidated, notes: Notes) -> StudyRow:
    parts = [judged.metrics[SETTLED] for judged in result.folds]
    return StudyRow(
        name=name,
        numbers={key: spread([part.get(key) for part in parts]) for key in COLUMNS},
        pooled=result.metrics[SETTLED],
        chosen=tuple(judged.chosen.name for judged in result.folds),
        notes=dict(notes),
    )


def spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(fmean(known), pstdev(known), len(known)) if known else None


def from_json(record: Mapping[str, Any]) -> StudyTable:
    """What `as_json` wrote."""
    return StudyTable(
        record["title"], record["caption"], tuple(_row(row) for row in record["rows"])
    )


def _row(record: Mapping[str, Any]) -> StudyRow:
    return StudyRow(
        name=record["name"],
        numbers={k: Spread(**v) if v else None for k, v in record["numbers"].items()},
        pooled=record["pooled"],
        chosen=tuple(record["chosen"]),
        notes=record["notes"],
    )
