"""Where a run is recorded: the bench's sandbox and tools, and views of HTML of its own."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from samples.recorder.html_view import VIEWS
from statecomp.history.interaction import Call
from statecomp_bench.environment import Environment
from statecomp_bench.sandbox import Sandbox

TOOLS = ("shell", "python", "sqlite", "read_file", "write_file", "edit_file", "inspect_html")
MOST_CHARS = 9_000


@dataclass(frozen=True)
class Workspace:
    """The folder the tools work in."""

    sandbox: Sandbox

    @property
    def root(self) -> Path:
        return self.sandbox.root

    def install(self, template: Path) -> None:
        """Copy a template tree; `.tmpl` keeps its Python files out of this project's checks."""
        shutil.copytree(template, self.root, dirs_exist_ok=True)
        for path in sorted(self.root.rglob("*.tmpl")):
            path.rename(path.with_suffix(""))

    def run(self, command: str) -> str:
        return self.sandbox.call("shell", {"command": command}).text


class RecordedTools(Environment):
    """The bench's tools, but for pages: the web run reads other views than the bench offers."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace.sandbox, most_chars=MOST_CHARS)
        self._root = workspace.root

    def call(self, call: Call) -> str:
        if call.name != "inspect_html":
            return super().call(call)
        arguments = json.loads(call.arguments)
        view = arguments["view"]
        if view not in VIEWS:
            return f"error: unknown view {view!r}; known views: {', '.join(sorted(VIEWS))}"
        page = (self._root / arguments["path"]).read_text("utf-8")
        return self.shown(VIEWS[view](page) or "[nothing to show]")
