"""`statecomp-bench suite`: eight methods over all tasks, or over all sessions, and their table."""

from __future__ import annotations

from pathlib import Path

import click

from statecomp.controller.prices import shipped_prices
from statecomp_bench.cli.options import BASE_URL, JOBS, UNPROTECTED, seeds_option
from statecomp_bench.cli.run import Job, carried_out, checked_opener
from statecomp_bench.cli.sheet import written
from statecomp_bench.cli.sheets import short_sheet
from statecomp_bench.suite import SCRIPTED, Conditions
from statecomp_bench.tables import read_bench, rows_by_model

SINGLE, SESSIONS = "single", "sessions"
BASELINE = "none"
METHODS = (
    BASELINE,
    "window:keep=10",
    "mask:keep=10",
    "periodic:every=5",
    "statecomp:recipe=paper,scorer=router",
    "statecomp:recipe=careful",
    "statecomp",
    "statecomp:recipe=bold",
)


@click.command("suite")
@click.argument("kind", type=click.Choice([SINGLE, SESSIONS]))
@seeds_option("2001")
@click.option("--model", default=SCRIPTED, show_default=True, help="As for `run`.")
@BASE_URL
@JOBS
@UNPROTECTED
@click.option("-o", "folder", type=click.Path(path_type=Path), required=True, help="Folder.")
def suite_command(
    kind: str, seeds: str, model: str, base_url: str, jobs: int, unprotected: bool, folder: Path
) -> None:
    """Run the eight methods that are compared over every task or session, and print the table.

    A stopped suite goes on where it stopped.  On two cores, with the scripted model and one seed,
    single tasks take less than half an hour and sessions less than an hour.

    \b
    Examples:
      statecomp-bench suite single -o bench-single/
      statecomp-bench suite sessions -o bench-sessions/ --seeds 2001,2002
    """
    opener = checked_opener(model, base_url)
    conditions = Conditions(shipped_prices().of(), unprotected=unprotected)
    carried_out(Job(opener, conditions, folder, kind == SESSIONS), METHODS, seeds, jobs=jobs)
    bench = read_bench([folder]).of([model])
    lines = rows_by_model(bench, BASELINE)[model]
    click.echo(written([short_sheet(lines, bench, kind.title())], "markdown"), nl=False)
