"""`statecomp-bench handoff`: somebody else finishes a task from what a strategy shows of it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table

from statecomp.baselines.none import NoCompression
from statecomp.cli.files import write_text
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.terminal import show, warn, watched
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.workers.local import LocalEngine
from statecomp_bench.cli.options import (
    BASE_URL,
    DEADLINE,
    JOBS,
    UNPROTECTED,
    level_option,
    seeds_option,
)
from statecomp_bench.cli.run import Opener, checked_opener, seeds_in
from statecomp_bench.handoffs.assigning import assigned, instructions
from statecomp_bench.handoffs.folder import Handoff, HandoffEnding, HandoffFolder
from statecomp_bench.handoffs.prepare import Occasion, prepared
from statecomp_bench.handoffs.reading import act, finish, finished_by
from statecomp_bench.handoffs.scoring import HandoffLine, lines, outcomes
from statecomp_bench.models import Model
from statecomp_bench.suite import Conditions
from statecomp_bench.task import Case
from statecomp_bench.tasks import tasks_like

FOLDER = click.argument("path", metavar="FOLDER", type=click.Path(path_type=Path))


@click.group("handoff", cls=PlainGroup)
def handoff_group() -> None:
    """Hand tasks over half done: who finishes them sees only what a strategy shows.

    A task is run to a point by the scripted model, uncompressed; each strategy's view of that point
    gets a name that says nothing.  A reader (a model behind an address, or whoever works from a
    shell) finishes it with the same tools in a copy of the same workspace, and the checker scores
    what is left.  All views of a moment show the same history, so only what was shown differs.

    \b
    Examples:
      statecomp-bench handoff prepare handoffs/ --tasks 'office-*' --strategy none \\
        --strategy statecomp --strategy window:keep=10 --point 0.45 --point 0.75
      statecomp-bench handoff run handoffs/ --model openai:NAME --base-url http://host:8000/v1
      statecomp-bench handoff assign handoffs/
      statecomp-bench handoff table handoffs/
    """


@dataclass(frozen=True)
class PreparingHandoffs:
    """One task's hand-offs, wherever they are made."""

    path: Path
    conditions: Conditions
    known: tuple[Handoff, ...]

    def __call__(self, occasion: Occasion) -> list[Handoff]:
        settings = Settings(self.conditions.count, os.environ)
        factories = {spec: strategy_factory(spec, settings) for spec in occasion.strategies}
        return [
            *prepared(HandoffFolder(self.path), occasion, factories, self.conditions, self.known)
        ]


@handoff_group.command("prepare")
@FOLDER
@click.option("--tasks", "patterns", multiple=True, metavar="GLOB", help="Task ids or domains.")
@click.option(
    "--strategy",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="May be given several times.  [default: none, statecomp]",
)
@click.option(
    "--point",
    "points",
    multiple=True,
    type=click.FloatRange(0.05, 0.95),
    default=(0.62,),
    show_default=True,
    help="Share of the task's steps that is done; may be given several times.",
)
@seeds_option("0")
@level_option(2)
@JOBS
@UNPROTECTED
def prepare_command(
    path: Path,
    patterns: tuple[str, ...],
    specs: tuple[str, ...],
    points: tuple[float, ...],
    seeds: str,
    level: str,
    jobs: int,
    unprotected: bool,
) -> None:
    """Run tasks to a point and put each strategy's view into FOLDER; what is there stays.

    FOLDER/key.jsonl says what stands behind each name, and is not for readers.

    \b
    Example:
      statecomp-bench handoff prepare handoffs/ --tasks 'office-*' --strategy statecomp --point 0.75
    """
    chosen = tuple(dict.fromkeys(specs or ("none", "statecomp")))
    for spec in chosen:
        strategy_factory(spec, Settings(environ=os.environ))
    occasions = [
        Occasion(task.id, seed, int(level), tuple(dict.fromkeys(points)), chosen)
        for task in tasks_like(patterns)
        for seed in seeds_in(seeds)
    ]
    folder = HandoffFolder(path)
    job = PreparingHandoffs(path, _conditions(unprotected), tuple(folder.handoffs()))
    made = 0
    for handoffs in watched(LocalEngine(jobs).map(job, occasions), "preparing", len(occasions)):
        for handoff in handoffs:
            folder.add(handoff)
            made += 1
    show(f"{made} hand-offs made; {len(folder.handoffs())} are in {path}")


@dataclass(frozen=True)
class ReaderChoice:
    """One hand-off finished by a model, wherever it runs."""

    path: Path
    opener: Opener
    conditions: Conditions

    def __call__(self, handoff: Handoff) -> HandoffEnding:
        return finished_by(
            HandoffFolder(self.path), handoff, self.opener.spec, self._opened, self.conditions
        )

    def _opened(self, case: Case, seed: int) -> Model:
        return self.opener(case, seed, NoCompression())


