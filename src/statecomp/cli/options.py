"""Options that several verbs share: which runs, which ledger, and where numbers go."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from statecomp.config.places import STORE
from statecomp.errors import BadInput

Command = TypeVar("Command", bound=Callable[..., Any])
Option: TypeAlias = Callable[[Any], Any]
PATH = click.Path(path_type=Path)


class OutFile(click.Path):
    """A file that is written at the end: that it cannot be is said before hours of work."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        file = Path(os.fsdecode(super().convert(value, param, ctx)))
        if file.is_dir():
            raise BadInput("cannot be written: it is a folder; name a file in it", file=str(file))
        if not file.parent.is_dir():
            problem = f"cannot be written: the folder {file.parent} is not there; make it first"
            raise BadInput(problem, file=str(file))
        return file


OUT_FILE = OutFile(path_type=Path)


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
    type=OUT_FILE,
    help="The JSONL file to write, one run a line.",
)
JSON_FILE = click.option("--json", "json_file", type=OUT_FILE, help="Write all numbers.")
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
