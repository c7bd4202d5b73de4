"""`statecomp replay`: what a strategy would have sent, saved and broken on recorded runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from statecomp.cli.engine import engine_options
from statecomp.cli.files import read_price_book, refuse, write_lines, write_text
from statecomp.cli.options import CHOSEN, JSON_FILE, OUT_FILE, PATH, PRICES, RUNS
from statecomp.cli.replay_tables import closing, meaning, tables
from statecomp.cli.terminal import progress, show, warn
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
@click.option("--views", type=OUT_FILE, help="Write what would have been sent.")
@JSON_FILE
@click.option("--report", type=OUT_FILE, help="Write one self-contained page.")
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
    client would send it.  What it hands back is counted, priced with prompt caching, and searched
    for everything that the recorded next action used.

    \b
    Examples:
      statecomp replay samples/*.jsonl --strategy window:keep=10 --strategy mask:keep=10
      statecomp replay runs.jsonl.gz --strategy statecomp --jobs 2 --report report.html
      statecomp replay runs.jsonl.gz --labels labels.jsonl --strategy periodic --strategy statecomp
      statecomp replay runs.jsonl.gz --labels labels.jsonl --join 4 --strategy statecomp

    \b
    Strategies (SPEC); `statecomp strategies` lists the methods of others too:
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

    \b
    Options of statecomp, with commas between them:
      wariness=    how many times the price of getting it back a wrong replacement counts;
                   less saves more
      ahead=       how many of the requests to come count towards a rewrite
      holds=off    documents the user names are not kept
      pin=, pin_tools=, window=, prices=, role=, merge=
      threshold=, longer_than=, min_source_tokens=
                   the gates of the paper, which leave money out
      records=     chat:openai:MODEL[@URL] has a model write the records
    Without a model, records are extracts, here and for periodic:
      budget=      the share of the source that sentences may take
      dense=       tokens of each output that get twice that share
      name_worth=  what a missing identifier costs, in tokens

    \b
    What the columns mean:
      broken       steps whose recorded action uses an identifier that the agent had learned
                   from an observation, and that stands nowhere in what would have been sent
      premature    with --labels: the share replaced of what the labels still keep then
      ready taken  with --labels: the share replaced of what the labels call READY then
      must_keep in view
                   with --labels: the share of the labelled strings of earlier interactions
                   that stands anywhere in what is sent, over all checkpoints

    Labels judge pairs of interaction i and checkpoint k with k >= i+2; what is masked or cut
    counts as replaced.  Runs without labels are left out of these columns, and counted.

    With --join, runs of one protocol are played as one conversation in the order of the files,
    runs of one domain together as far as they go.  Dearer and worst are then those of whole
    sessions.  A later run's system message is dropped where it was said before, and else becomes
    part of its first user message; a call that was left open gets "[no result recorded]"; call
    ids stay unique.  Labels and broken steps are judged within the run they belong to; what was
    READY stays so.
    With scorer=folds:FOLDER, runs are joined only if there is a router that has seen none of
    them.  With --breaks, every strategy pays for the first request of each later run as if
    nothing of it were cached.
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
