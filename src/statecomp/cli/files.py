"""Reading runs and writing results, the same way for every verb."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TextIO, cast

from statecomp.cli.terminal import show, warn
from statecomp.controller.prices import PriceBook, parse_prices, shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.pipelines.runs import ChosenRuns, held


def read_chosen(
    paths: Sequence[Path], limit: int | None, domain: str | None, skip_bad: bool
) -> list[Trajectory]:
    """The runs a person asked for, all at once; a bad record stops, or is left out and said."""
    return held(ChosenRuns(tuple(paths), limit, domain), partial(refuse, skip_bad=skip_bad))


def refuse(problem: BadInput, skip_bad: bool) -> None:
    if not skip_bad:
        # A file that is not there, or holds nothing, already says what to do.
        told = not problem.line and "; " in problem.problem
        raise problem if told else problem.advising("add --skip-bad to leave such records out")
    warn(f"left out: {problem}")


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    with writing(path, private=private) as file:
        file.write(text)


@contextmanager
def writing(path: Path, *, private: bool = False) -> Iterator[TextIO]:
    """All of it or none of it: a reader never sees half a file, and what fails leaves none.

    What is no regular file, a pipe or a device, is written through; what a link points to is
    replaced, and the link stays.
    """
    try:
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            with path.open("w", encoding="utf-8", errors="replace") as file:
                yield file
            return
        new = 0o600 if private else 0o666 & ~_umask()
        allowed = new if mode is None or private else stat.S_IMODE(mode)
        with _in_place_of(Path(os.path.realpath(path)), allowed) as draft:
            yield draft
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from error


@contextmanager
def _in_place_of(path: Path, mode: int) -> Iterator[TextIO]:
    draft = None
    try:
        # Recorded tool output holds lone surrogates, which UTF-8 cannot carry.
        with NamedTemporaryFile(
            "w", encoding="utf-8", errors="replace", dir=path.parent, delete=False
        ) as file:
            draft = Path(file.name)
            yield cast(TextIO, file)
        draft.chmod(mode)
        draft.replace(path)
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)


def _mode(path: Path) -> int | None:
    """Of what is there, behind all links; None where nothing is."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _umask() -> int:
    """The permissions a new file does not get; they can only be read by setting them."""
    current = os.umask(0o077)
    os.umask(current)
    return current


def write_lines(path: Path, records: Iterable[Mapping[str, Any]], *, private: bool = False) -> None:
    write_text(path, "".join(json.dumps(record) + "\n" for record in records), private=private)


def write_pictures(folder: Path, pictures: Mapping[str, bytes]) -> None:
    """Files by name, each said when it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in pictures.items():
            (folder / name).write_bytes(content)
            show(str(folder / name))
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(folder)) from error


def read_price_book(path: Path | None) -> PriceBook:
    """The one a person names, or the one that is shipped."""
    try:
        return parse_prices(path.read_text("utf-8"), str(path)) if path else shipped_prices()
    except UnicodeDecodeError as error:
        raise BadInput("is no text; a price book is TOML", file=str(path)) from error
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from error
