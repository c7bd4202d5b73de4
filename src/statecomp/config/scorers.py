"""What decides readiness: a router, plain age, or true labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from statecomp.annotate.labels import Label, LabelScorer, read_labels
from statecomp.config.options import Options
from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replay.sessions import labels_of
from statecomp.strategy import Scorer

ROUTED = Gates(longer_than=0, min_source_tokens=300, unsafe_tokens=24_000)
"""What did best with the shipped router and summaries in the closed loop (docs/lab-log.md)."""
PAYING_TOKENS = 4000
"""`unsafe_tokens` where commits must pay as well: they come later, when less is still needed."""


@dataclass(frozen=True)
class Scoring:
    """A scorer for each run, and the gates that suit its scores."""

    scorer: Callable[[Trajectory], Scorer]
    gates: Gates = Gates()


def scoring(spec: str) -> Scoring:
    """`router[:FOLDER]`, `folds:FOLDER`, `age:after=3` or `labels:PATH`."""
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
        return Scoring(lambda run: LabelScorer(labels_of(run, labels)))
    if name == "router":
        return _router(rest)
    if name == "folds":
        return _folds(rest)
    known = "router[:FOLDER], folds:FOLDER, age:after=N and labels:PATH"
    raise BadInput(f"is {name!r}; known are {known}", field="scorer")


def default_scorer() -> str:
    """The shipped router where numpy is there to score with it, else plain age."""
    return "router" if find_spec("numpy") and find_spec("safetensors") else "age"


def gates_of(options: Options, scored: Scoring, *, pays: bool) -> Gates:
    """`gates=paper`, or the scorer's own, with what is set one by one.

    Where a commit must pay, what a rewrite costs is known; the length of a span need not stand
    for it.
    """
    which = options.one_of("gates", "own", "paper")
    gates = Gates() if which == "paper" else scored.gates
    if pays and which == "own":
        gates = replace(gates, longer_than=0, unsafe_tokens=min(gates.unsafe_tokens, PAYING_TOKENS))
    # Whoever names a threshold means it for every interaction.
    fixed = options.real("threshold", 0.0)
    if fixed:
        gates = replace(gates, threshold=fixed, unsafe_tokens=0)
    return replace(
        gates,
        longer_than=options.whole("longer_than", gates.longer_than),
        min_source_tokens=options.whole("min_source_tokens", gates.min_source_tokens),
        unsafe_tokens=options.whole("unsafe_tokens", gates.unsafe_tokens),
    )


def _router(folder: str) -> Scoring:
    """The shipped router, or one from a folder, at the threshold it was trained for."""
    shipped = _routing()
    gates = replace(ROUTED, threshold=shipped.open_bundle(folder).threshold)
    return Scoring(lambda run: cast(Scorer, shipped.open_scorer(folder)), gates)


def _folds(folder: str) -> Scoring:
    """For each run a router that has not seen its task, at the strictest of their thresholds."""
    shipped = _routing()
    thresholds = [shipped.open_bundle(one).threshold for one in shipped.fold_folders(folder)]
    return Scoring(
        lambda run: cast(Scorer, shipped.open_scorer(shipped.unseen_router(folder, run.group))),
        replace(ROUTED, threshold=max(thresholds)),
    )


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
