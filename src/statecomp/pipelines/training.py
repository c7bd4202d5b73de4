"""A router from labelled runs, and how good such a one is."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from statecomp.annotation.forecasts import Forecasts, read_forecasts
from statecomp.annotation.labels import Labels, read_labels
from statecomp.pipelines.runs import ChosenRuns, Runs, held
from statecomp.router import pipeline
from statecomp.router.bundle import save
from statecomp.router.pipeline import (
    HERE,
    Evaluated,
    Material,
    TrainedRouter,
    TrainingPlan,
    Workplace,
)

LabelsOrFile: TypeAlias = Labels | str | Path
AS_SHIPPED = TrainingPlan()


def train(
    runs: Runs,
    labels: LabelsOrFile,
    *,
    out: str | Path | None = None,
    more_labels: LabelsOrFile | None = None,
    forecasts: Forecasts | str | Path | None = None,
    plan: TrainingPlan = AS_SHIPPED,
    at: Workplace = HERE,
) -> TrainedRouter:
    """A router learned from labelled runs; with `out` it is written there as a bundle.

    Scores are calibrated, and the threshold is chosen, on tasks that were not learned from.  Runs
    of `more_labels` are learned from and never judged on.  `plan` says what is read and learned.
    """
    made = pipeline.train(_material(runs, labels, more_labels, forecasts), plan, at)
    if out is not None:
        save(Path(out), made.bundle)
    return made


def evaluate(
    runs: Runs,
    labels: LabelsOrFile,
    *,
    more_labels: LabelsOrFile | None = None,
    forecasts: Forecasts | str | Path | None = None,
    plan: TrainingPlan = AS_SHIPPED,
    at: Workplace = HERE,
) -> Evaluated:
    """How good a router of this plan is: five rotations, no task in two parts."""
    return pipeline.evaluate(_material(runs, labels, more_labels, forecasts), plan, at)


def _material(
    runs: Runs,
    labels: LabelsOrFile,
    more: LabelsOrFile | None,
    forecasts: Forecasts | str | Path | None,
) -> Material:
    files = [
        Path(given).name for given in (labels, more, forecasts) if isinstance(given, str | Path)
    ]
    said = read_forecasts(Path(forecasts)) if isinstance(forecasts, str | Path) else forecasts
    return Material(
        held(ChosenRuns.of(runs)),
        _read(labels),
        None if more is None else _read(more),
        said,
        ", ".join(files) or "labels given in Python",
    )


def _read(labels: LabelsOrFile) -> Labels:
    return read_labels(Path(labels)) if isinstance(labels, str | Path) else labels
