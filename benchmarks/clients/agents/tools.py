"""Four tools as somebody writes them for an agent of their own; they work in the current folder.

The agents beside this file run in environments of their own, where nothing of this project is.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SYSTEM = (
    "You are a careful engineer. You work in the current folder with the tools you are given, and "
    "you tell the user what you did when you are done."
)
MOST = 20_000


def read_file(path: str, first: int = 1, lines: int = 0) -> str:
    """Read a text file.

    Args:
        path: The file, relative to the current folder.
        first: The first line that is wanted.
        lines: How many lines; 0 means all.
    """
    try:
        text = Path(path).read_text("utf-8").splitlines()
    except OSError as error:
        return f"error: {error}"
    return "\n".join(text[first - 1 : first - 1 + lines] if lines else text)


def search(pattern: str, folder: str = ".") -> str:
    """Find a word in all Python files below a folder.

    Args:
        pattern: The word.
        folder: Where to look.
    """
    return _output(["grep", "-rnw", "--include=*.py", pattern, folder])


def run(command: str) -> str:
    """Run a shell command and return what it prints.

    Args:
        command: The command.
    """
    return _output(["sh", "-c", command])


def replace(path: str, old: str, new: str) -> str:
    """Replace the one place where a text stands in a file.

    Args:
        path: The file, relative to the current folder.
        old: The text as it is.
        new: The text as it shall be.
    """
    text = Path(path).read_text("utf-8")
    if text.count(old) != 1:
        return f"error: the text stands there {text.count(old)} times"
    Path(path).write_text(text.replace(old, new), "utf-8")
    return f"{path} was changed"


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return (done.stdout + done.stderr)[:MOST] or f"(nothing, exit code {done.returncode})"


TOOLS = (read_file, search, run, replace)


def asked() -> tuple[str, str, str]:
    """The address, the model and the task, as the benchmark gives them."""
    url, model, task = sys.argv[1:4]
    return url, model, task
