"""The bench's verbs are loaded when they are asked for, as the product's are."""

from __future__ import annotations

import pytest

from statecomp_bench.cli.verbs import VERBS
from tests.cli.loading import help_of, says_its_first_sentence


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_listed_with_the_first_sentence_of_its_help(name: str) -> None:
    says_its_first_sentence(name, VERBS[name])


def test_help_lists_every_verb_and_loads_none() -> None:
    shown, loaded = help_of("statecomp_bench")
    assert all(f"\n  {name} " in shown for name in VERBS)
    assert {m for m in loaded if m.startswith("statecomp_bench.")} == {
        "statecomp_bench.cli",
        "statecomp_bench.cli.app",
        "statecomp_bench.cli.verbs",
    }
    assert "statecomp.compressor" not in loaded
