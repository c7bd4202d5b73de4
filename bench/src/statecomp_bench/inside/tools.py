"""Tools of our own, each a function of the workspace and the arguments: text in, text out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from .html_view import VIEWS

MOST_ROWS = 200
MOST_FILES = 400


class ToolError(Exception):
    """A tool could not do what it was asked; the text is what the agent reads."""


def _path(root: str, name: object) -> Path:
    """The real path of a name the agent used; it may not leave the workspace."""
    base = Path(root).resolve()
    path = (base / str(name)).resolve()
    if not path.is_relative_to(base):
        raise ToolError(f"{name}: outside the workspace")
    return path


def _file(root: str, arguments: Mapping[str, Any], key: str = "path") -> Path:
    name = arguments.get(key)
    if not name:
        raise ToolError(f"the argument {key!r} is missing")
    path = _path(root, name)
    if not path.is_file():
        raise ToolError(f"{name}: no such file")
    return path


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _number(arguments: Mapping[str, Any], key: str, default: int) -> int:
    try:
        return int(arguments.get(key) or default)
    except (TypeError, ValueError):
        raise ToolError(f"the argument {key!r} is not a whole number") from None


def read_file(root: str, arguments: Mapping[str, Any]) -> str:
    lines = _text(_file(root, arguments)).splitlines()
    first = max(1, _number(arguments, "first", 1))
    last = min(len(lines), _number(arguments, "last", len(lines)))
    numbered = (f"{number:5d}  {lines[number - 1]}" for number in range(first, last + 1))
    return "\n".join([f"[{arguments['path']}: lines {first}-{last} of {len(lines)}]", *numbered])


def write_file(root: str, arguments: Mapping[str, Any]) -> str:
    path, content = _path(root, arguments.get("path") or "."), str(arguments.get("content", ""))
    if path.is_dir():
        raise ToolError("the argument 'path' must name a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return f"wrote {len(content.encode())} bytes to {arguments['path']}"


def edit_file(root: str, arguments: Mapping[str, Any]) -> str:
    """Replace text that stands exactly once; anything else is left alone and reported."""
    path, old = _file(root, arguments), str(arguments.get("old", ""))
    text = _text(path)
    count = text.count(old) if old else 0
    if count != 1:
        raise ToolError(f"{arguments['path']}: old text found {count} times, expected once")
    path.write_text(text.replace(old, str(arguments.get("new", ""))), "utf-8")
    line = text[: text.index(old)].count("\n") + 1
    return f"edited {arguments['path']} at line {line}"


def list_files(root: str, arguments: Mapping[str, Any]) -> str:
    folder = _path(root, arguments.get("path") or ".")
    if not folder.is_dir():
        raise ToolError(f"{arguments.get('path')}: no such folder")
    base = Path(root).resolve()
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    shown = [f"{p.stat().st_size:9d}  {p.relative_to(base)}" for p in paths[:MOST_FILES]]
    return "\n".join([*shown, f"[{len(paths)} files]"])


def sqlite(root: str, arguments: Mapping[str, Any]) -> str:
    """One statement; rows come back as a table, changes as a count."""
    path = _file(root, arguments, "database")
    with closing(sqlite3.connect(path)) as connection:
        try:
            with connection:
                cursor = connection.execute(str(arguments.get("query", "")))
                rows = cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise ToolError(f"sqlite: {error}") from error
    if cursor.description is None:
        return f"[{max(cursor.rowcount, 0)} rows changed]"
    lines = [" | ".join(column[0] for column in cursor.description)]
    lines += [" | ".join(str(value) for value in row) for row in rows[:MOST_ROWS]]
    return "\n".join([*lines, f"[{len(rows)} rows]"])


def inspect_html(root: str, arguments: Mapping[str, Any]) -> str:
    view = str(arguments.get("view", "outline"))
    if view not in VIEWS:
        raise ToolError(f"unknown view {view!r}; known views: {', '.join(sorted(VIEWS))}")
    return VIEWS[view](_text(_file(root, arguments))) or "[nothing to show]"


TOOLS: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {
    "read_file": read_file,
    "write_file": write_file,
    "edit_file": edit_file,
    "list_files": list_files,
    "sqlite": sqlite,
    "inspect_html": inspect_html,
}
