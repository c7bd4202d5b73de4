"""A real PostgreSQL server for tests: its own cluster in a temporary folder, on loopback only.

@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster

def test_it(cluster: Cluster) -> None:
    url = cluster.database()  # a fresh database, as a postgresql:// URL
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path

import pytest

ACCOUNT = "postgres"
PASSWORD = "loopback-only-9f3a"
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "postgresql")
_NUMBERS = count(1)


class Cluster:
    """One server; `stop` ends it as a power cut would, `start` brings it back."""

    def __init__(self, binaries: Path, folder: Path, port: int) -> None:
        self._binaries = binaries
        self._folder = folder
        self.port = port

    def start(self) -> None:
        places = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder}"
        settings = f"-p {self.port} {places} -c fsync=off -c max_connections=60"
        self._control("start", "-w", "-t", "60", "-l", str(self._folder / "log"), "-o", settings)

    def stop(self) -> None:
        self._control("stop", "-w", "-m", "immediate")

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It takes connections and questions, and answers none."""
        master = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        serving = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        everybody = [master, *map(int, serving)]
        for process in everybody:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in everybody:
                os.kill(process, signal.SIGCONT)

    def database(self) -> str:
        """The URL of a new, empty database."""
        name = f"ledger{next(_NUMBERS)}"
        self._tell("postgres", f"CREATE DATABASE {name}")
        return f"postgresql://{ACCOUNT}:{PASSWORD}@127.0.0.1:{self.port}/{name}"

    def emptied(self, url: str) -> str:
        """The same database without our tables: much cheaper than one more."""
        self._tell(url.rpartition("/")[2], "DROP SCHEMA IF EXISTS statecomp CASCADE")
        return url

    def _tell(self, database: str, sql: str) -> None:
        where = ("-h", str(self._folder), "-p", str(self.port), "-d", database)
        self.run("psql", "-U", ACCOUNT, *where, "-c", sql)

    def run(self, program: str, *arguments: str) -> None:
        command = [*as_account(), str(self._binaries / program), *arguments]
        environ = {**os.environ, "PGPASSWORD": PASSWORD, "LC_ALL": "C.UTF-8"}
        # A server started here keeps its standard output: a pipe would never end.
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        assert done.returncode == 0, f"{program} ended with {done.returncode}"

    def _control(self, *arguments: str) -> None:
        self.run("pg_ctl", "-D", str(self._folder / "data"), *arguments)


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A started cluster; skips the test, and says why, where there is no PostgreSQL."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a short path: sockets live here
    try:
        password = folder / "password"
        password.write_text(PASSWORD)
        if os.getuid() == 0:
            for path in (folder, password):
                shutil.chown(path, ACCOUNT)
        cluster = Cluster(binaries, folder, _free_port())
        made = ("-D", str(folder / "data"), "-U", ACCOUNT, "-A", "scram-sha-256", "-E", "UTF8")
        cluster.run("initdb", *made, "--no-sync", "--pwfile", str(password))
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def as_account() -> list[str]:
    """PostgreSQL refuses to run as root; what changes that is not on everyone's path."""
    if os.getuid():
        return []
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    return [shutil.which("runuser", path=path) or "runuser", "-u", ACCOUNT, "--"]


@cache
def _binaries() -> Path | None:
    found = _installed()
    if found is None and os.getuid() == 0 and shutil.which(INSTALL[0]):
        subprocess.run(INSTALL, capture_output=True, check=False, timeout=300)
        found = _installed()
    return found


def _installed() -> Path | None:
    versions = [p for p in Path("/usr/lib/postgresql").glob("*/bin") if (p / "initdb").exists()]
    if versions:
        return max(versions, key=lambda path: float(path.parent.name))
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