@handoff_group.command("run")
@FOLDER
@click.option(
    "--model", required=True, help="openai:NAME (also a desk), or scripted[:VARIANT], a simulation."
)
@BASE_URL
@DEADLINE
@click.option("--max-steps", type=click.IntRange(1), help="Ends a reader; else as the task says.")
@JOBS
@UNPROTECTED
def run_command(
    path: Path,
    model: str,
    base_url: str,
    deadline_s: float,
    max_steps: int | None,
    jobs: int,
    unprotected: bool,
) -> None:
    """Let a model finish every hand-off that nobody has; each is a conversation of its own.

    What is finished stays, so a stopped run goes on where it stopped.

    \b
    Examples:
      statecomp-bench handoff run handoffs/ --model openai:NAME --base-url http://host:8000/v1
      statecomp-bench handoff run handoffs/ --model scripted:reader
    """
    folder = HandoffFolder(path)
    todo = [h for h in folder.require() if folder.ending(h.name) is None]
    opener = checked_opener(model, base_url, deadline_s)
    job = ReaderChoice(path, opener, _conditions(unprotected, max_steps or 0))
    reasons: Counter[str] = Counter()
    for ending in watched(LocalEngine(jobs).map(job, todo), "reading", len(todo)):
        reasons.update([ending.reason] if ending.reason else [])
    for reason, count in reasons.items():
        warn(f"{count} ended early: {reason}")
    show_table(folder, unprotected)


@handoff_group.command("act")
@FOLDER
@click.argument("name")
@click.option("--tool", required=True, help="One of the tools the task was begun with.")
@click.option(
    "--arguments", default="{}", show_default=True, metavar="JSON", help="-: standard input."
)
@UNPROTECTED
def act_command(path: Path, name: str, tool: str, arguments: str, unprotected: bool) -> None:
    """Call one tool in the workspace of hand-off NAME, and print what it says.

    \b
    Example:
      statecomp-bench handoff act handoffs/ 0f3b... --tool read_file --arguments '{"path": "a.md"}'
    """
    given = sys.stdin.read() if arguments == "-" else arguments
    folder = HandoffFolder(path)
    click.echo(act(folder, folder.named(name), tool, given, _conditions(unprotected)))


@handoff_group.command("finish")
@FOLDER
@click.argument("name")
@click.option("--reader", required=True, help="Who you are.")
@click.option("--words", default="", help="What you did.")
@click.option("--reason", default="", help="Why it is not done, where it is not.")
def finish_command(path: Path, name: str, reader: str, words: str, reason: str) -> None:
    """Say that hand-off NAME is done, or that you cannot go on.

    \b
    Example:
      statecomp-bench handoff finish handoffs/ 0f3b... --reader ada --words "both files are mended"
    """
    folder = HandoffFolder(path)
    finish(folder, folder.named(name), HandoffEnding(reader, words, reason))


@handoff_group.command("assign")
@FOLDER
@click.option(
    "--most", type=click.IntRange(1), default=10, show_default=True, help="Hand-offs a reader gets."
)
@click.option(
    "--command", default="statecomp-bench", show_default=True, help="How readers call the bench."
)
def assign_command(path: Path, most: int, command: str) -> None:
    """Deal hand-offs out to readers outside, and write each one's instructions.

    No reader gets a task twice, at whatever point it is handed over.  The pages are
    FOLDER/assignments/READER.md; hand-offs that were dealt out before stay where they are.

    \b
    Example:
      statecomp-bench handoff assign handoffs/ --most 6
    """
    folder = HandoffFolder(path)
    made = assigned(folder, most)
    (path / "assignments").mkdir(exist_ok=True)
    for assignment in made:
        page = path / "assignments" / f"{assignment.reader}.md"
        write_text(page, instructions(path, assignment, command))
        click.echo(page)
    if not made:
        warn("every hand-off was dealt out before")


@handoff_group.command("table")
@FOLDER
@click.option("--close", is_flag=True, help="Score what nobody finished, too, as it stands.")
@click.option("--by-point", is_flag=True, help="One table for each point of hand-over.")
@UNPROTECTED
def table_command(path: Path, close: bool, by_point: bool, unprotected: bool) -> None:
    """Score what is finished, once, and print what each strategy's readers made of it.

    \b
    Example:
      statecomp-bench handoff table handoffs/ --by-point
    """
    show_table(HandoffFolder(path), unprotected, close=close, by_point=by_point)


def show_table(
    folder: HandoffFolder, unprotected: bool, *, close: bool = False, by_point: bool = False
) -> None:
    found = [*outcomes(folder, _conditions(unprotected), close=close)]
    if not found:
        raise BadInput("no hand-off is finished", file=str(folder.path))
    points = sorted({handoff.point for handoff, _ in found}) if by_point else [None]
    for point in points:
        if point is not None:
            show(f"handed over after {100 * point:.0f} % of the steps")
        show(_table(lines([pair for pair in found if point in (None, pair[0].point)])))
    readers = Counter(outcome.reader for _, outcome in found)
    left = len(folder.handoffs()) - len(found)
    show(
        f"{len(found)} hand-offs of {len({h.subject for h, _ in found})} tasks by {len(readers)} "
        f"readers, {left} open; each figure ± its standard error. read: tokens its calls brought "
        "up; again: those of them that had been seen before the hand-over."
    )


def _table(found: Sequence[HandoffLine]) -> Table:
    names = (
        "strategy",
        "n",
        "view",
        "of raw",
        "reward",
        "calls",
        "read",
        "again",
        "whole",
        "ended",
    )
    table = Table(*names)
    for line in found:
        table.add_row(
            line.strategy,
            str(line.count),
            f"{line.tokens:,.0f}",
            f"{100 * line.share:.0f}%",
            _with_error(line.reward, 1),
            _with_error(line.calls, 1),
            _with_error(line.read),
            _with_error(line.again),
            str(line.whole),
            str(line.ended),
        )
    return table


def _with_error(value: tuple[float, float], places: int = 0) -> str:
    return f"{value[0]:,.{places}f} ± {value[1]:,.{places}f}"


def _conditions(unprotected: bool, max_steps: int = 0) -> Conditions:
    return Conditions(shipped_prices().of(), max_steps=max_steps, unprotected=unprotected)
