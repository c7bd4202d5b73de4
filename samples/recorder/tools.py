"""The tools an agent may call: each really runs, inside one temporary workspace."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from samples.recorder.html_view import VIEWS

SHOWN_ROOT = "/workspace"
SHOWN_LIBRARY = "/usr/lib/python3"
TIME_LIMIT = 30.0
OUTPUT_LIMIT = 9_000
ROW_LIMIT = 120

Arguments: TypeAlias = Mapping[str, str | int]


class ToolError(Exception):
    """A tool could not do what it was asked; the text is what the agent reads."""


@dataclass(frozen=True)
class Workspace:
    """A directory the tools work in, and beside it the commands that stand first on PATH."""

    root: Path
    commands: Path

    @classmethod
    def make(cls, parent: Path) -> Workspace:
        base = parent.resolve()
        workspace = cls(base / "workspace", base / "commands")
        workspace.root.mkdir()
        workspace.commands.mkdir()
        # Whatever `python3` is on this machine, the recording must use the recorder's own.
        for name in ("python", "python3"):
            wrapper = workspace.commands / name
            wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
            wrapper.chmod(0o755)
        return workspace

    def path(self, name: str) -> Path:
        """The real path of a name the agent used; it may not leave the workspace."""
        path = (self.root / self.real(name)).resolve()
        if not path.is_relative_to(self.root):
            raise ToolError(f"{name}: outside the workspace")
        return path

    def file(self, name: str) -> Path:
        path = self.path(name)
        if not path.is_file():
            raise ToolError(f"{name}: no such file")
        return path

    def real(self, text: str) -> str:
        return text.replace(SHOWN_ROOT, str(self.root))

    def shown(self, text: str) -> str:
        """Text without paths of this machine: neither the workspace's nor the interpreter's."""
        text = text.replace(str(self.root), SHOWN_ROOT)
        return text.replace(sysconfig.get_path("stdlib"), SHOWN_LIBRARY)

    def environment(self) -> dict[str, str]:
        """Only what is fixed, so that the same commands print the same text everywhere."""
        return {
            "PATH": f"{self.commands}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.root),
            "LC_ALL": "C",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # Carets under a traceback's lines differ between Python versions.
            "PYTHONNODEBUGRANGES": "1",
        }

    def install(self, template: Path) -> None:
        """Copy a template tree; `.tmpl` keeps its Python files out of this project's checks."""
        shutil.copytree(template, self.root, dirs_exist_ok=True)
        for path in sorted(self.root.rglob("*.tmpl")):
            path.rename(path.with_suffix(""))


def run(workspace: Workspace, command: list[str], stdin: str = "") -> str:
    """What a command printed, and its exit code where that is not zero."""
    try:
        done = subprocess.run(
            command,
            input=stdin,
            cwd=workspace.root,
            env=workspace.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"stopped after {TIME_LIMIT:.0f} seconds") from error
    if done.returncode:
        return f"{done.stdout}[exit code {done.returncode}]"
    return done.stdout or "[no output]"


def shell(workspace: Workspace, arguments: Arguments) -> str:
    return run(workspace, ["sh", "-c", workspace.real(str(arguments["command"]))])


def python(workspace: Workspace, arguments: Arguments) -> str:
    return run(workspace, [sys.executable, "-"], workspace.real(str(arguments["code"])))


def sqlite(workspace: Workspace, arguments: Arguments) -> str:
    """One statement; rows come back as a table, changes as a count."""
    path = workspace.file(str(arguments["database"]))
    deadline = time.monotonic() + TIME_LIMIT
    with closing(sqlite3.connect(path)) as connection:
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        try:
            with connection:
                cursor = connection.execute(str(arguments["query"]))
                rows = cursor.fetchall()
        except sqlite3.Error as error:
            raise ToolError(f"sqlite: {error}") from error
    if cursor.description is None:
        return f"[{max(cursor.rowcount, 0)} rows changed]"
    lines = [" | ".join(column[0] for column in cursor.description)]
    lines += [" | ".join(str(value) for value in row) for row in rows[:ROW_LIMIT]]
    return "\n".join([*lines, f"[{len(rows)} rows]"])


def read_file(workspace: Workspace, arguments: Arguments) -> str:
    lines = workspace.file(str(arguments["path"])).read_text(encoding="utf-8").splitlines()
    first = int(arguments.get("first", 1))
    last = min(int(arguments.get("last", len(lines))), len(lines))
    numbered = (f"{number:5d}  {lines[number - 1]}" for number in range(first, last + 1))
    return "\n".join([f"[{arguments['path']}: lines {first}-{last} of {len(lines)}]", *numbered])


def write_file(workspace: Workspace, arguments: Arguments) -> str:
    path, content = workspace.path(str(arguments["path"])), str(arguments["content"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return f"wrote {len(content.encode())} bytes to {arguments['path']}"


def edit_file(workspace: Workspace, arguments: Arguments) -> str:
    """Replace text that stands exactly once; anything else is left alone and reported."""
    path, old = workspace.file(str(arguments["path"])), str(arguments["old"])
    text = path.read_text(encoding="utf-8")
    count = text.count(old)
    if count != 1:
        raise ToolError(f"{arguments['path']}: old text found {count} times, expected once")
    path.write_text(text.replace(old, str(arguments["new"])), encoding="utf-8")
    line = text[: text.index(old)].count("\n") + 1
    return f"edited {arguments['path']} at line {line}"


def inspect_html(workspace: Workspace, arguments: Arguments) -> str:
    view = str(arguments["view"])
    if view not in VIEWS:
        raise ToolError(f"unknown view {view!r}; known views: {', '.join(sorted(VIEWS))}")
    path = workspace.file(str(arguments["path"]))
    return VIEWS[view](path.read_text(encoding="utf-8")) or "[nothing to show]"


TOOLS: Mapping[str, Callable[[Workspace, Arguments], str]] = {
    "shell": shell,
    "python": python,
    "sqlite": sqlite,
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "inspect_html": inspect_html,
}


def observe(workspace: Workspace, tool: str, arguments: Arguments) -> str:
    """Run one call; what comes back is what the agent reads, cut in the middle if too long."""
    try:
        text = TOOLS[tool](workspace, arguments)
    except ToolError as error:
        text = f"error: {error}"
    text = workspace.shown(text).rstrip("\n")
    if len(text) <= OUTPUT_LIMIT:
        return text
    half = OUTPUT_LIMIT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
