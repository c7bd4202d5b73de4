"""What decides readiness: a router, plain age, or true labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from statecomp.annotation.labels import Label, LabelScorer, read_labels
from statecomp.controller.age import AgeScorer
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.options import Options
from statecomp.recipes import DEFAULT_ROUTER, Recipe
from statecomp.replays.sessions import labels_of
from statecomp.strategy import Scorer

Scoring: TypeAlias = Callable[[Trajectory], Scorer]
"""A scorer for each run."""


def scoring(spec: str, serving: Mapping[str, Any] = MappingProxyType({})) -> Scoring:
    """`router[:FOLDER]`, `paper`, `folds:FOLDER`, `age:after=3` or `labels:PATH`.

    `serving` says how a router's language model is run (`router.hidden.opened.Serving`).
    """
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
        run_by = shipped.Serving(**serving)
        return lambda run: cast(Scorer, shipped.open_scorer(rest, run_by))
    if name == "paper":
        shipped = _routing()
        run_by, bundle = shipped.Serving(**serving), shipped.shipped_bundle(shipped.PAPER)
        return lambda run: cast(Scorer, shipped.scorer_of(bundle, run_by))
    if name == "folds":
        # For each run a router that has not seen its task.
        shipped = _routing()
        run_by = shipped.Serving(**serving)
        return lambda run: cast(
            Scorer, shipped.open_scorer(shipped.unseen_router(rest, run.group), run_by)
        )
    known = "router[:FOLDER], paper, folds:FOLDER, age:after=N and labels:PATH"
    raise BadInput(f"is {name!r}; known are {known}", field="scorer")


def default_scorer(recipe: Recipe, serving: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The router of the recipe where it can be used, else the shipped one, else plain age.

    A warning says in one sentence what scores instead, and why.
    """
    if not (find_spec("numpy") and find_spec("safetensors")):
        return "age"
    if recipe.router == DEFAULT_ROUTER:
        return "router"
    shipped = _routing()
    if problem := shipped.instead_of(recipe.router, shipped.Serving(**serving)):
        warnings.warn(problem, stacklevel=2)
        return "router"
    return recipe.router


def scores_at_once(spec: str) -> bool:
    """Whether no language model is read, so that scoring is a matter of milliseconds."""
    name, _, rest = spec.partition(":")
    if name not in ("router", "folds", "paper"):
        return True
    shipped = _routing()
    if name == "paper":
        return not shipped.shipped_bundle(shipped.PAPER).reads.hidden
    folder = shipped.fold_folders(rest)[0] if name == "folds" else rest
    return not shipped.open_bundle(folder).reads.hidden


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
