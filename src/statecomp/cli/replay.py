"""`statecomp replay`: what a strategy would have sent, saved and broken on recorded runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import click

from statecomp.annotation.labels import Labels
from statecomp.cli.engine import ChosenRuns, engine_options, progress
from statecomp.cli.files import refuse, write_lines, write_text
from statecomp.cli.labels import blamed, labels_in
from statecomp.cli.price_book import read_price_book
from statecomp.cli.replay_tables import closing, meaning, tables
from statecomp.cli.terminal import show, warn
from statecomp.config import Settings, strategy_factory
from statecomp.config.folds import SameRouters, same_routers
from statecomp.controller.prices import Prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replays.document import replay_document
from statecomp.replays.report import report_html
from statecomp.replays.run import NO_LABELS, RunReplay, Survey, replay_run, survey
from statecomp.replays.safety import common_identifiers
from statecomp.replays.sessions import batches, checked, joined
from statecomp.replays.timing import LabelSource
from statecomp.tokens import counter_for
from statecomp.workers.engine import Engine

Surveys = Sequence[Survey | BadInput]
"""One for each run that could be read; those that are no history are passed over later."""


@dataclass(frozen=True)
class ReplayJob:
    """One run through all strategies; everything in it can cross to another process."""

    specs: tuple[str, ...]
    common: frozenset[str]
    model: str
    tokenizer: str
    prices: Prices
    labels: Labels
    keep_messages: bool

    def __call__(self, run: Trajectory) -> RunReplay:
        count = counter_for(self.model, tokenizer=self.tokenizer)
        settings = Settings(count, os.environ, self.prices)
        factories = {spec: strategy_factory(spec, settings) for spec in self.specs}
        return replay_run(
            run,
            factories,
            self.common,
            labels=self.labels,
            count=count,
            keep_messages=self.keep_messages,
        )


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--strategy",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="May be given several times; 'none' is always the reference.",
)
@click.option(
    "--labels",
    "label_file",
    type=click.Path(path_type=Path),
    help="When each interaction could be replaced, as `statecomp annotate` writes it.",
)
@click.option(
    "--join",
    type=click.IntRange(2),
    metavar="N",
    help="Every N runs become one long session: one thing asked for after another.",
)
@click.option("--views", type=click.Path(path_type=Path), help="Write what would have been sent.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write all numbers.")
@click.option("--report", type=click.Path(path_type=Path), help="Write one self-contained page.")
@click.option("--limit", type=click.IntRange(1), help="Read at most N runs.")
@click.option("--domain", help="Only runs of this domain.")
@click.option("--skip-bad", is_flag=True, help="Leave out records that cannot be read, and say so.")
@click.option("--prices", type=click.Path(path_type=Path), help="A price book (TOML) of your own.")
@click.option("--model", default="", help="Whose prices and tokenizer to use.")
@click.option("--tokenizer", default="", help="A local tokenizer.json, for exact counts.")
@engine_options
def replay(
    runs: tuple[Path, ...],
    specs: tuple[str, ...],
    label_file: Path | None,
    join: int | None,
    views: Path | None,
    json_file: Path | None,
    report: Path | None,
    limit: int | None,
    domain: str | None,
    skip_bad: bool,
    prices: Path | None,
    model: str,
    tokenizer: str,
    engine: Engine,
) -> None:
    """Replay recorded runs under one or more strategies and compare them.

    RUNS are JSONL or JSONL.gz files, one recorded run a line, or a JSON list of messages.  Before
    every recorded assistant message but the first, the strategy is handed the raw history, as a
    client would send it; what it hands back is counted, priced with prompt caching, and searched
    for everything the recorded next action used.

    \b
    Strategies (SPEC):
      none                                   the whole history, every time
      window:keep=10                         the last 10 interactions
      mask:keep=10                           observations older than that blanked
      periodic:every=5                       every 5 interactions become a summary
      statecomp                              StateComp with the router of the package
      statecomp:scorer=router:FOLDER         StateComp with a router of your own
      statecomp:scorer=folds:FOLDER          each run with a router that never saw its task
      statecomp:scorer=age:after=3           StateComp's rule, age as the score
      statecomp:scorer=labels:PATH           StateComp's rule, true labels as scores
      statecomp:recipe=paper                 as in the paper; careful, balanced and bold must pay,
                                             at the prices that dollars are counted in
    StateComp also takes wariness= (how many times the price of getting it back a wrong
    replacement counts: less saves more), ahead=, prices=, window=, holds=off, pin=, pin_tools=,
    role=, merge=, and the gates of the paper, threshold=, longer_than= and min_source_tokens=,
    which leave money out; it and periodic take records=chat:openai:MODEL[@URL], or of the
    default, which asks no model, budget= (a share of the source for sentences), dense= (tokens
    of each output that get twice that) and name_worth= (what a missing identifier costs, in
    tokens).

    \b
    A step is broken when the recorded action uses an identifier the agent had learned from an
    observation and that stands nowhere in what would have been sent.

    With --labels, of the pairs (interaction i, checkpoint k), k >= i+2: premature is the share
    replaced of those that the labels still keep at k, ready taken the share replaced of those
    they call READY; an interaction that is masked or cut is replaced.  must_keep in view is, over
    all checkpoints, the share of the labelled strings of earlier interactions that stands
    anywhere in what is sent.  Runs without labels are left out of these and counted.

    With --join, runs of one protocol, and of one domain as far as they go, are played as one
    conversation in the order of the files; dearer and worst are then those of whole sessions.  A
    later run's system message is dropped where it was said before, and else becomes part of its
    first user message; a call that was left open gets "[no result recorded]"; call ids stay
    unique.  Labels are judged within the run they were set in; what was READY stays so.  With
    scorer=folds:FOLDER only runs are joined that one router has not seen.

    \b
    Examples:
      statecomp replay samples/*.jsonl --strategy window:keep=10 --strategy mask:keep=10
      statecomp replay runs.jsonl.gz --strategy statecomp --jobs 2 --report report.html
      statecomp replay runs.jsonl.gz --labels labels.jsonl --strategy periodic --strategy statecomp
      statecomp replay runs.jsonl.gz --labels labels.jsonl --join 4 --strategy statecomp
    """
    count = counter_for(model, tokenizer=tokenizer)
    billed = _prices(prices, model)
    chosen = tuple(dict.fromkeys(specs or ("statecomp",)))
    for spec in chosen:
        strategy_factory(spec, Settings(count, os.environ, billed))
    labels = labels_in(label_file) if label_file else NO_LABELS
    source = LabelSource.of(label_file.name, labels) if label_file else None
    job = ReplayJob(chosen, frozenset(), model, tokenizer, billed, labels, views is not None)
    recorded = ChosenRuns(runs, limit, domain)
    surveys = _surveyed(recorded, engine, skip_bad)
    if label_file:
        _check_labels(label_file, labels, surveys)
    results = _replay_all(recorded, surveys, job, engine, join)
    if views:
        _write_views(views, results)
    if json_file:
        document = replay_document(results, billed, count, source)
        write_text(json_file, json.dumps(document, indent=1) + "\n")
    if report:
        title = _title(runs)
        page = report_html(results, billed, title=title, counter=count.name, labels=source)
        write_text(report, page)
    show(*tables(results, billed, source), closing(results, billed, count))
    if source:
        show(meaning(source))


def _title(runs: Sequence[Path]) -> str:
    names = ", ".join(path.name for path in runs[:3])
    return f"{names} and {len(runs) - 3} more" if len(runs) > 3 else names


def _prices(path: Path | None, model: str) -> Prices:
    """The model's prices; a model without any is priced as the book's default, and that is said."""
    book = read_price_book(path)
    if model and model not in book.models:
        warn(f"no prices for {model!r}: dollars are those of {book.default!r}; see --prices")
        return book.of()
    return book.of(model)


def _replay_all(
    recorded: ChosenRuns, surveys: Surveys, job: ReplayJob, engine: Engine, join: int | None
) -> list[RunReplay]:
    """Reads the files again rather than hold every run: what is common is known at the end."""
    known = [found for found in surveys if isinstance(found, Survey)]
    if not known:
        raise BadInput("not one run could be read as a history")
    job = replace(job, common=common_identifiers((found.group, found.names) for found in known))
    again = (run for run in recorded if isinstance(run, Trajectory))
    sound = compress(again, [isinstance(found, Survey) for found in surveys])
    items: Iterable[Trajectory] = sound
    total = len(known)
    if join:
        together = same_routers(job.specs)
        items = joined(sound, join, together)
        total = sum(1 for _ in batches(known, join, together))
        if total == len(known):
            raise _nothing_joins(together)
    with progress("replaying", total) as watch:
        results = list(engine.map(job, items, watch=watch))
    if sum(result.recorded for result in results) != len(known):
        raise BadInput("the runs changed while they were read; start again")
    return results


def _nothing_joins(together: SameRouters) -> BadInput:
    router = " and a router that has not seen them" if together.folders else ""
    return BadInput(f"no two of these runs share a protocol{router}, so none can be joined")


def _surveyed(recorded: ChosenRuns, engine: Engine, skip_bad: bool) -> Surveys:
    """For each run that can be read what is in it, or why it is no history."""

    def readable() -> Iterator[Trajectory]:
        for run in recorded:
            if isinstance(run, BadInput):
                refuse(run, skip_bad)
            else:
                yield run

    with progress("reading") as watch:
        outcomes = [*engine.map(_survey, readable(), watch=watch)]
        if not outcomes:
            raise recorded.nothing()
        # After all were read, so that the first complaint is the same on every engine.
        for outcome in outcomes:
            if isinstance(outcome, BadInput):
                refuse(outcome, skip_bad)
    return outcomes


def _survey(run: Trajectory) -> Survey | BadInput:
    """Also the place where a run that is no history is found out, before any work is done."""
    try:
        return survey(run)
    except BadInput as problem:
        return problem.at(file=run.source)


def _check_labels(path: Path, labels: Labels, surveys: Surveys) -> None:
    """Labels of other runs are found out before any work is done."""
    known = [found for found in surveys if isinstance(found, Survey) and found.id in labels]
    if not known:
        raise BadInput("holds no label of these runs; their ids must be the same", file=str(path))
    with blamed(path):
        for found in known:
            checked(labels[found.id], found.interactions)


def _write_views(path: Path, results: Sequence[RunReplay]) -> None:
    several = len(results[0].replays) > 1
    lines = (
        {
            "id": result.id,
            **({"strategy": replayed.strategy} if several else {}),
            "checkpoint": step.message,
            "messages": list(step.messages),
        }
        for result in results
        for replayed in result.replays
        for step in replayed.steps
    )
    write_lines(path, lines)
