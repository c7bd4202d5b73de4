"""`statecomp-bench next`: what readers would do next at hard moments of recorded runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.table import Table

from statecomp.annotation.labels import labels_in
from statecomp.cli.files import read_chosen
from statecomp.cli.lazy import PlainGroup
from statecomp.cli.terminal import show, warn, watched
from statecomp.config import Settings, strategy_factory
from statecomp.errors import BadInput, StateCompError
from statecomp.llm.chat import Chat
from statecomp.wire.chats import open_chat
from statecomp.workers.local import LocalEngine
from statecomp_bench.cli.options import JOBS
from statecomp_bench.nextsteps.answers import written
from statecomp_bench.nextsteps.assigning import NextAssignment, instructions, judges, readers
from statecomp_bench.nextsteps.folder import MomentPage, NextFolder, put
from statecomp_bench.nextsteps.judging import judging_pages, unjudged
from statecomp_bench.nextsteps.moments import Bounds, Moment, moments
from statecomp_bench.nextsteps.prepare import NextStudy, prepared
from statecomp_bench.nextsteps.table import lines, problems

FOLDER = click.argument("path", metavar="FOLDER", type=click.Path(path_type=Path))
MOST = click.option(
    "--most", type=click.IntRange(1), default=10, show_default=True, help="Pages each gets."
)
MOST_ANSWER_TOKENS = 4096
SYSTEM = "You answer with one JSON object, as you are asked to."
BOUNDS = Bounds()
DEFAULT_STRATEGIES = ("none", "statecomp", "periodic:every=5")


@click.group("next", cls=PlainGroup)
def next_group() -> None:
    """Ask what readers would do next, at moments when something old is needed.

    A moment is a recorded step that uses something at least five steps old which the labels still
    keep.  Each strategy's view of it gets a name that says nothing; a reader names the next action
    and what it misses, and a judge with the whole history scores the answers without knowing which
    view they come from: 2 as good as what was recorded, 1 less informed, 0 wrong.

    \b
    Examples:
      statecomp-bench next prepare next/ --runs runs.jsonl.gz --labels labels.jsonl
      statecomp-bench next run next/ --model openai:NAME@http://host:8000/v1
      statecomp-bench next assign next/     # readers outside answer files instead
      statecomp-bench next judge next/      # pages for judges, once readers have answered
      statecomp-bench next table next/
    """


@dataclass(frozen=True)
class PreparingMoments:
    """One moment's pages, wherever they are made."""

    path: Path
    specs: tuple[str, ...]

    def __call__(self, moment: Moment) -> list[MomentPage]:
        settings = Settings(environ=os.environ)
        factories = {spec: strategy_factory(spec, settings) for spec in self.specs}
        return [*prepared(NextStudy.at(NextFolder(self.path)), moment, factories)]


@next_group.command("prepare")
@FOLDER
@click.option(
    "--runs",
    "runs",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="Recorded runs; may be given several times.",
)
@click.option("--labels", required=True, type=click.Path(path_type=Path), help="Of these runs.")
@click.option(
    "--strategy",
    "specs",
    multiple=True,
    metavar="SPEC",
    help=f"May be given several times.  [default: {', '.join(DEFAULT_STRATEGIES)}]",
)
@click.option(
    "--moments",
    "count",
    type=click.IntRange(1),
    default=40,
    show_default=True,
    help="How many, one a task.",
)
@click.option(
    "--age",
    type=click.IntRange(1),
    default=BOUNDS.age,
    show_default=True,
    help="How many steps ago what is needed was shown, at least.",
)
@click.option(
    "--longest",
    type=click.IntRange(1),
    default=BOUNDS.longest,
    show_default=True,
    help="Tokens of the whole history, at most.",
)
@click.option(
    "--shortest",
    type=click.IntRange(0),
    default=BOUNDS.shortest,
    show_default=True,
    help="Tokens of the whole history, at least.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Of the moments that are chosen."
)
@JOBS
def prepare_command(
    path: Path,
    runs: tuple[Path, ...],
    labels: Path,
    specs: tuple[str, ...],
    count: int,
    age: int,
    longest: int,
    shortest: int,
    seed: int,
    jobs: int,
) -> None:
    """Find hard moments and put a page for each strategy's view into FOLDER; what is there stays.

    One moment a task, domains in turn.  FOLDER/key.jsonl says what stands behind each name, and is
    not for readers.

    \b
    Example:
      statecomp-bench next prepare next/ --runs runs.jsonl.gz --labels labels.jsonl --moments 8
    """
    chosen = tuple(dict.fromkeys(specs or DEFAULT_STRATEGIES))
    for spec in chosen:
        strategy_factory(spec, Settings(environ=os.environ))
    read = read_chosen(runs, None, None, skip_bad=True)
    found = moments(read, labels_in(labels), Bounds(age, shortest, longest), seed)[:count]
    if len(found) < count:
        warn(f"only {len(found)} tasks have such a moment")
    folder, made = NextFolder(path), 0
    job = PreparingMoments(path, chosen)
    for pages in watched(LocalEngine(jobs).map(job, found), "preparing", len(found)):
        for page in pages:
            folder.add(page)
            made += 1
    show(f"{made} pages made; {len(folder.pages())} are in {path}")


