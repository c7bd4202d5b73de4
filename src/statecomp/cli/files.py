"""Reading runs and writing results, the same way for every verb."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from statecomp.cli.terminal import show, warn
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_all


def read_chosen(
    paths: Sequence[Path], limit: int | None, domain: str | None, skip_bad: bool
) -> list[Trajectory]:
    """The runs a person asked for; a bad record stops, or is left out and said."""
    found: list[Trajectory] = []
    for run in read_all(paths):
        if isinstance(run, BadInput):
            refuse(run, skip_bad)
        elif domain is None or run.domain.casefold() == domain.casefold():
            found.append(run)
        if limit and len(found) == limit:
            break
    if not found:
        wanted = f" of the domain {domain!r}" if domain else ""
        raise BadInput(f"no run{wanted} could be read", file=", ".join(map(str, paths)))
    return found


def refuse(problem: BadInput, skip_bad: bool) -> None:
    if not skip_bad:
        raise problem.advising("add --skip-bad to leave such records out")
    warn(f"left out: {problem}")


def write_text(path: Path, text: str) -> None:
    """All of it or none of it: a reader never sees half a file."""
    temporary = None
    try:
        # Recorded tool output holds lone surrogates, which UTF-8 cannot carry.
        with NamedTemporaryFile(
            "w", encoding="utf-8", errors="replace", dir=path.parent, delete=False
        ) as file:
            temporary = file.name
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from error


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(record) + "\n" for record in records))


def write_pictures(folder: Path, pictures: Mapping[str, bytes]) -> None:
    """Files by name, each said when it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in pictures.items():
            (folder / name).write_bytes(content)
            show(str(folder / name))
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(folder)) from error
