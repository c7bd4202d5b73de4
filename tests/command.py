"""Our commands as a person runs them, in this process: a new one would import everything again."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from statecomp.cli.app import main

ROOT = Path(__file__).resolve().parents[1]
NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def statecomp(*arguments: str | Path, said: str = "", home: Path | None = None) -> Done:
    """`statecomp`, with its data in `home`."""
    environ = {"XDG_DATA_HOME": str(home), "STATECOMP_STORE": ""} if home else NOTHING
    return ended(main, ["statecomp", *map(str, arguments)], ROOT, environ, said)


def ended(
    entry: Callable[[], None],
    words: Sequence[str],
    folder: Path,
    environ: Mapping[str, str] = NOTHING,
    said: str = "",
) -> Done:
    """A command as its entry point runs it, in a pipe; `said` is what comes from the keyboard."""
    out, err = StringIO(), StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        # A command shows its warnings as sentences; as errors they would end it.
        warnings.simplefilter("default")
        patch.chdir(folder)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", list(words))
        patch.setattr(sys, "stdin", StringIO(said))
        with pytest.raises(SystemExit) as exited:
            entry()
    return Done(int(exited.value.code or 0), out.getvalue(), err.getvalue())


def started(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`statecomp` in a process of its own, where that is what is tested."""
    command = [sys.executable, "-m", "statecomp", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
