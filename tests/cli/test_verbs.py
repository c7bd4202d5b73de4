"""Verbs are loaded when they are asked for, and their table says what they say themselves."""

from __future__ import annotations

import click
import pytest

from statecomp.cli.app import app
from statecomp.cli.verbs import VERBS
from tests.cli.loading import (
    examples,
    help_of,
    parses,
    says_its_first_sentence,
    unexplained,
    verbs_below,
)

PROGRAMS = {"statecomp": app}
BELOW = dict(verbs_below(app, "statecomp"))


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_listed_with_the_first_sentence_of_its_help(name: str) -> None:
    says_its_first_sentence(name, VERBS[name])


def test_help_lists_every_verb_and_loads_none() -> None:
    shown, loaded = help_of("statecomp")
    assert all(f"\n  {name} " in shown for name in VERBS)
    assert {f"statecomp.cli.{name}" for name in VERBS}.isdisjoint(loaded)
    assert "statecomp.compressor" not in loaded


@pytest.mark.parametrize("command", BELOW.values(), ids=BELOW)
def test_every_option_says_what_it_is_for(command: click.Command) -> None:
    assert unexplained(command) == []


@pytest.mark.parametrize("command", BELOW.values(), ids=BELOW)
def test_every_verb_has_an_example_and_all_of_them_parse(command: click.Command) -> None:
    assert isinstance(command, click.Group) or "Example" in (command.help or "")
    for program, whole in PROGRAMS.items():
        for words in examples(command, program):
            parses(whole, words)
