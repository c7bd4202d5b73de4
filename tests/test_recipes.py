"""The recipes are the only defaults, and every door opens them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from statecomp import StateComp
from statecomp.cli.app import app
from statecomp.config import Settings, strategy_factory
from statecomp.config.methods import method_of
from statecomp.controller.economics import Economics
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.method import Method
from statecomp.options import Options
from statecomp.recipes import DEFAULT, RECIPES, recipe_named
from statecomp.testing.chat import ScriptedChat
from statecomp.traces.jsonl import read_runs

SESSION = Path(__file__).parents[1] / "samples" / "session.jsonl"


CHATS = {"m": ScriptedChat(())}


def method(text: str, *, serves: bool = False) -> Method:
    options = Options("statecomp", text)
    made, _ = method_of(options, Settings(chats=CHATS), serves=serves)
    options.done()
    return made


def test_the_paper_is_exactly_the_paper() -> None:
    paper = RECIPES["paper"]
    assert paper.rule() == Gates(threshold=0.60, longer_than=3, min_source_tokens=1000)
    assert not paper.holds


def test_the_others_differ_in_how_wary_they_are() -> None:
    wariness = [RECIPES[name].wariness for name in ("careful", "balanced", "bold")]
    assert wariness == sorted(wariness, reverse=True)
    assert all(isinstance(RECIPES[n].rule(), Economics) for n in ("careful", "balanced", "bold"))


@pytest.mark.parametrize("records", ["records=chat:m", "records=same"])
def test_where_a_model_writes_the_default_is_half_as_wary_unless_told_how_wary(
    records: str,
) -> None:
    default = RECIPES[DEFAULT]

    def wariness(text: str) -> Any:
        rule = method(text, serves=True).rule
        assert isinstance(rule, Economics)
        return rule.wariness

    assert wariness(records) == default.wariness / 2
    assert wariness(f"{records},wariness=1.1") == 1.1
    assert wariness(f"recipe=bold,{records}") == RECIPES["bold"].wariness
    assert wariness("") == default.wariness


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_says_what_was_measured_for_it(name: str) -> None:
    recipe = RECIPES[name]
    assert recipe.runs is not None
    assert recipe.sessions is not None
    assert recipe.sessions.tokens < 0


def test_every_door_opens_the_default_recipe() -> None:
    default = recipe_named(DEFAULT)
    assert method("").rule == Method().rule == default.rule()
    assert method("").summarizer(None) == Method().summarizer(None) == default.extract  # type: ignore[arg-type]  # no account is needed
    assert (method("").holds, method("").recipe) == (default.holds, DEFAULT)


def test_without_arguments_the_engine_is_the_product_and_saves_on_a_long_session() -> None:
    (run,) = read_runs(SESSION)
    assert isinstance(run, Trajectory)
    checkpoint = StateComp(protocol=run.protocol).checkpoint(list(run.messages[:-1]))
    assert checkpoint.saved_tokens > 0.2 * checkpoint.raw_tokens
    assert checkpoint.note == ""


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("pin_tools=read+grep", "pins.tools", frozenset({"read", "grep"})),
        ("pin=TODO", "pins.pattern", "TODO"),
        ("role=assistant", "placement.role", "assistant"),
        ("merge=on", "placement.merge", True),
        ("holds=off", "holds", False),
        ("window=200000", "window", 200_000),
        ("recipe=paper,scorer=router", "holds", False),
        ("wariness=7", "rule.wariness", 7.0),
        ("ahead=2.5", "rule.ahead", 2.5),
        ("prices=gpt-5", "rule.book.default", "gpt-5"),
        ("threshold=0.9", "rule.threshold", 0.9),
        ("recipe=paper,longer_than=1,scorer=router", "rule.longer_than", 1),
        ("budget=0.05", "rule.ratio", None),
        ("records=extract", "recipe", DEFAULT),
        ("scorer=age:after=3", "scored_by", "age:after=3"),
        ("dense=10", "recipe", DEFAULT),
        ("name_worth=10", "recipe", DEFAULT),
        ("min_source_tokens=7", "rule.min_source_tokens", 7),
    ],
)
def test_every_setting_can_be_reached_by_its_word(text: str, name: str, value: Any) -> None:
    found: Any = method(text)
    for part in name.split("."):
        found = getattr(found, part)
    assert value is None or found == value


def test_a_word_nobody_knows_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="unknown options: unsafe_tokens"):
        method("unsafe_tokens=1000")


def test_a_recipe_nobody_knows_is_one_sentence() -> None:
    with pytest.raises(BadInput, match="known are paper, careful, balanced, bold"):
        StateComp(recipe="reckless")
    with pytest.raises(BadInput, match="known are paper"):
        strategy_factory("statecomp:recipe=reckless", Settings())


def test_the_command_shows_them_for_people_and_for_programs() -> None:
    shown = CliRunner().invoke(app, ["recipes"]).output
    assert all(name in shown for name in RECIPES)
    told = json.loads(CliRunner().invoke(app, ["recipes", "--json"]).output)
    assert [recipe["name"] for recipe in told if recipe["default"]] == [DEFAULT]
