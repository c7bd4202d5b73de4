"""The router that comes with the package, and routers from a folder."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from statecomp.features.evidence import EvidenceReader
from statecomp.router.bundle import Bundle, load
from statecomp.router.scorer import RouterScorer

SHIPPED = "default"
"""Evidence features only, so no language model is needed (docs/decisions/0004)."""


def open_bundle(folder: str = "") -> Bundle:
    """The bundle in a folder, or the one shipped with the package."""
    if folder:
        return load(Path(folder))
    with as_file(files("statecomp").joinpath("bundles", SHIPPED)) as path:
        return load(path)


def open_scorer(folder: str = "") -> RouterScorer:
    """A fresh scorer; one per conversation keeps what it has read of it."""
    return RouterScorer(EvidenceReader(), open_bundle(folder))
