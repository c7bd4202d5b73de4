"""The house rules of the product, checked, and what importing it loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import statecomp
from tests.house import House, each_rule

PACKAGE = Path(statecomp.__file__).parent
# A room imports only from its own line and the lines below it.
LAYERS = [
    ["cli"],
    ["pipelines"],
    ["adapters"],
    ["config"],
    ["proxy", "dashboard", "replays", "exam", "learning", "testing"],
    ["method"],
    ["compressor"],
    ["checkpoint", "decisions"],
    ["recipes", "writers", "explain", "options", "baselines"],
    ["controller", "annotation", "router", "traces", "workers", "vectors"],
    ["features", "ledger", "strategy"],
    ["records"],
    ["llm", "wire"],
    ["history", "tokens"],
    ["errors", "recent"],
]
# One file a method, a verb, a learner, a framework: rooms that grow with what the product can do.
CATALOGUES = {"baselines": 27, "cli": 32, "router": 20, "adapters": 24}
HOUSE = House(PACKAGE, LAYERS, CATALOGUES)


@each_rule
def test_the_house_keeps_its_rules(rule: Callable[[House], None]) -> None:
    rule(HOUSE)


def test_nothing_names_the_bench_which_stands_on_it() -> None:
    for path, tree in HOUSE.sources():
        assert "statecomp_bench" not in ast.unparse(tree), path


def test_importing_the_package_is_light() -> None:
    code = "import sys, statecomp; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "torch",
        "numpy",
        "aiohttp",
        "httpx",
        "ray",
        "starlette",
        "click",
        "rich",
        "tiktoken",
        "tokenizers",
    }
    assert heavy.isdisjoint(loaded)


def test_every_public_name_is_there() -> None:
    """Which they are says docs/reference/api.md; tests/test_site.py holds the two together."""
    assert all(hasattr(statecomp, name) for name in statecomp.__all__)
    assert sorted(statecomp._HOME_OF) == sorted({*statecomp.__all__} - {"__version__"})


def test_what_is_loaded_late_is_what_type_checkers_were_told() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    told = {
        name.name: (node.module or "").removeprefix("statecomp.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("statecomp.")
        for name in node.names
    }
    assert told == statecomp._HOME_OF


def test_every_room_has_tests_of_its_own() -> None:
    """Bundles are weights: what is in them is tested where routers are."""
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    tested = {path.parent.name for path in Path(__file__).parent.glob("*/test_*.py")}
    assert rooms - tested == set()


def test_a_class_name_has_one_meaning() -> None:
    """Frameworks say what a model, a middleware and a plugin is; an adapter is one of these."""
    found = Counter(
        node.name
        for path, tree in HOUSE.sources()
        if HOUSE.room(path) != "adapters"
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in found.items() if times > 1] == []
