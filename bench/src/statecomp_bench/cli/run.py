"""`statecomp-bench run` and `tasks`: what there is, run under one or more strategies."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.table import Table

from statecomp.cli.terminal import show, warn, watched
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.strategy import Strategy
from statecomp.workers.local import LocalEngine
from statecomp_bench.acting import ScriptedModel
from statecomp_bench.cli.options import (
    BASE_URL,
    DEADLINE,
    JOBS,
    UNPROTECTED,
    level_option,
    seeds_option,
)
from statecomp_bench.habits import habits_named
from statecomp_bench.models import DEADLINE_S, Model, open_remote
from statecomp_bench.results import Result, append_result, read_results
from statecomp_bench.sessions.acting import SessionModel
from statecomp_bench.sessions.book import BOOK, sessions_like
from statecomp_bench.sessions.session import WorkSession
from statecomp_bench.sessions.suite import run_session
from statecomp_bench.suite import SCRIPTED, Conditions, RunOrder, orders, run_order
from statecomp_bench.task import Case
from statecomp_bench.tasks import tasks_like

# In a session an agent looks at less of each thing: there are so many.
SESSION_LINES = (20, 50)


@dataclass(frozen=True)
class Opener:
    """Opens the acting model of a run; crosses to other processes, so it holds no connection."""

    spec: str
    base_url: str
    deadline_s: float = DEADLINE_S

    def __call__(self, case: Case, seed: int, strategy: Strategy) -> Model:
        name, _, variant = self.spec.partition(":")
        if name != SCRIPTED:
            return open_remote(self.spec, self.base_url, os.environ, self.deadline_s)
        policy = getattr(strategy, "policy", ())
        return ScriptedModel(case.plan, habits_named(variant), seed, policy)

    def session(self, session: WorkSession, seed: int, strategy: Strategy) -> Model:
        name, _, variant = self.spec.partition(":")
        if name != SCRIPTED:
            return open_remote(self.spec, self.base_url, os.environ, self.deadline_s)
        habits = replace(habits_named(variant), lines=SESSION_LINES)
        return SessionModel(session, seed, habits, getattr(strategy, "policy", ()))


@dataclass(frozen=True)
class Job:
    """One order, wherever it runs."""

    opener: Opener
    conditions: Conditions
    folder: Path
    sessions: bool = False

    def __call__(self, order: RunOrder) -> Result:
        factory = strategy_factory(order.strategy, Settings(self.conditions.count, os.environ))
        if self.sessions:
            return run_session(order, factory, self.opener.session, self.conditions, self.folder)
        return run_order(order, factory, self.opener, self.conditions, self.folder)


@click.command("tasks")
@click.option("--tasks", "patterns", multiple=True, metavar="GLOB", help="Only these.")
def list_tasks(patterns: tuple[str, ...]) -> None:
    """List the tasks, with the length of their plans, and the sessions.

    \b
    Example:
      statecomp-bench tasks --tasks 'web-*'
    """
    table = Table("task", "domain", "steps", "files", "what it asks for")
    for task in tasks_like(patterns):
        case = task.case()
        steps, files = len(case.plan.steps), len(case.files)
        table.add_row(task.id, task.domain, str(steps), str(files), task.title)
    show(table)
    if not patterns:
        book = Table("session", "its tasks")
        for entry in BOOK:
            book.add_row(entry.id, entry.title)
        show(book)


@click.command("run")
@click.option("--tasks", "patterns", multiple=True, metavar="GLOB", help="Task ids or domains.")
@click.option("--sessions", is_flag=True, help="Sessions of several tasks; --tasks are their ids.")
@click.option(
    "--strategy",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="May be given several times; see `statecomp replay --help`.  [default: none, statecomp]",
)
@seeds_option("0")
@level_option(1)
@click.option(
    "--model",
    default=SCRIPTED,
    show_default=True,
    help="scripted[:reader|literal|forgetful|hasty|thorough], a simulation, or openai:NAME.",
)
@BASE_URL
@DEADLINE
@JOBS
@click.option("--max-steps", type=click.IntRange(1), help="Ends every run; else as the task says.")
@UNPROTECTED
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("bench-runs"),
    show_default=True,
    help="The folder for the runs.",
)
def run_bench(
    patterns: tuple[str, ...],
    sessions: bool,
    specs: tuple[str, ...],
    seeds: str,
    level: str,
    model: str,
    base_url: str,
    deadline_s: float,
    jobs: int,
    max_steps: int | None,
    unprotected: bool,
    folder: Path,
) -> None:
    """Run tasks under strategies and record every run in a folder.

    A run that is recorded there already is not made again, so a stopped bench goes on where it
    stopped.  A run that fails is scored 0 and says why; the others go on.

    \b
    Examples:
      statecomp-bench run --strategy none --strategy statecomp --seeds 0..2 -o bench-runs/
      statecomp-bench run --tasks 'security-*' --model openai:NAME --base-url http://host:8000/v1
    """
    chosen = tuple(dict.fromkeys(specs or ("none", "statecomp")))
    opener = checked_opener(model, base_url, deadline_s)
    if unprotected:
        warn("tools run without a sandbox for files where the kernel has none")
    conditions = Conditions(
        shipped_prices().of(), max_steps=max_steps or 0, unprotected=unprotected
    )
    job = Job(opener, conditions, folder, sessions)
    carried_out(job, chosen, seeds, patterns, int(level), jobs)


def carried_out(
    job: Job,
    specs: Sequence[str],
    seeds: str,
    patterns: tuple[str, ...] = (),
    level: int = 1,
    jobs: int = 1,
) -> None:
    """Every run that is not recorded yet, each recorded when it is done; then a line a method."""
    for spec in specs:
        strategy_factory(spec, Settings(environ=os.environ))
    folder = job.folder
    done = [result.key for result in read_results(folder)]
    known = sessions_like(patterns) if job.sessions else tasks_like(patterns)
    todo = orders(known, specs, seeds_in(seeds), job.opener.spec, level, done)
    if done:
        warn(f"{len(done)} runs are recorded in {folder} already; {len(todo)} are left")
    failed: Counter[str] = Counter()
    made = []
    for result in watched(LocalEngine(jobs).map(job, todo), "running", len(todo)):
        append_result(folder, result)
        made.append(result)
        failed[result.reason] += result.failed
    for reason, count in failed.items():
        if count:
            warn(f"{count} runs failed: {reason}")
    _print(read_results(folder), made)


def checked_opener(model: str, base_url: str, deadline_s: float = DEADLINE_S) -> Opener:
    """Wrong names are found before any work is done."""
    name, _, variant = model.partition(":")
    if name == SCRIPTED:
        habits_named(variant)
    else:
        open_remote(model, base_url, os.environ)
    return Opener(model, base_url, deadline_s)


def seeds_in(text: str) -> list[int]:
    numbers: list[int] = []
    for piece in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,6})(?:\.\.(\d{1,6}))?\s*", piece)
        if found is None:
            raise BadInput("is written 0..4 or 1,5,9", field="seeds")
        numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
    return list(dict.fromkeys(numbers))


def _print(results: Sequence[Result], made: Sequence[Result]) -> None:
    table = Table("strategy", "model", "runs", "failed", "reward", "steps", "tokens", "side")
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.strategy, result.model), []).append(result)
    for (strategy, model), group in groups.items():
        table.add_row(
            strategy,
            model,
            str(len(group)),
            str(sum(result.failed for result in group)),
            f"{100 * sum(r.reward for r in group) / len(group):.1f}",
            f"{sum(r.steps for r in group) / len(group):.1f}",
            f"{sum(r.total for r in group) / len(group):,.0f}",
            f"{sum(r.side for r in group) / len(group):,.0f}",
        )
    show(table)
    if any(result.simulated for result in results):
        show("The acting model is scripted: a simulation, not a language model.")
    if made:
        seconds = sum(result.seconds for result in made) / len(made)
        show(f"{len(made)} runs, {seconds:.1f} s each; protection: {made[0].protection or '-'}")
