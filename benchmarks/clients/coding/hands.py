"""The tools a client gives its model, known by their names, and how an action is done with them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.clients.coding.plan import Action, PlannedRun, Read, Replace, Search
from statecomp.testing.provider.turns import Body, ScriptedCall, Turn

FINAL = "final_answer"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""Some clients do not end with words: smolagents has a tool for it, mini-swe-agent a command."""


class Hands(Protocol):
    def call(self, action: Action) -> ScriptedCall: ...


def tool_names(body: Body) -> frozenset[str]:
    """Of all tools that a request defines, whatever the API."""
    given = list(body.get("tools") or ())
    items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if item.get("type") == "additional_tools":
            given += item.get("tools") or ()
    return frozenset(_names(given))


def _names(tools: list[Any]) -> Iterator[str]:
    for tool in tools:
        inner = tool.get("function") or tool
        if inner.get("type") == "namespace":
            yield from _names(list(inner.get("tools") or ()))
        else:
            yield str(inner.get("name") or inner.get("type"))


def hands_of(body: Body, workspace: Path) -> Hands | None:
    """How this client acts; None where it asks for words only, as for a title."""
    names = tool_names(body)
    for wanted, hands in _KINDS:
        if wanted <= names:
            return hands(names, workspace)
    return None


def ending(body: Body, report: str) -> Turn:
    """The last turn, as this client knows one."""
    names = tool_names(body)
    if FINAL in names:
        return Turn(calls=(_function(FINAL, answer=report),))
    if names == {"bash"}:
        command = f"{SUBMIT} && echo {shlex.quote(report)}"
        return Turn(calls=(_function("bash", command=command),))
    return Turn(said=report)


def command_of(action: Action) -> str:
    """The action as a shell command, for clients whose one tool is a shell."""
    match action:
        case Read(path, first, lines):
            quoted = shlex.quote(path)
            return f"sed -n '{first},{first + lines - 1}p' {quoted}" if lines else f"cat {quoted}"
        case Search(pattern, folder):
            return f"grep -rnw --include='*.py' {shlex.quote(pattern)} {shlex.quote(folder)}"
        case PlannedRun(command):
            return command
        case Replace(path, old, new):
            return f"apply_patch <<'EOF'\n{patch_of(path, old, new)}\nEOF"


def patch_of(path: str, old: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"


def _function(name: str, **arguments: Any) -> ScriptedCall:
    return ScriptedCall(name, json.dumps(arguments))


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Absolute paths; searching is a tool in some versions and a command in others."""

    names: frozenset[str]
    workspace: Path

    def call(self, action: Action) -> ScriptedCall:
        match action:
            case Read(path, first, lines):
                part = {"offset": first, "limit": lines} if lines else {}
                return _function("Read", file_path=str(self.workspace / path), **part)
            case Search(pattern, folder) if "Grep" in self.names:
                where = str(self.workspace / folder)
                mode = {"output_mode": "content", "-n": True}
                return _function("Grep", pattern=rf"\b{pattern}\b", path=where, **mode)
            case Replace(path, old, new):
                file = str(self.workspace / path)
                return _function("Edit", file_path=file, old_string=old, new_string=new)
            case _:
                why = action.purpose if isinstance(action, PlannedRun) else "Search the project"
                return _function("Bash", command=command_of(action), description=why)


@dataclass(frozen=True, slots=True)
class CodexScript:
    """Codex whose one tool runs JavaScript that calls the others."""

    names: frozenset[str]
    workspace: Path

    def call(self, action: Action) -> ScriptedCall:
        if isinstance(action, Replace):
            patch = json.dumps(patch_of(action.path, action.old, action.new))
            return ScriptedCall("exec", f"text(await tools.apply_patch({patch}));", free=True)
        made = json.dumps({"cmd": command_of(action)})
        code = f"const r = await tools.exec_command({made});\ntext(r.output);"
        return ScriptedCall("exec", code, free=True)


@dataclass(frozen=True, slots=True)
class Codex:
    names: frozenset[str]
    workspace: Path

    def call(self, action: Action) -> ScriptedCall:
        if isinstance(action, Replace) and "apply_patch" in self.names:
            patch = patch_of(action.path, action.old, action.new)
            return ScriptedCall("apply_patch", patch, free=True)
        return _function("exec_command", cmd=command_of(action))


@dataclass(frozen=True, slots=True)
class Plain:
    """Four functions, as somebody writes them who builds an agent with a framework."""

    names: frozenset[str]
    workspace: Path

    def call(self, action: Action) -> ScriptedCall:
        match action:
            case Read(path, first, lines):
                return _function("read_file", path=path, first=first, lines=lines)
            case Search(pattern, folder):
                return _function("search", pattern=pattern, folder=folder)
            case PlannedRun(command):
                return _function("run", command=command)
            case Replace(path, old, new):
                return _function("replace", path=path, old=old, new=new)


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell and nothing else."""

    names: frozenset[str]
    workspace: Path

    def call(self, action: Action) -> ScriptedCall:
        if isinstance(action, Replace):
            file = shlex.quote(action.path)
            code = "import sys; p = sys.argv[1]; t = open(p).read(); "
            code += "open(p, 'w').write(t.replace(sys.argv[2], sys.argv[3]))"
            words = [code, file, shlex.quote(action.old), shlex.quote(action.new)]
            command = f"python3 -c {shlex.quote(words[0])} {' '.join(words[1:])}"
            return _function("bash", command=command)
        return _function("bash", command=command_of(action))


_KINDS: tuple[tuple[frozenset[str], Callable[[frozenset[str], Path], Hands]], ...] = (
    (frozenset({"Read", "Bash", "Edit"}), ClaudeCode),
    (frozenset({"exec", "wait"}), CodexScript),
    (frozenset({"exec_command"}), Codex),
    (frozenset({"read_file", "search", "run", "replace"}), Plain),
    (frozenset({"bash"}), Shell),
)
