"""Records of a study: JSON objects, one a line, only ever added to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Objects, one a line; a line torn by a kill is passed over."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot be read: {error}", file=str(path)) from error
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def append_line(path: Path, record: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(json.dumps(record) + "\n")
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from error
