"""`statecomp-bench suite`: eight methods over all tasks, or over all sessions, and their table."""

from __future__ import annotations

import os
from pathlib import Path

import click

from statecomp.cli.terminal import warn
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import shipped_prices
from statecomp_bench.cli.run import Job, carried_out, checked_opener, seeds_in
from statecomp_bench.cli.sheet import written
from statecomp_bench.cli.sheets import short_sheet
from statecomp_bench.models import DEADLINE_S
from statecomp_bench.results import read_results
from statecomp_bench.sessions.book import sessions_like
from statecomp_bench.suite import SCRIPTED, Conditions, orders
from statecomp_bench.tables import read_bench, rows_by_model
from statecomp_bench.tasks import tasks_like

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
@click.option("--seeds", default="2001", show_default=True, help="Such as 0..4 or 1,5,9.")
@click.option("--model", default=SCRIPTED, show_default=True, help="As for `run`.")
@click.option("--base-url", default="", help="Of an OpenAI-compatible server.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes.")
@click.option("--unprotected", is_flag=True, help="Run tools without a sandbox for files.")
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
    for spec in METHODS:
        strategy_factory(spec, Settings(environ=os.environ))
    opener = checked_opener(model, base_url, DEADLINE_S)
    conditions = Conditions(shipped_prices().of(), unprotected=unprotected)
    known = sessions_like() if kind == SESSIONS else tasks_like()
    done = [result.key for result in read_results(folder)]
    todo = orders(known, METHODS, seeds_in(seeds), model, 1, done)
    if done:
        warn(f"{len(done)} runs are recorded in {folder} already; {len(todo)} are left")
    carried_out(Job(opener, conditions, folder, kind == SESSIONS), todo, jobs)
    bench = read_bench([folder]).of([model])
    lines = rows_by_model(bench, BASELINE)[model]
    click.echo(written([short_sheet(lines, bench, kind.title())], "markdown"), nl=False)
