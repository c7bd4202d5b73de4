"""Features on disk, by content: one shard a run, written whole or not at all.

A shard is named by what made it (the run's content, the encoder, its layer, the construction and
the version of this code), so a stopped extraction goes on where it was and a changed one starts
anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory

# Raise it with any change that gives the same run other numbers.
VERSION: Final = 1
_KEY: Final = "key.json"
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class StoreRecipe:
    """How features were made, apart from the run itself."""

    encoder: str
    layer: int
    construction: str
    version: int = VERSION


def run_digest(run: Trajectory) -> str:
    """What the run says, whatever it is called and wherever it lies."""
    content = json.dumps([run.protocol, list(run.messages)], sort_keys=True, default=str)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


class FeatureStore:
    """A folder of shards made by one recipe; others may live in the same folder."""

    def __init__(self, folder: Path, recipe: StoreRecipe) -> None:
        self.folder = folder
        self.recipe = recipe

    def path(self, run: Trajectory) -> Path:
        return self.folder / f"{hashlib.sha256(self._key(run).encode()).hexdigest()[:40]}.npz"

    def missing(self, runs: Iterable[Trajectory]) -> list[Trajectory]:
        """The runs still to do; what was interrupted left no shard."""
        return [run for run in runs if not self.path(run).exists()]

    def write(self, run: Trajectory, arrays: Arrays) -> Path:
        path, temporary = self.path(run), None
        key = np.frombuffer(self._key(run).encode(), dtype=np.uint8)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.folder, suffix=".part", delete=False) as file:
                temporary = Path(file.name)
                np.savez(file, allow_pickle=False, **{_KEY: key, **arrays})
                # A name that points to unwritten blocks after a power cut would look complete.
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from error
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
        return path

    def read(self, run: Trajectory) -> dict[str, NDArray[Any]]:
        """The arrays of a run; raises BadInput where the shard is absent, damaged or foreign."""
        path = self.path(run)
        try:
            # numpy leaves a file open that it cannot read, so we open it.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as shard:
                arrays = {name: shard[name] for name in shard.files}
        except FileNotFoundError as error:
            raise BadInput(f"run {run.id} has no features yet; extract them", file=str(path)) from (
                error
            )
        # numpy raises each of these for one kind of damage or another.
        except (OSError, ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile) as error:
            problem = "this shard is damaged; delete it and extract again"
            raise BadInput(problem, file=str(path)) from error
        key = arrays.pop(_KEY, None)
        if key is None or key.tobytes() != self._key(run).encode():
            problem = "this shard was not made from this run by this recipe; delete it"
            raise BadInput(problem, file=str(path))
        return arrays

    def _key(self, run: Trajectory) -> str:
        return json.dumps({"run": run_digest(run), **asdict(self.recipe)}, sort_keys=True)
