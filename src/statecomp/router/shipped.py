"""The router that comes with the package, and routers from a folder: one, or those of all folds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.features.evidence import EvidenceReader
from statecomp.router.bundle import Bundle, load, save
from statecomp.router.hidden.opened import HERE, Serving, must_be_here
from statecomp.router.hidden.reader import HiddenReader
from statecomp.router.scorer import RouterScorer

SHIPPED = "default"
"""Evidence features only, so no language model is needed (docs/decisions/0004)."""
PAPER = "paper"
"""The paper's own: Capped Recent4 and Hybrid, hidden states of the embedded model."""

FOLDS = "folds.json"


def open_bundle(folder: str = "") -> Bundle:
    """The bundle in a folder, or the one shipped with the package."""
    return load(Path(folder)) if folder else shipped_bundle(SHIPPED)


def shipped_bundle(name: str) -> Bundle:
    with as_file(files("statecomp").joinpath("bundles", name)) as path:
        return load(path)


def open_scorer(folder: str = "", serving: Serving = HERE) -> RouterScorer:
    """A fresh scorer; one per conversation keeps what it has read of it."""
    return scorer_of(open_bundle(folder), serving, Path(folder).name if folder else "shipped")


def scorer_of(bundle: Bundle, serving: Serving = HERE, name: str = "") -> RouterScorer:
    """A language model that a router reads is opened when it first scores, one for all scorers."""
    if not bundle.reads.hidden:
        return RouterScorer(EvidenceReader(), bundle, name=name)
    must_be_here(bundle.reads, serving)
    return RouterScorer(HiddenReader(bundle.reads, serving), bundle, bundle.reads.encoder, name)


def instead_of(name: str, serving: Serving = HERE) -> str:
    """Why the shipped evidence router scores instead of this one; empty where it does not."""
    reads = shipped_bundle(name).reads
    try:
        must_be_here(reads, serving)
    except BadInput as problem:
        return f"the shipped evidence router scores instead of the paper's: {problem}"
    return ""


def save_folds(folder: Path, bundles: Sequence[Bundle], unseen: Mapping[str, int]) -> None:
    """A router for each fold of a cross-validation, and which of them has not seen a task.

    Recorded runs that a router learned from say nothing about how it does on new ones; replaying
    each with a router that never saw its task does.  The list comes last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FOLDS).unlink(missing_ok=True)
    for number, bundle in enumerate(bundles):
        save(folder / str(number), bundle)
    document = {"folds": len(bundles), "unseen": dict(sorted(unseen.items()))}
    (folder / FOLDS).write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def fold_folders(folder: str) -> list[str]:
    """Where the routers are."""
    return [str(Path(folder, str(number))) for number in range(_folds(folder)["folds"])]


def unseen_router(folder: str, task: str) -> str:
    """The folder of a router that has not seen this task; one that none has seen may have any."""
    return str(Path(folder, str(_folds(folder)["unseen"].get(task, 0))))


@lru_cache(maxsize=4)
def _folds(folder: str) -> dict[str, Any]:
    path = Path(folder, FOLDS)
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if document["folds"] < 1 or not isinstance(document["unseen"], dict):
            raise ValueError
        return document
    except OSError as error:
        problem = "is not there; `statecomp evaluate --save-folds` writes it"
        raise BadInput(problem, file=str(path)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput("is not a list of folds", file=str(path)) from error
