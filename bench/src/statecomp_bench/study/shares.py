"""The table of training data and run length: how quality moves with each, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from statecomp_bench.study.curves import FRACTIONS, Curves, study_router
from statecomp_bench.study.rows import PLAINLY, Judging, StudyEntry, StudyRow, spread
from statecomp_bench.study.writing import cell

MEASURE = "auroc"


def judge_shares(
    entries: Sequence[StudyEntry],
    how: Judging = PLAINLY,
    fractions: Sequence[float] = FRACTIONS,
) -> list[StudyRow]:
    """AUROC of each entry with a share of the training runs, and by length with all of them."""
    rows = []
    for entry in entries:
        how.progress(entry.name, 1, "choose")
        study = study_router(entry.pairs(), entry.learners, how, fractions)
        notes = {
            **_places(study.fractions, "{} of the runs"),
            **_places(study.lengths, "{} runs"),
        }
        counts = {"pairs": len(study.ready), "ready": int(study.ready.sum())}
        rows.append(StudyRow(entry.name, {}, counts, (), notes))
    return rows


def _places(curves: Curves, name: str) -> Mapping[str, str]:
    """Mean and deviation over the folds, at each place of a curve."""
    return {
        name.format(place): cell(spread([fold[number] for fold in curves.folds[MEASURE]]))
        for number, place in enumerate(curves.places)
    }
