"""Every strategy has a card, and `statecomp strategies` shows them all."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from statecomp.cli.strategies import strategies
from statecomp.config import BUILDERS, Settings, strategy_factory
from statecomp.config.strategies import CARDS
from statecomp.history.trajectory import Trajectory
from statecomp.wire.providers import wire_named

WITH_TOOLS = {"selfcompact": "selfcompact:mode=tool", "pace": "pace:glimpse=on"}


def test_there_is_one_card_for_each_strategy_in_the_same_order() -> None:
    assert list(CARDS) == list(BUILDERS)


@pytest.mark.parametrize("name", BUILDERS)
def test_a_card_names_the_tools_the_strategy_offers(name: str) -> None:
    spec = WITH_TOOLS.get(name, name)
    built = strategy_factory(spec, Settings())(Trajectory("", ()), wire_named("openai-chat"))
    offered = tuple(str(tool["function"]["name"]) for tool in built.extra_tools())
    assert CARDS[name].tools == offered
    assert CARDS[name].title
    assert CARDS[name].trigger
    assert CARDS[name].source


def test_the_verb_lists_every_strategy_as_a_table_and_as_json() -> None:
    table = CliRunner().invoke(strategies, [])
    assert table.exit_code == 0
    assert all(f"{card.name} ({card.title})" in table.output for card in CARDS.values())
    listed = json.loads(CliRunner().invoke(strategies, ["--json"]).output)
    assert [entry["name"] for entry in listed] == list(BUILDERS)
    assert all(
        entry.keys() >= {"trigger", "unit", "calls", "tools", "inferred"} for entry in listed
    )
