"""Offline work on a Ray cluster: the same job over the same items, on many machines."""

from __future__ import annotations

import logging
import os
import platform
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Generic

from statecomp import __version__
from statecomp.errors import BadInput
from statecomp.workers.engine import (
    AHEAD,
    RETRIES,
    In,
    Out,
    Watch,
    WorkersLost,
    in_order,
    unwatched,
)

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
CONNECT_S: Final = 5.0


class RayEngine:
    """Workers of the cluster at `address`, at most `workers` at a time (0: one for each CPU).

    Without an address, and without RAY_ADDRESS, a Ray of its own is started on this machine and
    stopped at the end.  Connects with the first map, disconnects when it is closed.
    """

    def __init__(self, address: str = "", workers: int = 0) -> None:
        self._address = address or os.environ.get("RAY_ADDRESS", "")
        if not self._address:
            # A Ray that we start ourselves tells nobody about it, and listens on loopback alone.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        self._ray = _imported()
        self._workers = workers
        self._connected = False

    def map(
        self, job: Callable[[In], Out], items: Iterable[In], *, watch: Watch = unwatched
    ) -> Iterator[Out]:
        self._connect()
        workers = self._workers or int(self._ray.cluster_resources().get("CPU", 1))
        with closing(_Tasks[In, Out](self._ray, job, workers)) as crew:
            yield from in_order(crew, items, AHEAD * workers, watch)

    def close(self) -> None:
        if self._connected:
            self._connected = False
            self._ray.shutdown()

    def _connect(self) -> None:
        if self._connected or self._ray.is_initialized():
            return  # somebody else's connection is used, and left open
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self._address:
            _check_reachable(self._ray, self._address)
        else:
            quiet |= {"num_cpus": self._workers or None, "include_dashboard": False}
        try:
            self._ray.init(self._address or "local", **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = f"at {self._address}" if self._address else "on this machine"
            raise WorkersLost(f"Ray cannot be used {where}: {_first_line(error)}") from error
        self._connected = True


def _imported() -> Any:
    try:
        import ray
        import ray.exceptions
    except ModuleNotFoundError as error:
        raise BadInput(
            "--engine ray needs Ray: install statecomp[ray] here and on the workers, or work with "
            "--engine local"
        ) from error
    return ray


def _check_reachable(ray: Any, address: str) -> None:
    """Says at once where nothing listens; Ray itself would try again for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        return  # a name such as `auto`
    # Ray takes loopback to mean this machine's own address.
    here = [ray.util.get_node_ip_address()] if host in LOOPBACK else []
    for name in (host, *here):
        with suppress(OSError), socket.create_connection((name, int(port)), CONNECT_S):
            return
    raise WorkersLost(f"no Ray answers at {address}; start one with `ray start --head`")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


@dataclass(frozen=True)
class _Packed:
    """What a worker needs before its first item; the job itself is fetched once a process."""

    job: Any  # ray.ObjectRef; inside a value it is not fetched with every task
    folder: Path
    version: str = __version__


class _Tasks(Generic[In, Out]):
    """Ray tasks; those whose worker or machine dies are tried again by Ray, elsewhere."""

    def __init__(self, ray: Any, job: Callable[[In], Out], workers: int) -> None:
        self._ray = ray
        self._work = ray.remote(num_cpus=1, max_retries=RETRIES)(_work)
        self._packed = _Packed(ray.put(job), Path.cwd())
        self._workers = workers
        self._running: list[Any] = []
        self._refs: deque[Any] = deque()

    def put(self, item: In) -> None:
        if len(self._running) >= self._workers:
            _, self._running = self._ray.wait(self._running, num_returns=1, fetch_local=False)
        ref = self._work.remote(self._packed, item)
        self._running.append(ref)
        self._refs.append(ref)

    def take(self) -> Out:
        ref = self._refs.popleft()
        errors = self._ray.exceptions
        try:
            result: Out = self._ray.get(ref)
        except errors.RayTaskError as error:
            # What the job raised, as it raised it: the same error as on this machine.
            raise error.cause from error
        except errors.RayError as error:
            raise WorkersLost(
                f"a Ray worker was lost {RETRIES + 1} times on the same run: {_first_line(error)}"
            ) from error
        return result

    def waiting(self) -> int:
        return len(self._refs)

    def close(self) -> None:
        for ref in self._refs:
            self._ray.cancel(ref)
        self._refs.clear()
        self._running.clear()


def _work(packed: _Packed, item: Any) -> Any:
    return _job(packed)(item)


@lru_cache(maxsize=1)
def _job(packed: _Packed) -> Callable[[Any], Any]:
    """Once in each worker process, so that what the job opens is opened once."""
    if packed.version != __version__:
        raise BadInput(
            f"the worker on {platform.node()} has statecomp {__version__}, this machine "
            f"{packed.version}; install the same on all"
        )
    # Paths in the job are meant as they were written; elsewhere the folder may not exist.
    with suppress(OSError):
        os.chdir(packed.folder)
    job: Callable[[Any], Any] = _imported().get(packed.job)
    return job
