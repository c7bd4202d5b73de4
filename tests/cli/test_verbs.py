"""Verbs are loaded when they are asked for, and their table says what they say themselves."""

from __future__ import annotations

import pytest

from statecomp.cli.verbs import VERBS
from tests.cli.loading import help_of, says_its_first_sentence


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_listed_with_the_first_sentence_of_its_help(name: str) -> None:
    says_its_first_sentence(name, VERBS[name])


def test_help_lists_every_verb_and_loads_none() -> None:
    shown, loaded = help_of("statecomp")
    assert all(f"\n  {name} " in shown for name in VERBS)
    assert {f"statecomp.cli.{name}" for name in VERBS}.isdisjoint(loaded)
    assert "statecomp.compressor" not in loaded
