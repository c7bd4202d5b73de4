"""`statecomp strategies`: every way to shorten a history, and what is known of it."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table

from statecomp.cli.terminal import show
from statecomp.config.strategies import CARDS
from statecomp.strategy import Card


@click.command()
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def strategies(as_json: bool) -> None:
    """List the strategies: when each acts, on what, its model calls, its tools, and its source.

    Options follow a name, as in `statecomp replay`.  `inferred` are choices that no published
    source states.

    \b
    Example:
      statecomp strategies
      statecomp replay runs.jsonl --strategy acon:t_hist=16384 --strategy lre:budget=0.5
    """
    if as_json:
        click.echo(json.dumps([asdict(card) for card in CARDS.values()], indent=1))
        return
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_lines=True)
    for name in ("name", "trigger", "unit", "model calls", "tools", "source", "inferred"):
        table.add_column(name, overflow="fold")
    for card in CARDS.values():
        table.add_row(*_row(card))
    show(table)


def _row(card: Card) -> tuple[str, ...]:
    tools = ", ".join(card.tools) or "-"
    name = f"{card.name} ({card.title})"
    return name, card.trigger, card.unit, card.calls, tools, card.source, card.inferred or "-"
