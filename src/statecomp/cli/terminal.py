"""What a person sees: colours and bars on a terminal, plain lines in a pipe."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TypeVar

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from statecomp.errors import StateCompError
from statecomp.workers.engine import Watch

BAD_INPUT = 2
Item = TypeVar("Item")


def run(command: click.Command) -> None:
    """Run a command and exit; an expected failure is one sentence on standard error."""
    warnings.showwarning = lambda message, *rest: warn(str(message))
    try:
        sys.exit(command.main(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        complain("stopped")
        sys.exit(130)
    except StateCompError as error:
        complain(str(error))
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); Python would complain when flushing.
        sys.stderr.close()
        sys.exit(0)


def complain(sentence: str) -> None:
    """One sentence on standard error."""
    click.secho(f"statecomp: {sentence}", fg="red", err=True)


def warn(sentence: str) -> None:
    click.secho(f"statecomp: {sentence}", fg="yellow", err=True)


def show(*things: Table | str) -> None:
    """Tables and sentences on standard output; in a pipe plain columns, never cut or framed."""
    console = Console(highlight=False, soft_wrap=True)
    if console.is_terminal:
        console.print(*things, sep="\n")
        return
    plain = Console(width=1000, color_system=None, highlight=False, file=StringIO())
    for thing in things:
        if isinstance(thing, Table):
            thing.box, thing.show_edge, thing.pad_edge = None, False, False
        plain.print(thing)
    text = plain.file.getvalue() if isinstance(plain.file, StringIO) else ""
    click.echo("\n".join(line.rstrip() for line in text.splitlines()))


def table_of(title: str, columns: Sequence[str], left: int = 1) -> Table:
    """An empty table: so many columns of words on the left, then numbers."""
    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in columns[:left]:
        table.add_column(name, overflow="fold", min_width=min(15, 10 + len(name)))
    for name in columns[left:]:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def number_of(number: int, noun: str) -> str:
    """`1 run`, `1,200 runs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@contextmanager
def progress(
    label: str, total: int | None = None, note: Callable[[], str] = str
) -> Iterator[Watch]:
    """A bar on a terminal and a closing line in a pipe; how many there are need not be known.

    `note` is asked after each item for what to say beside the label, such as the cost so far.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        counted = 0

        def count(done: int) -> None:
            nonlocal counted
            counted = done

        yield count
        click.echo(f"{label}: {counted} done{note()}", err=True)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    # It leaves nothing behind.
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done, description=f"{label}{note()}")


def watched(
    items: Iterable[Item], label: str, total: int, note: Callable[[], str] = str
) -> Iterator[Item]:
    """The items, with their progress as it is."""
    with progress(label, total, note) as watch:
        for done, item in enumerate(items, start=1):
            yield item
            watch(done)


class _JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            # What a library says beyond its first line is what it was given.
            "event": (record.getMessage().splitlines() or [""])[0],
            **fields,
        }
        if record.exc_info and record.exc_info[0] is not None:
            # Its text, and the lines around it, could show what was in a request.
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line)


def log_as_json() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines())
    logging.getLogger().handlers = [handler]  # of all that is loaded: the loop, drivers, clients
    for name, level in (("statecomp", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
