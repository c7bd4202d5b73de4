"""What decides readiness: a router, plain age, or true labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import cast

from statecomp.annotate.labels import Label, LabelScorer, read_labels
from statecomp.config.options import Options
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.strategy import Scorer


@dataclass(frozen=True)
class Scoring:
    """A scorer for each run, and the threshold that belongs to it."""

    scorer: Callable[[Trajectory], Scorer]
    threshold: float = Gates().threshold


def scoring(spec: str) -> Scoring:
    """`router[:FOLDER]`, `age:after=3` or `labels:PATH`."""
    name, _, rest = spec.partition(":")
    if name == "age":
        options = Options(spec, rest)
        age = AgeScorer(options.whole("after", AgeScorer().after))
        options.done()
        return Scoring(lambda run: age)
    if name == "labels":
        if not rest:
            raise BadInput("names no file; write labels:PATH", field="scorer")
        labels = _labels(rest)
        return Scoring(lambda run: LabelScorer(labels.get(run.id, {})))
    if name == "router":
        return _router(rest)
    known = "router[:FOLDER], age:after=N and labels:PATH"
    raise BadInput(f"is {name!r}; known are {known}", field="scorer")


def _router(folder: str) -> Scoring:
    """The shipped router, or one from a folder, at the threshold it was trained for."""
    try:
        shipped = import_module("statecomp.router.shipped")
    except ModuleNotFoundError as error:
        problem = f"needs {error.name}: install statecomp[router]"
        raise BadInput(problem, field="scorer router") from error
    threshold = shipped.open_bundle(folder).threshold
    return Scoring(lambda run: cast(Scorer, shipped.open_scorer(folder)), threshold)


@lru_cache(maxsize=4)
def _labels(path: str) -> Mapping[str, Mapping[int, Label]]:
    return read_labels(Path(path))
