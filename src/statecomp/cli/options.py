"""Options that several verbs share: which runs, which ledger, and where numbers go."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from statecomp.config.places import STORE

Command = TypeVar("Command", bound=Callable[..., Any])
Option: TypeAlias = Callable[[Any], Any]
PATH = click.Path(path_type=Path)


def together(*options: Option) -> Callable[[Command], Command]:
    """Several options as one decorator, shown in this order."""

    def given(command: Command) -> Command:
        told: Command = reduce(lambda made, option: option(made), reversed(options), command)
        return told

    return given


RUNS = click.argument("runs", nargs=-1, required=True, type=PATH)
LIMIT = click.option("--limit", type=click.IntRange(1), help="Read at most N runs.")
SKIP_BAD = click.option(
    "--skip-bad", is_flag=True, help="Leave out records that cannot be read, and say so."
)
CHOSEN = together(LIMIT, click.option("--domain", help="Only runs of this domain."), SKIP_BAD)
"""Which records of the files are read."""

RUNS_OUT = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The JSONL file to write, one run a line.",
)
JSON_FILE = click.option("--json", "json_file", type=PATH, help="Write all numbers.")
JSON_LINES = click.option("--json", "json_lines", is_flag=True, help="One JSON object a line.")
PRICES = click.option("--prices", type=PATH, help="A price book (TOML) of your own.")
STORE_URL = click.option(
    "--store",
    default="",
    metavar="URL",
    help=f"The ledger: a file, or postgresql://...  [default: {STORE}, else your data folder]",
)
SEED = click.option(
    "--seed", type=int, default=0, show_default=True, help="Of all that is drawn by chance."
)
