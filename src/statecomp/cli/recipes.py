"""`statecomp recipes`: what can be asked for by one word, and what it was measured to do."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from statecomp.cli.terminal import show, table_of
from statecomp.recipes import DEFAULT, RECIPES, Measured, Recipe


@click.command()
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def recipes(as_json: bool) -> None:
    """List the recipes: how boldly each replaces, and what that did on recorded runs.

    Tokens and dollars are changes against no compression, with prompt caching at the prices of a
    Claude Sonnet class model.  Every run was scored by a router that had seen neither it nor its
    task.

    \b
      premature   of what a reader of the whole run would still have kept, the share that
                  had been replaced
      broken      steps that missed an identifier
      read again  in how many hand-offs a language model that finished the task from such a
                  view read 100 tokens or more of what had been seen before (for bold and
                  paper, with records of a day earlier)

    \b
    Examples:
      statecomp serve --recipe careful
      statecomp replay runs.jsonl --strategy statecomp:recipe=bold
      StateComp(recipe="paper")
    """
    if as_json:
        click.echo(json.dumps([_plain(recipe) for recipe in RECIPES.values()], indent=1))
        return
    numbers = ("tokens", "dollars", "premature", "broken", "read again")
    table = table_of("", ("recipe", "what it is", "", *numbers), left=3)
    for recipe in RECIPES.values():
        name = f"{recipe.name} (default)" if recipe.name == DEFAULT else recipe.name
        table.add_row(
            name, recipe.about, "runs of 23 requests", *_shares(recipe.runs), _again(recipe)
        )
        table.add_row("", "", "sessions of 82", *_shares(recipe.sessions))
    show(table)


def _plain(recipe: Recipe) -> dict[str, object]:
    return {"default": recipe.name == DEFAULT, **asdict(recipe, dict_factory=_printable)}


def _printable(pairs: list[tuple[str, object]]) -> dict[str, object]:
    return {key: value for key, value in pairs if not callable(value)}


def _again(recipe: Recipe) -> str:
    return "{} of {}".format(*recipe.again) if recipe.again else "-"


def _shares(measured: Measured | None) -> tuple[str, ...]:
    if measured is None:
        return ("-",) * 4
    return (
        f"{measured.tokens:+.1%}",
        f"{measured.dollars:+.1%}",
        f"{measured.premature:.1%}",
        f"{measured.broken:.2%}",
    )
