"""An environment of its own for each framework, made once under the user's cache.

The folder's name follows from what is installed: other requirements make another folder, and
nothing that is there is changed.  The project itself is not installed into it; its source is put
on the path, so that what is tested is what stands here.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from benchmarks.clients.installing import NotInstalled, cache

PATIENCE_S = 900


@dataclass(frozen=True, slots=True)
class Environment:
    """What is installed beside each other, and for which Python."""

    name: str
    requirements: tuple[str, ...]
    python: str = "3.11"  # or newer

    @property
    def place(self) -> Path:
        wanted = "\n".join((self.python, *self.requirements)).encode()
        name = f"{self.name}-{blake2b(wanted, digest_size=5).hexdigest()}"
        return cache().parent / "adapters" / name

    @property
    def is_there(self) -> bool:
        return (self.place / ".complete").exists()

    @property
    def program(self) -> Path:
        return self.place / "bin" / "python"

    def make(self) -> Path:
        """Its Python; everything is installed where it is not there yet.  Raises NotInstalled."""
        with _alone(self.place.with_suffix(".lock")):
            if not self.is_there:
                self._install()
                (self.place / ".complete").touch()
        return self.program

    def _install(self) -> None:
        _run([self._interpreter(), "-m", "venv", str(self.place)])
        _run([str(self.program), "-m", "pip", "install", "--quiet", *self.requirements])

    def _interpreter(self) -> str:
        """This Python where it is new enough, else one of that name."""
        wanted = tuple(map(int, self.python.split(".")))
        if sys.version_info[:2] >= wanted:
            return sys.executable
        # Pyenv has programs that work only once a version is chosen.
        chosen = dict(os.environ)
        for minor in {self.python, max(self.python, "3.13")}:
            chosen["PYENV_VERSION"] = minor
            command = [f"python{minor}", "-c", "import sys; print(sys.executable)"]
            with suppress(OSError):
                found = subprocess.run(
                    command, capture_output=True, text=True, env=chosen, check=False
                )
                if not found.returncode:
                    return found.stdout.strip()
        raise NotInstalled(f"{self.name} needs Python {self.python}, which is not here")

    def versions(self) -> Mapping[str, str]:
        """Of the packages that are named, as they are installed."""
        names = [
            requirement.partition("==")[0].partition("[")[0] for requirement in self.requirements
        ]
        code = "import json, sys; from importlib.metadata import version; "
        code += "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
        done = subprocess.run(
            [str(self.program), "-c", code, *names], capture_output=True, text=True, check=True
        )
        found: dict[str, str] = json.loads(done.stdout)
        return found


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Two test processes must not install into one folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _run(command: Sequence[str]) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, env=kept, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"{command[0]} failed ({type(error).__name__})") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NotInstalled(f"pip install failed: {' '.join(last)}")