@next_group.command("run")
@FOLDER
@click.option("--model", required=True, metavar="CHAT", help="openai:MODEL[@URL] answers.")
@click.option("--judge", default="", metavar="CHAT", help="Who judges.  [default: the same]")
def run_command(path: Path, model: str, judge: str) -> None:
    """Let a model answer every open page and judge what is answered; each page is asked alone.

    \b
    Example:
      statecomp-bench next run next/ --model openai:NAME@http://host:8000/v1 --judge openai:OTHER
    """
    folder = NextFolder(path)
    reader = open_chat(model, environ=os.environ)
    judging = open_chat(judge, environ=os.environ) if judge else reader
    names = [page.name for page in folder.require()]
    _ask(reader, names, folder.page_file, folder.answer_file)
    judging_pages(folder)
    _ask(judging, unjudged(folder), folder.judging_file, folder.verdict_file)
    show_table(folder)


def _ask(
    chat: Chat, names: Sequence[str], page: Callable[[str], Path], answer: Callable[[str], Path]
) -> None:
    """Whoever does not answer costs that page; the next start asks again."""
    for name in watched(names, "asking", len(names)):
        if written(answer(name)) is not None:
            continue
        try:
            said = chat.ask(SYSTEM, page(name).read_text("utf-8"), max_tokens=MOST_ANSWER_TOKENS)
        except StateCompError as error:
            warn(f"{name}: {error}")
            continue
        put(answer(name), said.text)


@next_group.command("assign")
@FOLDER
@MOST
def assign_command(path: Path, most: int) -> None:
    """Deal pages out to readers outside; no reader gets a moment twice.

    Instructions are FOLDER/assignments/WHO.md.

    \b
    Example:
      statecomp-bench next assign next/ --most 5
    """
    folder = NextFolder(path)
    _write(folder, readers(folder, most), folder.page_file, folder.answer_file)


@next_group.command("judge")
@FOLDER
@MOST
def judge_command(path: Path, most: int) -> None:
    """Make pages for judges where all readers have answered, and deal them out.

    \b
    Example:
      statecomp-bench next judge next/
    """
    folder = NextFolder(path)
    judging_pages(folder)
    _write(folder, judges(folder, most), folder.judging_file, folder.verdict_file)


def _write(
    folder: NextFolder,
    assignments: Sequence[NextAssignment],
    page: Callable[[str], Path],
    answer: Callable[[str], Path],
) -> None:
    for assignment in assignments:
        file = folder.path / "assignments" / f"{assignment.who}.md"
        put(file, instructions(folder, assignment.names, page, answer))
        for name in assignment.names:
            answer(name).parent.mkdir(parents=True, exist_ok=True)
        click.echo(file)
    if not assignments:
        warn("nothing is left to deal out")


@next_group.command("table")
@FOLDER
def table_command(path: Path) -> None:
    """Print what readers made of each strategy's views, where a judge has spoken.

    \b
    Example:
      statecomp-bench next table next/
    """
    show_table(NextFolder(path))


def show_table(folder: NextFolder) -> None:
    for problem in problems(folder):
        warn(problem)
    found = lines(folder)
    if not found:
        raise BadInput("no moment is judged", file=str(folder.path))
    table = Table(
        "strategy", "n", "view", "as good", "less", "wrong", "score", "missed", "misled", "looks up"
    )
    for line in found:
        counts = map(str, (line.good, line.less, line.wrong))
        table.add_row(
            line.strategy,
            str(line.count),
            f"{line.tokens:,.0f}",
            *counts,
            f"{line.score:.2f}",
            f"{line.missing:.2f}",
            str(line.misleading),
            str(line.looks_up),
        )
    show(table)
    left = len(folder.by_moment()) - max(line.count for line in found)
    show(
        f"{left} moments are not judged. missed: what a reader named as missing, the mean; misled: "
        "views in which a reader found something misleading; looks up: answers that fetch again."
    )
