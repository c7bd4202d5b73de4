"""docs/results.md is written from real runs, and again from the small file kept of them."""

from __future__ import annotations

import json
import runpy
import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.tests.running import needs_sandbox
from statecomp.config import Settings, strategy_factory
from statecomp.errors import BadInput
from statecomp_bench.cli.app import app
from statecomp_bench.tables import published

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT: Mapping[str, Any] = runpy.run_path(str(DOCS / "generate_bench.py"))
PRINTED = ("tab:domain_results", "tab:cross_model")
needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None, reason="needs statecomp[figures]"
)


def run(*arguments: object) -> None:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of one task under few strategies and two acting models."""
    needs_sandbox()
    place = tmp_path_factory.mktemp("docs")
    common = ("run", "--tasks", "office-invoices", "--jobs", "1", "--max-steps", "12")
    few = ("--strategy", "none", "--strategy", "window:keep=5", "--strategy", "lre")
    for model in ("scripted", "scripted:hasty"):
        run(*common, *few, "--strategy", "statecomp", "--model", model, "-o", place / "bench")
    run(*common, "--strategy", "lre:budget=1500", "-o", place / "matched")
    study = place / "handoffs"
    run(
        *("handoff", "prepare", study, "--tasks", "code-tariffs", "--level", "1", "--jobs", "1"),
        *("--point", "0.8", "--strategy", "none", "--strategy", "statecomp"),
    )
    run("handoff", "run", study, "--model", "scripted", "--jobs", "1")
    folders = {"results": "bench", "matched": "matched", "single": "bench", "handoffs": "handoffs"}
    words = [word for name, at in folders.items() for word in (f"--{name}", f"{place}/{at}")]
    SCRIPT["main"]([*words, "--script", str(study), "--docs", f"{place}"])
    return place


@needs_matplotlib
def test_the_page_holds_every_table_and_figure_and_says_what_it_is(docs: Path) -> None:
    page = (docs / "results.md").read_text("utf-8")
    titles = [line for line in page.splitlines() if line.startswith(("## ", "### "))]
    assert titles == [
        "## Single tasks",
        "## What readers made of it",
        "### Hand-offs: the referee",
        "## Details",
        "### Context management on the bench",
        "### Why the tokens changed, acting model scripted",
        "### Two regimes for methods with budgets, acting model scripted",
        "### Across acting models",
        "### The paper's Eval40 beside this bench",
        *(f"### Published: {published()[name].title}" for name in PRINTED),
        "### Figures",
        "## Again",
    ]
    main = next(line for line in page.splitlines() if line.startswith("| Method"))
    assert main.count("|") == 9  # eight columns
    assert page.count("No model was asked here") == 1
    assert "the script's reward is +0.0 points from" in page  # it is its own referee here
    assert "a simulation" in page
    assert "budget=1500" in page
    assert "scripted:hasty" in page
    assert "not comparable" in page
    drawn = sorted(path.name for path in (docs / "figures").iterdir())
    assert drawn == sorted(
        f"bench-{name}.{kind}" for name in SCRIPT["CAPTIONS"] for kind in ("svg", "png")
    )
    assert all(f"(figures/{name})" in page for name in drawn if name.endswith("svg"))


@needs_matplotlib
def test_it_can_be_written_again_from_what_is_kept(docs: Path) -> None:
    before = (docs / "results.md").read_bytes()
    (docs / "results.md").unlink()
    SCRIPT["main"](["--docs", str(docs)])
    assert (docs / "results.md").read_bytes() == before


@needs_matplotlib
def test_a_part_that_is_measured_again_leaves_the_others_as_they_are(docs: Path) -> None:
    before = json.loads((docs / "results" / "bench.json").read_text("utf-8"))
    SCRIPT["main"](["--single", f"{docs}/matched", f"{docs}/bench", "--docs", str(docs)])
    after = json.loads((docs / "results" / "bench.json").read_text("utf-8"))
    assert after["details"] == before["details"]
    assert after["readers"] == before["readers"]
    assert len(after["main"][0]["rows"]) > len(before["main"][0]["rows"])


def test_without_runs_or_anything_kept_it_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="give results folders with --results"):
        SCRIPT["main"](["--docs", str(tmp_path)])


def test_the_commands_on_the_page_name_strategies_that_exist() -> None:
    words = shlex.split(SCRIPT["commands"]().replace("\\\n", " "))
    specs = {word for before, word in pairwise(words) if before == "--strategy"}
    assert specs >= {"none", "statecomp"}
    for spec in sorted(specs):
        strategy_factory(spec, Settings())


@pytest.mark.skipif(not (DOCS / "results" / "bench.json").exists(), reason="no run is kept yet")
def test_the_page_in_the_repository_is_the_one_of_the_kept_runs() -> None:
    assert (DOCS / "results.md").read_text("utf-8") == SCRIPT["page"](DOCS)
