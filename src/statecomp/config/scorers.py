"""What decides readiness: a router, plain age, or true labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, cast

from statecomp.annotate.labels import Label, LabelScorer, read_labels
from statecomp.config.options import Options
from statecomp.controller.age import AgeScorer
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replay.sessions import labels_of
from statecomp.strategy import Scorer

Scoring: TypeAlias = Callable[[Trajectory], Scorer]
"""A scorer for each run."""


def scoring(spec: str) -> Scoring:
    """`router[:FOLDER]`, `folds:FOLDER`, `age:after=3` or `labels:PATH`."""
    name, _, rest = spec.partition(":")
    if name == "age":
        options = Options(spec, rest)
        age = AgeScorer(options.whole("after", AgeScorer().after))
        options.done()
        return lambda run: age
    if name == "labels":
        if not rest:
            raise BadInput("names no file; write labels:PATH", field="scorer")
        labels = _labels(rest)
        return lambda run: LabelScorer(labels_of(run, labels))
    if name == "router":
        shipped = _routing()
        return lambda run: cast(Scorer, shipped.open_scorer(rest))
    if name == "folds":
        # For each run a router that has not seen its task.
        shipped = _routing()
        return lambda run: cast(Scorer, shipped.open_scorer(shipped.unseen_router(rest, run.group)))
    known = "router[:FOLDER], folds:FOLDER, age:after=N and labels:PATH"
    raise BadInput(f"is {name!r}; known are {known}", field="scorer")


def default_scorer() -> str:
    """The shipped router where numpy is there to score with it, else plain age."""
    return "router" if find_spec("numpy") and find_spec("safetensors") else "age"


def _routing() -> Any:
    """Scoring with a router needs numpy, which the package does without."""
    try:
        return import_module("statecomp.router.shipped")
    except ModuleNotFoundError as error:
        problem = f"needs {error.name}: install statecomp[router]"
        raise BadInput(problem, field="scorer router") from error


@lru_cache(maxsize=4)
def _labels(path: str) -> Mapping[str, Mapping[int, Label]]:
    return read_labels(Path(path))
