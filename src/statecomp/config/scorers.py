"""What decides readiness: a router, plain age, or true labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from statecomp.annotation.labels import Label, LabelScorer, read_labels
from statecomp.controller.age import AgeScorer
from statecomp.errors import BadInput, needing
from statecomp.history.trajectory import Trajectory
from statecomp.options import Options
from statecomp.recipes import DEFAULT_ROUTER, Recipe
from statecomp.replays.sessions import labels_of
from statecomp.router.hidden.opened import HERE, Serving
from statecomp.strategy import Scorer

Scoring: TypeAlias = Callable[[Trajectory], Scorer]
"""A scorer for each run."""
ROUTED = ("router", "folds", "paper")
# Scoring with a router needs numpy, which the package does without.
NEEDS, FIELD = "needs more libraries: install statecomp[router]", "scorer router"


def scoring(spec: str, serving: Serving = HERE) -> Scoring:
    """`router[:FOLDER]`, `paper`, `folds:FOLDER`, `age:after=3` or `labels:PATH`."""
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
    if name in ROUTED:
        return _routed(name, rest, serving)
    known = "router[:FOLDER], paper, folds:FOLDER, age:after=N and labels:PATH"
    raise BadInput(f"is {name!r}; known are {known}", field="scorer")


def _routed(name: str, rest: str, serving: Serving) -> Scoring:
    with needing(NEEDS, field=FIELD):
        from statecomp.router import shipped
    if name == "router":
        return lambda run: shipped.open_scorer(rest, serving)
    if name == "paper":
        bundle = shipped.shipped_bundle(shipped.PAPER)
        return lambda run: shipped.scorer_of(bundle, serving)
    # For each run a router that has not seen its task.
    return lambda run: shipped.open_scorer(shipped.unseen_router(rest, run.group), serving)


def default_scorer(recipe: Recipe, serving: Serving = HERE) -> str:
    """The router of the recipe where it can be used, else the shipped one, else plain age.

    A warning says in one sentence what scores instead, and why.
    """
    if not (find_spec("numpy") and find_spec("safetensors")):
        return "age"
    if recipe.router == DEFAULT_ROUTER:
        return "router"
    with needing(NEEDS, field=FIELD):
        from statecomp.router import shipped
    if problem := shipped.instead_of(recipe.router, serving):
        warnings.warn(problem, stacklevel=2)
        return "router"
    return recipe.router


def scores_at_once(spec: str) -> bool:
    """Whether no language model is read, so that scoring is a matter of milliseconds."""
    name, _, rest = spec.partition(":")
    if name not in ROUTED:
        return True
    with needing(NEEDS, field=FIELD):
        from statecomp.router import shipped
    if name == "paper":
        return not shipped.shipped_bundle(shipped.PAPER).reads.hidden
    folder = shipped.fold_folders(rest)[0] if name == "folds" else rest
    return not shipped.open_bundle(folder).reads.hidden


@lru_cache(maxsize=4)
def _labels(path: str) -> Mapping[str, Mapping[int, Label]]:
    return read_labels(Path(path))
