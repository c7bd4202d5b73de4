"""A study's table: one row a configuration, judged on the same folds, its spread beside its mean.

`judge_rows` chooses on train and validation alone; `cross_validate` reads test labels last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean, pstdev
from typing import Any

from statecomp.router.cross import DEFAULT, Choice, CrossValidated, Learner, cross_validate
from statecomp.router.folds import Fold
from statecomp.router.pairs import Pairs

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
class Entry:
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
class Row:
    """What an entry reached on pairs with k >= i+2; `pooled` are all test pairs together."""

    name: str
    numbers: Mapping[str, Spread | None]
    pooled: Mapping[str, Any]
    chosen: tuple[str, ...]
    notes: Notes


@dataclass(frozen=True)
class Table:
    """Rows with what a reader must know about them."""

    title: str
    caption: str
    rows: tuple[Row, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


Progress = Callable[[str, int, str], None]


def judge_rows(
    entries: Iterable[Entry],
    folds: Sequence[Fold],
    choice: Choice = DEFAULT,
    progress: Progress = lambda row, fold, stage: None,
) -> list[Row]:
    """Each entry cross-validated; `progress` hears (row, fold, "choose" or "judge").

    Two names for one configuration on the same pairs are judged once.
    """
    rows: list[Row] = []
    known: dict[tuple[object, ...], Row] = {}
    for entry in entries:
        same = (entry.pairs, *entry.learners.items())
        if same in known:
            rows.append(replace(known[same], name=entry.name, notes=dict(entry.notes)))
            continue

        def hear(fold: int, stage: str, name: str = entry.name) -> None:
            progress(name, fold, stage)

        result = cross_validate(entry.pairs(), folds, entry.learners, choice, hear)
        known[same] = row_of(entry.name, result, entry.notes)
        rows.append(known[same])
    return rows


def row_of(name: str, result: CrossValidated, notes: Notes) -> Row:
    parts = [judged.metrics[SETTLED] for judged in result.folds]
    return Row(
        name=name,
        numbers={key: spread([part.get(key) for part in parts]) for key in COLUMNS},
        pooled=result.metrics[SETTLED],
        chosen=tuple(judged.chosen.name for judged in result.folds),
        notes=dict(notes),
    )


def spread(values: Sequence[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(fmean(known), pstdev(known), len(known)) if known else None


def from_json(record: Mapping[str, Any]) -> Table:
    """What `as_json` wrote."""
    rows = tuple(
        Row(
            name=row["name"],
            numbers={k: Spread(**v) if v else None for k, v in row["numbers"].items()},
            pooled=row["pooled"],
            chosen=tuple(row["chosen"]),
            notes=row["notes"],
        )
        for row in record["rows"]
    )
    return Table(record["title"], record["caption"], rows)
