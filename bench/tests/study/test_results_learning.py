"""docs/results-learning.md says what the kept tables hold, the answer first."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
pytest.importorskip("statecomp_bench.study.tables", reason="needs statecomp[encoder,learn]")
pytest.importorskip("matplotlib", reason="needs statecomp[figures]")
SCRIPT: Mapping[str, Any] = runpy.run_path(str(DOCS / "generate_results.py"))


def test_the_page_in_the_repository_is_the_one_of_the_kept_tables() -> None:
    assert (DOCS / "results-learning.md").read_text("utf-8") == SCRIPT["page"]()


def test_the_answer_stands_before_what_it_rests_on() -> None:
    page = (DOCS / "results-learning.md").read_text("utf-8")
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## Ten representations",
        "## Eleven routers",
        "## Training data and run length",
        "## Figures",
        "## Details",
        "## Again",
    ]
    answer = page.partition("## ")[0]
    assert [line[:3] for line in answer.splitlines() if line[:1].isdigit()] == ["1. ", "2. ", "3. "]
    table = page.partition("## Eleven routers")[0].split("## Ten representations")[1]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()]
    assert set(SCRIPT["REPRESENTATIONS"]) <= set(rows)


def test_what_is_said_once_is_not_said_again_above_each_table() -> None:
    page = (DOCS / "results-learning.md").read_text("utf-8")
    for sentence in (SCRIPT["tables"].PROTOCOL, SCRIPT["tables"].GAPS):
        assert page.count(sentence) == 1
