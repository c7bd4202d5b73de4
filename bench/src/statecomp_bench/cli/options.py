"""Options that several verbs share, so that one thing is asked for in one way."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TypeAlias

import click

from statecomp_bench.models import DEADLINE_S
from statecomp_bench.task import LEVELS

Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]


def together(*options: Option) -> Option:
    """Several options as one, shown in this order."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        return reduce(lambda made, option: option(made), reversed(options), command)

    return add


def seeds_option(default: str) -> Option:
    return click.option(
        "--seeds", default=default, show_default=True, help="Such as 0..4 or 1,5,9."
    )


def level_option(default: int) -> Option:
    return click.option(
        "--level",
        type=click.Choice([str(n) for n in LEVELS]),
        default=str(default),
        show_default=True,
        help="How long the tasks are; 3 is the longest.",
    )


JOBS = click.option(
    "--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes."
)
UNPROTECTED = click.option(
    "--unprotected", is_flag=True, help="Run tools without a sandbox for files."
)
BASE_URL = click.option("--base-url", default="", help="Of an OpenAI-compatible server.")
DEADLINE = click.option(
    "--deadline",
    "deadline_s",
    default=DEADLINE_S,
    show_default=True,
    type=click.FloatRange(1),
    metavar="S",
    help="For one answer of such a server, its retries included.",
)
