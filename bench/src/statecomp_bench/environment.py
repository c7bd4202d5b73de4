"""The tools an agent may call, as chat completions know them, and what comes back as text."""

from __future__ import annotations

import json
import re
import sysconfig
from collections.abc import Mapping, Sequence
from typing import Any

from statecomp.history.interaction import Call, JsonObject
from statecomp_bench.outside import ASK, HTTP, OutsideWorld
from statecomp_bench.sandbox import Sandbox, SandboxFailed

SHOWN_ROOT = "/workspace"
SHOWN_LIBRARY = "/usr/lib/python3"
MOST_CHARS = 10_000
# How long a test took differs from run to run, and no step may depend on it.
ELAPSED = re.compile(r"\b(in|took) \d+\.\d+ ?s(?:econds)?\b")


def _tool(name: str, description: str, required: Sequence[str], **fields: str) -> JsonObject:
    kinds = {field: ("integer" if field in ("first", "last") else "string") for field in fields}
    properties = {f: {"type": kinds[f], "description": text} for f, text in fields.items()}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


TOOLS: tuple[JsonObject, ...] = (
    _tool("shell", "Run a command with sh in the workspace.", ["command"], command="The command."),
    _tool("python", "Run a Python program in the workspace.", ["code"], code="The program."),
    _tool(
        "sqlite",
        "Run one SQL statement on a SQLite database.",
        ["database", "query"],
        database="Path of the database file.",
        query="The statement.",
    ),
    _tool(
        "read_file",
        "Read a text file, with line numbers.",
        ["path"],
        path="Path of the file.",
        first="First line to show.",
        last="Last line to show.",
    ),
    _tool(
        "write_file",
        "Write a text file, replacing it.",
        ["path", "content"],
        path="Path of the file.",
        content="The whole text.",
    ),
    _tool(
        "edit_file",
        "Replace a text that stands exactly once in a file.",
        ["path", "old", "new"],
        path="Path of the file.",
        old="The text to replace.",
        new="The text to put there.",
    ),
    _tool("list_files", "List files with their sizes.", [], path="A folder of the workspace."),
    _tool(
        "inspect_html",
        "Look at the structure of an HTML page.",
        ["path", "view"],
        path="Path of the page.",
        view="tree, outline, links, images, forms or styles.",
    ),
)
# Offered only where a case has somebody to ask or something to call.
OUTSIDE: tuple[JsonObject, ...] = (
    _tool(
        ASK,
        "Ask the person you work for, who is busy: one question, once.",
        ["question"],
        question="The question.",
    ),
    _tool(
        HTTP,
        "Send a request to a service of the house.",
        ["method", "url"],
        method="GET, POST or DELETE.",
        url="The address.",
        body="What to send.",
    ),
)
NAMES = frozenset(str(tool["function"]["name"]) for tool in (*TOOLS, *OUTSIDE))


class Environment:
    """Calls against one sandbox and what lies outside, with this machine's paths out of sight."""

    def __init__(
        self, sandbox: Sandbox, outside: OutsideWorld | None = None, most_chars: int = MOST_CHARS
    ) -> None:
        self._sandbox = sandbox
        self.outside = outside or OutsideWorld()
        self._most_chars = most_chars
        self._hung = 0

    @property
    def tools(self) -> tuple[JsonObject, ...]:
        known = self.outside.tools
        return (*TOOLS, *(tool for tool in OUTSIDE if tool["function"]["name"] in known))

    def call(self, call: Call) -> str:
        """What the agent reads; raises SandboxFailed where the run cannot go on."""
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            return "error: the arguments are not JSON"
        if not isinstance(arguments, dict):
            return "error: the arguments are no JSON object"
        if call.name not in NAMES:
            return f"error: there is no tool named {call.name!r}"
        if call.name in (ASK, HTTP):
            return self.shown(self.outside.call(call.name, arguments))
        answer = self._sandbox.call(call.name, self._real(arguments))
        if answer.hung:
            self._hung += 1
            if self._hung >= self._sandbox.limits.hangs:
                raise SandboxFailed(f"{self._hung} tool calls hung and were killed")
        return self.shown(answer.text)

    def _real(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        root = str(self._sandbox.root)
        return {
            key: value.replace(SHOWN_ROOT, root) if isinstance(value, str) else value
            for key, value in arguments.items()
        }

    def shown(self, text: str) -> str:
        """Text as the agent reads it: without paths of this machine, and cut in the middle."""
        text = text.replace(str(self._sandbox.root), SHOWN_ROOT)
        text = text.replace(str(self._sandbox.root.parent), "")
        text = text.replace(sysconfig.get_path("stdlib"), SHOWN_LIBRARY)
        text = ELAPSED.sub(r"\1 0.0s", text).rstrip("\n")
        if len(text) <= self._most_chars:
            return text
        half = self._most_chars // 2
        left_out = len(text) - 2 * half
        return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"
