"""Where the work of a verb runs: the options, the runs as they stream in, and how far it is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click
from rich.console import Console

from statecomp.cli.terminal import bar_on
from statecomp.workers.engine import Engine, Watch
from statecomp.workers.local import LocalEngine
from statecomp.workers.ray import RayEngine


def engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """--jobs, --engine and --address; the command gets the `engine` they name."""

    @click.option(
        "--jobs",
        type=click.IntRange(1),
        help="Workers at a time. [default: 1; with ray one for each CPU]",
    )
    @click.option(
        "--engine",
        "kind",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Processes of this machine, or a Ray cluster.",
    )
    @click.option(
        "--address",
        default="",
        metavar="HOST:PORT",
        help="Of the Ray cluster. [default: RAY_ADDRESS, or a Ray started here]",
    )
    @functools.wraps(command)
    def run(*, jobs: int | None, kind: str, address: str, **rest: Any) -> None:
        with open_engine(kind, jobs, address) as engine:
            command(engine=engine, **rest)

    return run


def open_engine(kind: str, jobs: int | None, address: str) -> AbstractContextManager[Engine]:
    if kind == "ray":
        return RayEngine(address, jobs or 0)
    if address:
        raise click.UsageError("--address goes with --engine ray")
    return nullcontext(LocalEngine(jobs or 1))


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Watch]:
    """A bar on a terminal and a closing line in a pipe; how many there are need not be known."""
    console = Console(stderr=True)
    if not console.is_terminal:
        counted = 0

        def count(done: int) -> None:
            nonlocal counted
            counted = done

        yield count
        click.echo(f"{label}: {counted} done", err=True)
        return
    with bar_on(console) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)
