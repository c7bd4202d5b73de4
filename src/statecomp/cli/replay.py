"""`statecomp replay`: what a strategy would have sent, saved and broken on recorded runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import click

from statecomp.cli.engine import ChosenRuns, engine_options, progress
from statecomp.cli.files import refuse, write_lines, write_text
from statecomp.cli.price_book import read_price_book
from statecomp.cli.replay_tables import domain_table, mechanics_table, saved_table
from statecomp.cli.terminal import show, warn
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import Prices
from statecomp.engines.engine import Engine
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replay.report import report_html
from statecomp.replay.run import RunReplay, replay_run, used_identifiers
from statecomp.replay.safety import common_identifiers
from statecomp.replay.table import hindsight_share, rows, rows_by_domain, steps_table
from statecomp.tokens import TokenCounter, counter_for


@dataclass(frozen=True)
class Job:
    """One run through all strategies; everything in it can cross to another process."""

    specs: tuple[str, ...]
    common: frozenset[str]
    model: str
    tokenizer: str
    prices: Prices
    keep_messages: bool

    def __call__(self, run: Trajectory) -> RunReplay:
        count = counter_for(self.model, tokenizer=self.tokenizer)
        settings = Settings(count, os.environ, self.prices)
        factories = {spec: strategy_factory(spec, settings) for spec in self.specs}
        return replay_run(
            run, factories, self.common, count=count, keep_messages=self.keep_messages
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
      statecomp:scorer=age:after=3           StateComp's gates, age as the score
      statecomp:scorer=labels:PATH           StateComp's gates, true labels as scores
    StateComp also takes unsafe_tokens= (what a wrong replacement costs: less saves more),
    gates=paper, threshold=, longer_than=, min_source_tokens=, and economics=on (a rewrite must
    pay, at the prices that dollars are counted in); it and periodic take
    summarizer=chat:openai:MODEL[@URL], or of the default, which asks no model, budget= (a share
    of the source for sentences), dense= (tokens of each output that get twice that) and
    name_worth= (what a missing identifier costs, in tokens).

    \b
    A step is broken when the recorded action uses an identifier the agent had learned from an
    observation and that stands nowhere in what would have been sent.

    \b
    Examples:
      statecomp replay samples/*.jsonl --strategy window:keep=10 --strategy mask:keep=10
      statecomp replay runs.jsonl.gz --strategy statecomp --jobs 2 --report report.html
    """
    count = counter_for(model, tokenizer=tokenizer)
    billed = _prices(prices, model)
    chosen = tuple(dict.fromkeys(specs or ("statecomp",)))
    for spec in chosen:
        strategy_factory(spec, Settings(count, os.environ, billed))
    job = Job(chosen, frozenset(), model, tokenizer, billed, keep_messages=views is not None)
    results = _replay_all(ChosenRuns(runs, limit, domain), job, engine, skip_bad)
    if views:
        _write_views(views, results)
    if json_file:
        _write_json(json_file, results, billed, count)
    if report:
        write_text(report, report_html(results, billed, title=_title(runs), counter=count.name))
    _print(results, billed, count)


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


def _replay_all(recorded: ChosenRuns, job: Job, engine: Engine, skip_bad: bool) -> list[RunReplay]:
    """Reads the files twice rather than hold every run: what is common is known at the end."""
    outcomes = _used_by_each(recorded, engine, skip_bad)
    used = [outcome for outcome in outcomes if not isinstance(outcome, BadInput)]
    if not used:
        raise BadInput("not one run could be read as a history")
    job = replace(job, common=common_identifiers(used))
    again = (run for run in recorded if isinstance(run, Trajectory))
    sound = compress(again, [not isinstance(outcome, BadInput) for outcome in outcomes])
    with progress("replaying", len(used)) as watch:
        results = list(engine.map(job, sound, watch=watch))
    if len(results) != len(used):
        raise BadInput("the runs changed while they were read; start again")
    return results


def _used_by_each(
    recorded: ChosenRuns, engine: Engine, skip_bad: bool
) -> list[tuple[str, frozenset[str]] | BadInput]:
    """For each run that can be read what its agent used, or why it is no history."""

    def readable() -> Iterator[Trajectory]:
        for run in recorded:
            if isinstance(run, BadInput):
                refuse(run, skip_bad)
            else:
                yield run

    with progress("reading") as watch:
        outcomes = [*engine.map(_used, readable(), watch=watch)]
        if not outcomes:
            raise recorded.nothing()
        # After all were read, so that the first complaint is the same on every engine.
        for outcome in outcomes:
            if isinstance(outcome, BadInput):
                refuse(outcome, skip_bad)
    return outcomes


def _used(run: Trajectory) -> tuple[str, frozenset[str]] | BadInput:
    """Also the place where a run that is no history is found out, before any work is done."""
    try:
        return used_identifiers(run)
    except BadInput as problem:
        return problem.at(file=run.source)


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


def _write_json(
    path: Path, results: Sequence[RunReplay], prices: Prices, count: TokenCounter
) -> None:
    document = {
        "tokens": {"counter": count.name, "exact": count.exact},
        "prices": {"model": prices.model, "as_of": prices.as_of.isoformat()},
        "hindsight_share": hindsight_share(results),
        "strategies": [row.as_json() for row in rows(results, prices)],
        "domains": {
            domain: [row.as_json() for row in table]
            for domain, table in rows_by_domain(results, prices).items()
        },
        "runs": [
            {
                "id": result.id,
                "domain": result.domain,
                "interactions": result.interactions,
                "raw_tokens": list(result.raw_tokens),
                "strategies": {
                    replayed.strategy: steps_table(replayed.steps) for replayed in result.replays
                },
            }
            for result in results
        ],
    }
    write_text(path, json.dumps(document, indent=1) + "\n")


def _print(results: Sequence[RunReplay], prices: Prices, count: TokenCounter) -> None:
    lines = rows(results, prices)
    show(saved_table(lines), mechanics_table(lines))
    domains = rows_by_domain(results, prices)
    if len(domains) > 1:
        show(domain_table(domains))
    exact = "exact" if count.exact else "estimated"
    show(
        f"Hindsight could drop {hindsight_share(results):.1%} and break nothing.  "
        f"Tokens are {exact} ({count.name}); dollars are {prices.model} list prices of "
        f"{prices.as_of} with prompt caching."
    )
