"""Tasks that were done, for all tests that ask what a checker makes of them."""

from __future__ import annotations

import os
import pickle
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from bench.tests.running import Finished, TaskFinished, finish
from statecomp_bench.tasks import task_named


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> TaskFinished:
    """A task as the scripted agent with the whole history leaves it.

    Each is done once for all test processes: whoever needs it first puts it on the shelf.
    """
    own = tmp_path_factory.getbasetemp()
    shelf = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "finished"
    shelf.mkdir(exist_ok=True)

    @cache
    def of(name: str) -> Finished:
        case, place = task_named(name).case(), shelf / name
        if not place.exists():
            made = Path(mkdtemp(dir=shelf))
            (made / "told").write_bytes(pickle.dumps(finish(case, made / "workspace")))
            try:
                made.rename(place)
            except OSError:
                assert place.exists()  # another process was faster
        return Finished(case, place / "workspace", *pickle.loads((place / "told").read_bytes()))

    return of
