"""The house rules of the bench; it stands on the product, which knows nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import statecomp_bench
from tests.house import House, each_rule, rooms_imported
from tests.test_errors import listed_in, raised_in

HOUSE = House(
    Path(statecomp_bench.__file__).parent,
    layers=[
        ["cli"],
        ["figures", "matched", "sessions", "handoffs", "nextsteps"],
        ["tables", "suite", "acting"],
        ["tasks", "agent", "results", "scripted"],
        ["task", "steps", "readers"],
        [
            "plan",
            "habits",
            "models",
            "environment",
            "study",
            "workbuddy",
            "desk",
        ],
        ["sandbox", "inside", "outside"],
    ],
)
# Doors that a user of the product goes through; a bench measures what stands behind them.
DOORS = {"dashboard", "adapters"}


@each_rule
def test_the_house_keeps_its_rules(rule: Callable[[House], None]) -> None:
    rule(HOUSE)


def test_only_verbs_borrow_from_the_verbs_of_the_product() -> None:
    for path, tree in HOUSE.sources():
        borrowed = set(rooms_imported(tree, "statecomp"))
        assert not borrowed & DOORS, path
        assert HOUSE.room(path) == "cli" or not borrowed & {"cli", "config"}, path


def test_what_runs_inside_the_sandbox_imports_nothing_of_ours() -> None:
    for path, tree in HOUSE.sources():
        if HOUSE.room(path) == "inside":
            assert not [*rooms_imported(tree, "statecomp")], path
            assert not [*rooms_imported(tree, "statecomp_bench")], path


def test_the_tree_lists_every_error_of_the_bench() -> None:
    assert listed_in(statecomp_bench.__doc__) == raised_in(HOUSE.package)
