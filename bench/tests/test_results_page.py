"""docs/results.md is written from real runs, and again from the small file kept of them."""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench.tests.running import needs_sandbox
from statecomp.errors import BadInput
from statecomp_bench.cli.app import app

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT: Mapping[str, Any] = runpy.run_path(str(DOCS / "generate_bench.py"))
needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None, reason="needs statecomp[figures]"
)


def run(*arguments: object) -> None:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of one task under few strategies, one hand-off, and no session."""
    needs_sandbox()
    place = tmp_path_factory.mktemp("docs")
    common = ("run", "--tasks", "office-invoices", "--jobs", "1", "--max-steps", "12")
    few = ("--strategy", "none", "--strategy", "window:keep=5", "--strategy", "statecomp")
    run(*common, *few, "-o", place / "bench")
    run(*common, "--strategy", "lre", "-o", place / "more")
    study = place / "handoffs"
    run(
        *("handoff", "prepare", study, "--tasks", "code-tariffs", "--level", "1", "--jobs", "1"),
        *("--point", "0.8", "--strategy", "none", "--strategy", "statecomp:recipe=balanced"),
    )
    run("handoff", "run", study, "--model", "scripted:reader", "--jobs", "1")
    folders = {"single": "bench", "handoffs": "handoffs", "script": "handoffs"}
    words = [word for name, at in folders.items() for word in (f"--{name}", f"{place}/{at}")]
    SCRIPT["main"]([*words, "--docs", f"{place}"])
    return place


@needs_matplotlib
def test_the_page_has_one_main_table_then_what_to_conclude_then_details(docs: Path) -> None:
    page = (docs / "results.md").read_text("utf-8")
    titles = [line for line in page.splitlines() if line.startswith(("## ", "### "))]
    assert titles == [
        "## Tasks, sessions and readers",
        "## What to conclude",
        "## Details",
        "### Single tasks",
        "### Why the tokens changed, acting model scripted",
        "### The paper's Eval40 beside this bench",
        "### Hand-offs: the referee",
        "### Figures",
        "## Again",
    ]
    main = [line for line in page.splitlines() if line.startswith("|")][:5]
    assert {line.count("|") for line in main} == {9}  # eight columns
    assert main[-1].startswith("| **StateComp** |")
    assert "±" in main[-1]  # the default is the balanced recipe that readers were shown
    assert page.count("No model was asked here") == 1
    assert page.count("a simulation") == 1
    assert "Single tasks: the default has " in page
    assert "the script's reward is +0.0 points from" in page  # it is its own referee here
    assert "| StateComp | 71.54" in page
    assert "LLMLingua" not in page  # methods that were not run have no row


@needs_matplotlib
def test_every_figure_is_drawn_from_the_runs(docs: Path) -> None:
    page = (docs / "results.md").read_text("utf-8")
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
    SCRIPT["main"](["--single", f"{docs}/more", f"{docs}/bench", "--docs", str(docs)])
    after = json.loads((docs / "results" / "bench.json").read_text("utf-8"))
    assert after["readers"] == before["readers"]
    rows = [len(kept["single"]["sheets"][0]["rows"]) for kept in (before, after)]
    assert rows == [3, 4]


@needs_matplotlib
def test_the_scripts_figures_can_be_put_beside_readings_that_are_kept(docs: Path) -> None:
    before = json.loads((docs / "results" / "bench.json").read_text("utf-8"))["readers"]
    study = docs / "other"
    run(
        *("handoff", "prepare", study, "--tasks", "code-tariffs", "--level", "1", "--jobs", "1"),
        *("--point", "0.8", "--strategy", "none"),
    )
    run("handoff", "run", study, "--model", "scripted:reader", "--max-steps", "1", "--jobs", "1")
    SCRIPT["main"](["--script", str(study), "--docs", str(docs)])
    page = (docs / "results.md").read_text("utf-8")
    after = json.loads((docs / "results" / "bench.json").read_text("utf-8"))["readers"]
    old, new = (kept["sheets"][0]["rows"] for kept in (before, after))
    assert [[row[p] for p in (0, 1, 2, 3, 5, 7)] for row in new] == [
        [row[p] for p in (0, 1, 2, 3, 5, 7)] for row in old
    ]
    assert [cell["text"] for cell in new[1]][4::2] == ["-", "-", "-"]  # not made anew
    assert "Over 1 hand-offs made anew" in page
    assert "that both finished" not in page


def test_without_runs_or_anything_kept_it_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="give results folders with --single"):
        SCRIPT["main"](["--docs", str(tmp_path)])


@pytest.mark.skipif(not (DOCS / "results" / "bench.json").exists(), reason="no run is kept yet")
def test_the_page_in_the_repository_is_the_one_of_the_kept_runs() -> None:
    assert (DOCS / "results.md").read_text("utf-8") == SCRIPT["page"](DOCS)
