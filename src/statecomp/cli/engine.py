"""Where the work of a verb runs: the options that say so."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any

import click

from statecomp.workers.engine import Engine
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
        return closing(RayEngine(address, jobs or 0))
    if address:
        raise click.UsageError("--address goes with --engine ray")
    return nullcontext(LocalEngine(jobs or 1))
