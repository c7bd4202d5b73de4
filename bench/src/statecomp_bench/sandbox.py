"""The starting side of the sandbox: one confined worker process for each run.

Tools run in a temporary folder, as the user but without the user's rights:

    files       Landlock: the workspace may be written, programs and libraries read, else nothing
    network     a network namespace of its own, or a seccomp filter against all but local sockets
    processes   a process namespace; whatever a call leaves running is killed with it
    limits      processor time, memory, size of a file and of the folder, number of processes,
                wall clock for each call; HOME, TMPDIR and the environment are its own (for root
                the kernel does not limit the number of processes)

Where the kernel gives no protection for files the sandbox refuses to start, unless told otherwise.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from statecomp.errors import StateCompError

BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from inside.worker import main; main()"
OWN = ("workspace", "home", "tmp")
FOLDERS = (*OWN, "commands")
START_S, GRACE_S = 30.0, 5.0
SYSTEM = ("/bin", "/sbin", "/lib", "/lib64", "/usr")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class SandboxFailed(StateCompError):
    """The sandbox could not be had, or could not go on."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one run's tools may use; `hangs` is how many calls may be killed before the run is."""

    seconds: float = 20.0
    memory_bytes: int = 1 << 30
    file_bytes: int = 16 << 20
    folder_bytes: int = 128 << 20
    processes: int = 64
    hangs: int = 3


@dataclass(frozen=True, slots=True)
class Protection:
    """What the kernel agreed to; empty where it did not."""

    files: str
    network: str
    processes: str

    def __str__(self) -> str:
        named = (("files", self.files), ("network", self.network), ("processes", self.processes))
        return ", ".join(f"{name}: {how or 'NONE'}" for name, how in named)


@dataclass(frozen=True, slots=True)
class SandboxAnswer:
    text: str
    hung: bool = False


class Sandbox:
    """A workspace folder and the worker in front of it; `root` is what tools see as their own.

    The folder goes with the sandbox, unless it stands at `base`: there it is kept, and found as it
    was left.
    """

    def __init__(
        self,
        limits: SandboxLimits | None = None,
        *,
        unprotected: bool = False,
        base: Path | None = None,
    ) -> None:
        self.limits = limits or SandboxLimits()
        self._unprotected = unprotected
        self._kept = base is not None
        self._base = (base or Path(tempfile.mkdtemp(prefix="statecomp-bench-"))).resolve()
        self.root = self._base / "workspace"
        for name in FOLDERS:
            (self._base / name).mkdir(parents=True, exist_ok=True)
        self._python = str(Path(sys.executable).resolve())
        for name in ("python", "python3"):
            command = self._base / "commands" / name
            command.unlink(missing_ok=True)
            command.symlink_to(self._python)
        self._worker: subprocess.Popen[bytes] | None = None
        self._pending = b""
        self.protection = Protection("", "", "")

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._kill()
        if not self._kept:
            shutil.rmtree(self._base, ignore_errors=True)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> SandboxAnswer:
        """One tool call; a call that hangs is killed, and says so in its text."""
        if self._worker is None:
            self._start()
        # The worker ends a late call itself; this deadline is for a worker that does not.
        request = {"tool": tool, "arguments": arguments}
        answer = self._ask(request, self.limits.seconds + GRACE_S)
        if answer is None:
            self._kill()
            return SandboxAnswer("[stopped: the tool did not answer]", hung=True)
        if self._size() > self.limits.folder_bytes:
            raise SandboxFailed("the workspace has outgrown its limit")
        return SandboxAnswer(str(answer["text"]), bool(answer.get("hung")))

    def _start(self) -> None:
        self._worker = subprocess.Popen(
            [self._python, "-I", "-S", "-X", "utf8", "-c", BOOT, str(Path(__file__).parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment(),
            cwd=self.root,
            start_new_session=True,
        )
        self._pending = b""
        said = self._ask(self._setting(), START_S)
        if said is None:
            self._kill()
            raise SandboxFailed("the sandbox did not start")
        self.protection = Protection(**said)
        if not self.protection.files and not self._unprotected:
            self._kill()
            raise SandboxFailed(
                "this kernel offers no Landlock, so tools could touch your files; "
                "use Linux 5.13 or newer, or run in a container with --unprotected"
            )

    def _setting(self) -> dict[str, Any]:
        own = [str(self._base / name) for name in OWN]
        prefixes = {sys.base_prefix, sys.base_exec_prefix, str(Path(self._python).parent)}
        programs = [*SYSTEM, *SYSTEM_FILES, *sorted(prefixes), str(self._base / "commands")]
        return {
            "root": str(self.root),
            "writable": own,
            "readable": [*programs, str(Path(__file__).parent / "inside")],
            "environment": self._environment(),
            "seconds": self.limits.seconds,
            "memory_bytes": self.limits.memory_bytes,
            "file_bytes": self.limits.file_bytes,
            "processes": self.limits.processes,
        }

    def _environment(self) -> dict[str, str]:
        """Only what is fixed: nothing of the user's, and the same text printed everywhere."""
        return {
            "PATH": os.pathsep.join((str(self._base / "commands"), *SYSTEM_PATH)),
            "HOME": str(self._base / "home"),
            "TMPDIR": str(self._base / "tmp"),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNODEBUGRANGES": "1",
        }

    def _ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
        """The worker's next line, or None when it is late or gone."""
        worker = self._worker
        if worker is None or worker.stdin is None:
            return None
        try:
            worker.stdin.write(json.dumps(request).encode() + b"\n")
            worker.stdin.flush()
            line = self._line(worker, time.monotonic() + seconds)
            return dict(json.loads(line)) if line else None
        except (OSError, ValueError):
            return None

    def _line(self, worker: subprocess.Popen[bytes], deadline: float) -> bytes:
        assert worker.stdout is not None
        source = worker.stdout.fileno()
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or self._too_large():
                return b""
            if not select.select([source], [], [], min(left, 1.0))[0]:
                continue
            chunk = os.read(source, 1 << 16)
            if not chunk:
                return b""
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _too_large(self) -> bool:
        """Asked while waiting: a tool that fills the disk is not waited for."""
        return self._size() > self.limits.folder_bytes

    def _size(self) -> int:
        total = 0
        for folder, _, names in os.walk(self._base):
            for name in names:
                with suppress(OSError):
                    total += os.lstat(f"{folder}/{name}").st_size
        return total

    def _kill(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        for stream in (worker.stdin, worker.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
