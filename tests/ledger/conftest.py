"""The places a ledger can live in, each as a way to open it as often as one likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from tests.ledger.samples import masked
from tests.postgres import Cluster, running_cluster

Opener = Callable[[], Ledger]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def database(cluster: Cluster) -> str:
    return cluster.database()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a ledger that is not there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "data" / "ledger.sqlite")
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.emptied(request.getfixturevalue("database"))


@pytest.fixture
def opener(store: str) -> Iterator[Opener]:
    """Opens the same ledger anew each time, as another process would."""
    opened: list[Ledger] = []

    def again() -> Ledger:
        opened.append(open_ledger(store, mask=masked))
        return opened[-1]

    yield again
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(opener: Opener) -> Ledger:
    return opener()
