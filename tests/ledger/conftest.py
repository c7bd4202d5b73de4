"""The places a ledger can live in, each as a way to open it as often as one likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from statecomp.ledger.open import open_ledger
from statecomp.ledger.sql_ledger import SqlLedger
from tests.ledger.samples import masked
from tests.postgres import Cluster, running_cluster

Opener = Callable[[], SqlLedger]


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
    opened: list[SqlLedger] = []

    def again() -> SqlLedger:
        opened.append(open_ledger(store, mask=masked))
        return opened[-1]

    yield again
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(opener: Opener) -> SqlLedger:
    return opener()
