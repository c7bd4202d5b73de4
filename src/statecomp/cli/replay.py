"""`statecomp replay`: what a strategy would have sent, saved and broken on recorded runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from statecomp.cli.engine import engine_options, progress
from statecomp.cli.files import read_price_book, refuse, write_lines, write_text
from statecomp.cli.options import CHOSEN, JSON_FILE, PATH, PRICES, RUNS
from statecomp.cli.replay_tables import closing, meaning, tables
from statecomp.cli.terminal import show, warn
from statecomp.controller.prices import Prices
from statecomp.pipelines.replaying import LabelFile, ReplayTask
from statecomp.pipelines.runs import ChosenRuns
from statecomp.replays.run import RunReplay
from statecomp.workers.engine import Engine


@click.command()
@RUNS
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
    type=PATH,
    help="When each interaction could be replaced, as `statecomp annotate` writes it.",
)
@click.option(
    "--join",
    type=click.IntRange(2),
    metavar="N",
    help="Every N runs become one long session: one thing asked for after another.",
)
@click.option(
    "--breaks",
    is_flag=True,
    help="The provider's cache runs out between the runs of a session, as over lunch.",
)
@click.option("--views", type=PATH, help="Write what would have been sent.")
@JSON_FILE
@click.option("--report", type=PATH, help="Write one self-contained page.")
@CHOSEN
@PRICES
@click.option("--model", default="", help="Whose prices and tokenizer to use.")
@click.option("--tokenizer", default="", help="A local tokenizer.json, for exact counts.")
@engine_options
def replay(
    runs: tuple[Path, ...],
    specs: tuple[str, ...],
    label_file: Path | None,
    join: int | None,
    breaks: bool,
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
    scorer=folds:FOLDER only runs are joined that one router has not seen.  With --breaks, every
    strategy pays for the first request of each later run as if nothing of it were cached.

    \b
    Examples:
      statecomp replay samples/*.jsonl --strategy window:keep=10 --strategy mask:keep=10
      statecomp replay runs.jsonl.gz --strategy statecomp --jobs 2 --report report.html
      statecomp replay runs.jsonl.gz --labels labels.jsonl --strategy periodic --strategy statecomp
      statecomp replay runs.jsonl.gz --labels labels.jsonl --join 4 --strategy statecomp
    """
    chosen = tuple(dict.fromkeys(specs or ("statecomp",)))
    task = ReplayTask(
        chosen,
        _prices(prices, model),
        LabelFile.of(label_file),
        model,
        tokenizer,
        join,
        breaks,
        keep_messages=views is not None,
    )
    on_bad = partial(refuse, skip_bad=skip_bad)
    done = task.over(ChosenRuns(runs, limit, domain), engine, progress, on_bad)
    if views:
        _write_views(views, done.runs)
    if json_file:
        write_text(json_file, json.dumps(done.document(), indent=1) + "\n")
    if report:
        write_text(report, done.report(_title(runs)))
    show(*tables(done.runs, done.prices, done.labels), closing(done.runs, done.prices, done.count))
    if done.labels:
        show(meaning(done.labels))


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
