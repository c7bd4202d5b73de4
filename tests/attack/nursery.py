"""Workers that are there at once: a process that has loaded everything forks them.

Starting `statecomp serve` is mostly loading, some seconds of processor for each kill.  A forked
worker runs the same command in a process of its own, and dies of SIGKILL like any other.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

# What a worker loads as it starts.
import statecomp.cli.serve
import statecomp.dashboard.app
import statecomp.learning.routers
import statecomp.ledger.postgres
import statecomp.proxy.app
import statecomp.proxy.patience  # noqa: F401
from statecomp.cli.app import app
from tests.proxy.serving import PATIENCE_S, Served

WORKERS_LOG = "workers.log"
"""What all workers of a home say, also those that were killed."""


class Nursery:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.attack.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            text=True,
        )

    def born(self, arguments: list[str], environ: dict[str, str]) -> int:
        """The id of a new process that runs this command."""
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        given.write(json.dumps([arguments, environ]) + "\n")
        given.flush()
        return int(told.readline())

    def close(self) -> None:
        """With all that it bore."""
        with self._process as process:
            assert process.stdin is not None
            process.stdin.close()


class Forked(Served):
    """A worker of a nursery."""

    def __init__(self, nursery: Nursery, upstream: str, home: Path, *options: str) -> None:
        super().__init__(upstream, home, *options)
        self._nursery = nursery
        self._pid = 0

    def start(self) -> None:
        self._pid = self._nursery.born(self._command[3:], {"XDG_DATA_HOME": self._home})
        self._wait_until_it_answers()

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def ended(self) -> int | None:
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def kill(self) -> None:
        self._end(signal.SIGKILL, PATIENCE_S)

    def stop(self) -> None:
        self._end(signal.SIGTERM, 20)
        self.kill()

    def _end(self, how: signal.Signals, patience_s: float) -> None:
        limit = time.monotonic() + patience_s
        with suppress(ProcessLookupError):
            os.kill(self._pid, how)
            while time.monotonic() < limit and self.ended is None:
                time.sleep(0.005)


def _live(arguments: list[str], environ: dict[str, str]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.update(environ)
    nowhere = os.open(os.devnull, os.O_RDWR)
    log = os.open(
        Path(environ["XDG_DATA_HOME"]) / WORKERS_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND
    )
    for stream, target in enumerate((nowhere, nowhere, log)):
        os.dup2(target, stream)
    app(arguments)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that end
    os.setpgrp()
    for line in sys.stdin:
        arguments, environ = json.loads(line)
        child = os.fork()
        if not child:
            try:
                _live(arguments, environ)
            finally:
                os._exit(1)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
    os.killpg(0, signal.SIGKILL)  # whoever attacks has gone


if __name__ == "__main__":
    main()
