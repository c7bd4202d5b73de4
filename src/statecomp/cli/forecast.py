"""`statecomp forecast`: how surely each step may go, said by a chat that sees the past alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from statecomp.annotation.asking import Asker
from statecomp.annotation.foresee import Foreseen, checkpoints_of, expected, foresee
from statecomp.annotation.journal import Journal
from statecomp.annotation.records import Reading
from statecomp.cli.annotate import CHAT, cost_so_far, prices_of, readings_of, show_expected
from statecomp.cli.files import read_chosen, write_lines
from statecomp.cli.options import CHOSEN, OUT_FILE, RUNS
from statecomp.cli.terminal import number_of, show, warn, watched
from statecomp.errors import BadInput, StateCompError
from statecomp.wire.chats import open_chat

CHECKPOINTS = 8


@click.command()
@RUNS
@click.option("-o", "--out", type=OUT_FILE, help="Where the forecasts go.")
@click.option(
    "--checkpoints",
    type=click.IntRange(1),
    default=CHECKPOINTS,
    show_default=True,
    help="Moments of each run that are asked about, spread evenly.",
)
@CHAT
@CHOSEN
def forecast(
    runs: tuple[Path, ...],
    out: Path | None,
    chat_spec: str,
    journal: Path | None,
    dry_run: bool,
    checkpoints: int,
    concurrency: int,
    window: int,
    limit: int | None,
    domain: str | None,
    skip_bad: bool,
) -> None:
    """Ask a chat how surely each past step of RUNS may be replaced, knowing the past alone.

    A label says what became of one continuation; a forecast says what could be known before it,
    which is what a router learns best from.  At each checkpoint k the chat reads the task and steps
    1 to k-1, and gives a probability for steps 1 to k-2.  An answer that is none, or that names a
    number outside 0 to 1, is left out and said.

    \b
    Examples:
      statecomp forecast runs.jsonl --chat openai:gpt-5 --dry-run
      statecomp forecast runs.jsonl -o forecasts.jsonl --chat openai:gpt-5
      statecomp train runs.jsonl --labels labels.jsonl --forecasts forecasts.jsonl -o router/

    A killed command goes on where it stopped: start it again.  Every answer is in the journal
    before it is used, and nothing is asked twice.

    \b
    Exit code 0: all asked.  1: some runs could not be.  2: bad input.
    """
    readings = _long_enough([*readings_of(read_chosen(runs, limit, domain, skip_bad), skip_bad)])
    if dry_run:
        show_expected(len(readings), expected(readings, checkpoints, window), chat_spec)
        return
    if out is None:
        raise click.UsageError("say where the forecasts go: -o forecasts.jsonl")
    notes = journal or out.with_name(out.name + ".journal")
    chat = open_chat(chat_spec, environ=os.environ)
    with Journal(notes) as kept:
        asker = Asker(chat, kept, concurrency)
        done, failed = ask_all(readings, asker, checkpoints, window)
    write_lines(out, (one.as_json() for one in done if not one.problem))
    say_summary(done, out)
    if failed:
        raise click.exceptions.Exit(1)


def _long_enough(readings: Sequence[Reading]) -> list[Reading]:
    found = [reading for reading in readings if checkpoints_of(reading, 1)]
    if not found:
        raise BadInput("no run has three interactions, and nothing can be forecast of shorter ones")
    return found


def ask_all(
    readings: Sequence[Reading], asker: Asker, checkpoints: int, window: int
) -> tuple[list[Foreseen], int]:
    """What was said, and how many runs could not be asked about."""
    cost = cost_so_far(asker.spending, prices_of(asker.chat.model))
    done: list[Foreseen] = []
    failed = 0
    for reading in watched(readings, "forecasting", len(readings), cost):
        try:
            done += foresee(reading, checkpoints_of(reading, checkpoints), asker, window)
        except BadInput:
            raise  # the journal cannot be written: going on would pay for lost answers
        except StateCompError as error:
            warn(f"{reading.id} could not be forecast: {error}")
            failed += 1
    return done, failed


def say_summary(done: Sequence[Foreseen], out: Path) -> None:
    good = [one for one in done if not one.problem]
    pairs = sum(len(one.ready) for one in good)
    runs = len({one.run for one in good})
    show(
        f"{number_of(runs, 'run')}, {number_of(len(good), 'checkpoint')}, {pairs:,} probabilities; "
        f"forecasts in {out}"
    )
    if problem := left_out(done):
        show(f"  {problem}")


def left_out(done: Sequence[Foreseen]) -> str:
    """One sentence, however many answers were none; empty where all could be read."""
    bad = [one for one in done if one.problem]
    if not bad:
        return ""
    first = bad[0]
    return (
        f"{len(bad):,} of {len(done):,} checkpoints are left out; the first, {first.run} at step "
        f"{first.checkpoint}: {first.problem}"
    )
