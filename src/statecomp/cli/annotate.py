"""`statecomp annotate`: recorded runs to KEEP/READY labels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from statecomp.annotation.asking import CONCURRENCY, WINDOW_TOKENS, Expected, Spending
from statecomp.annotation.chat import ChatAnnotator, expected
from statecomp.annotation.journal import Journal
from statecomp.annotation.pipeline import Annotated
from statecomp.annotation.records import Reading
from statecomp.cli.engine import engine_options
from statecomp.cli.files import read_chosen, refuse, write_lines
from statecomp.cli.options import CHOSEN, OUT_FILE, PATH, RUNS, together
from statecomp.cli.terminal import number_of, progress, show, warn, watched
from statecomp.controller.prices import Prices, shipped_prices
from statecomp.errors import BadInput, StateCompError
from statecomp.history.trajectory import Trajectory
from statecomp.pipelines.annotating import by_chat, by_dataflow
from statecomp.pipelines.runs import ChosenRuns
from statecomp.wire.chats import open_chat
from statecomp.workers.engine import Engine

CHAT = together(
    click.option(
        "--chat",
        "chat_spec",
        default="",
        metavar="SPEC",
        help="The model to ask: openai:MODEL[@URL] or anthropic:MODEL[@URL].",
    ),
    click.option(
        "--journal",
        type=PATH,
        help="Where answers are put before they are used. [default: OUT with .journal added]",
    ),
    click.option("--dry-run", is_flag=True, help="Print calls, tokens and dollars; ask nothing."),
    click.option(
        "--concurrency",
        type=click.IntRange(1),
        default=CONCURRENCY,
        show_default=True,
        help="Questions that are under way at once.",
    ),
    click.option(
        "--window",
        type=click.IntRange(2000),
        default=WINDOW_TOKENS,
        show_default=True,
        help="Tokens the model can read at once.",
    ),
)
"""Asking a model about recorded runs, each question once."""


@click.command("annotate")
@RUNS
@click.option("-o", "--out", type=OUT_FILE, help="Where the labels go.")
@click.option(
    "--annotator",
    type=click.Choice(["dataflow", "chat"]),
    default="dataflow",
    show_default=True,
    help="Who judges: rules over identifiers (no model), or a chat model.",
)
@click.option("--records", type=OUT_FILE, help="Also write stage-1 records.")
@CHAT
@CHOSEN
@engine_options
def annotate_runs(
    runs: tuple[Path, ...],
    out: Path | None,
    annotator: str,
    chat_spec: str,
    journal: Path | None,
    records: Path | None,
    dry_run: bool,
    concurrency: int,
    window: int,
    limit: int | None,
    domain: str | None,
    skip_bad: bool,
    engine: Engine,
) -> None:
    """Label every interaction of RUNS: from which checkpoint on may it be replaced?

    Two stages.  First every checkpoint on its own: a record for each past interaction, where READY
    needs a verbatim quote inside the prefix and no later step that still draws on it.  Then every
    interaction over all its records: the earliest boundary that holds up, or none.  The rules are
    enforced by code, whoever annotates.

    \b
    Examples:
      statecomp annotate runs.jsonl -o labels.jsonl
      statecomp annotate runs.jsonl -o labels.jsonl --annotator chat --chat openai:gpt-5 --dry-run

    A killed chat annotation goes on where it stopped: start the same command again.  Every answer
    is in the journal before it is used, and nothing is asked twice.  --jobs and --engine are for
    dataflow; chat has --concurrency.

    \b
    Exit code 0: all labelled.  1: some runs could not be.  2: bad input.
    """
    if out is None and not dry_run:
        raise click.UsageError("say where the labels go: -o labels.jsonl")
    if annotator == "dataflow" and not dry_run:
        assert out is not None
        chosen = ChosenRuns(runs, limit, domain)
        done = _label_by_dataflow(chosen, engine, skip_bad, judgments=records is not None)
        _write(done, out, records)
        return
    readings = list(readings_of(read_chosen(runs, limit, domain, skip_bad), skip_bad))
    if dry_run:
        _print_expected(readings, annotator, chat_spec, window)
        return
    assert out is not None
    notes = journal or out.with_name(out.name + ".journal")
    done = _label_by_chat(readings, chat_spec, notes, concurrency, window)
    _write(done, out, records)
    if len(done) < len(readings):
        raise click.exceptions.Exit(1)


def _write(done: Sequence[Annotated], out: Path, records: Path | None) -> None:
    write_lines(out, (label.as_json() for run in done for label in run.labels))
    if records:
        write_lines(records, ({"id": r.id, **j.as_json()} for r in done for j in r.judgments))
    _print_summary(done, out)


def readings_of(found: Sequence[Trajectory], skip_bad: bool) -> Iterator[Reading]:
    """Each run once: what is said of one id twice could be read by nobody."""
    known: set[str] = set()
    for run in found:
        try:
            if run.id in known:
                raise BadInput(f"the run {run.id!r} occurs twice", file=run.source, field="id")
            known.add(run.id)
            yield Reading.of(run)
        except BadInput as problem:
            refuse(problem, skip_bad)


def _label_by_dataflow(
    chosen: ChosenRuns, engine: Engine, skip_bad: bool, judgments: bool
) -> list[Annotated]:
    on_bad = partial(refuse, skip_bad=skip_bad)
    with progress("labelling") as watch:
        return by_dataflow(chosen, engine, judgments=judgments, on_bad=on_bad, watch=watch)


def _label_by_chat(
    readings: Sequence[Reading], spec: str, notes: Path, concurrency: int, window: int
) -> list[Annotated]:
    chat = open_chat(spec, environ=os.environ)
    prices = prices_of(chat.model)
    with Journal(notes) as journal:
        annotator = ChatAnnotator(chat, journal, concurrency, window)
        cost = cost_so_far(annotator.spending, prices)
        shown = watched(readings, "labelling", len(readings), cost)
        return list(by_chat(shown, annotator, _say_unlabelled))


def _say_unlabelled(reading: Reading, error: StateCompError) -> None:
    warn(f"{reading.id} is not labelled: {error}")


def cost_so_far(spent: Spending, prices: Prices) -> Callable[[], str]:
    """What stands beside a progress bar."""
    return lambda: f" (${spent.dollars(prices):.2f}, {spent.calls} calls)"


def prices_of(model: str) -> Prices:
    book = shipped_prices()
    return book.models.get(model) or book.of()


def _print_expected(
    readings: Sequence[Reading], annotator: str, chat_spec: str, window: int
) -> None:
    if annotator == "dataflow":
        show(f"{number_of(len(readings), 'run')}; dataflow asks no model: 0 calls, 0 tokens, $0.00")
        return
    show_expected(len(readings), expected(readings, window), chat_spec)


def show_expected(runs: int, cost: Expected, chat_spec: str) -> None:
    model = chat_spec.partition(":")[2].partition("@")[0]
    show(f"{number_of(runs, 'run')}, {in_words(cost, model)}.")


def in_words(cost: Expected, model: str) -> str:
    prices = prices_of(model)
    return (
        f"at most {number_of(cost.calls, 'call')}: about {cost.input_tokens:,} tokens in, "
        f"{cost.output_tokens:,} out, "
        f"${cost.dollars(prices):,.2f} at {prices.model} list prices of {prices.as_of}"
    )


def _print_summary(done: Sequence[Annotated], out: Path) -> None:
    labels = [label for run in done for label in run.labels]
    bounded = sum(label.boundary is not None for label in labels)
    show(
        f"{number_of(len(done), 'run')}, {number_of(len(labels), 'interaction')}, "
        f"{bounded:,} with a boundary; "
        f"labels in {out}"
    )
    broken: Counter[str] = Counter()
    for run in done:
        broken.update(run.problems)
    for problem, times in broken.most_common():
        show(f"  turned to KEEP {number_of(times, 'time')}: {problem}")
    contradicted = sum(run.contradictions for run in done)
    if contradicted:
        show(f"  {number_of(contradicted, 'interaction')} had judgments that contradict each other")
