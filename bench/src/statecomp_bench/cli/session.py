"""`statecomp-bench session`: a day of several tasks in one conversation, held and recorded."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
from rich.table import Table

from statecomp.cli.files import write_lines, write_text
from statecomp.cli.terminal import show
from statecomp.config import Settings, strategy_factory
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.replays.accounting import dollars_of
from statecomp.wire.providers import wire_named
from statecomp_bench.cli.options import UNPROTECTED
from statecomp_bench.sessions.acting import SessionModel
from statecomp_bench.sessions.day import SEED, day
from statecomp_bench.sessions.record import as_sample
from statecomp_bench.sessions.session import Held, hold
from statecomp_bench.sessions.truth import true_labels
from statecomp_bench.suite import PROTOCOL

NONE = "none"


@click.command("session")
@click.option(
    "--strategy",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="May be given several times; see `statecomp replay --help`.  [default: none]",
)
@click.option(
    "-o", "out", type=click.Path(path_type=Path), help="Record the session without compression."
)
@click.option("--labels", type=click.Path(path_type=Path), help="Write its true labels.")
@UNPROTECTED
def session_command(
    specs: tuple[str, ...], out: Path | None, labels: Path | None, unprotected: bool
) -> None:
    """Hold a day's work in one conversation: a person comes back with the next request.

    Five tasks of different kinds, the last of which asks for values of the four before it; about
    125 requests.  Two recordings are equal byte for byte.  The true labels say from when on no
    later step takes anything of an interaction; the acting model's own plan knows.

    \b
    Examples:
      statecomp-bench session --strategy none --strategy statecomp
      statecomp-bench session -o samples/session.jsonl --labels samples/labels/session.jsonl
    """
    chosen = tuple(dict.fromkeys(specs or (NONE,)))
    if (out or labels) and NONE not in chosen:
        raise BadInput("the session is recorded without compression: add --strategy none")
    table = Table("strategy", "requests", "tokens", "dollars", "rewards")
    for spec in chosen:
        held = _held(spec, unprotected)
        table.add_row(spec, *_row(held))
        if spec == NONE:
            _record(held, out, labels)
    show(table, "The acting model is scripted: a simulation, not a language model.")


def _held(spec: str, unprotected: bool) -> Held:
    factory, session = strategy_factory(spec, Settings(environ=os.environ)), day()
    strategy = factory(Trajectory(session.name, (), group=session.name), wire_named(PROTOCOL))
    return hold(session, SessionModel(session, SEED), strategy, unprotected=unprotected)


def _row(held: Held) -> tuple[str, ...]:
    bills = [request.bill for request in held.run.requests]
    rewards = (f"{name} {100 * reward:.0f}" for name, reward in held.rewards.items())
    return (
        str(len(bills)),
        f"{sum(bill.input + bill.output for bill in bills):,}",
        f"{dollars_of(bills, shipped_prices().of()):.2f}",
        ", ".join(rewards),
    )


def _record(held: Held, out: Path | None, labels: Path | None) -> None:
    session = day()
    sample = as_sample(session, held)
    if out:
        write_text(out, json.dumps(sample, ensure_ascii=False) + "\n")
    if labels:
        found = true_labels(str(sample["id"]), session, held.run.messages)
        write_lines(labels, (label.as_json() for label in found))
