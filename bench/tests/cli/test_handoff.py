"""`statecomp-bench handoff`: from a task to a table, by a model and from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.tests.running import needs_sandbox
from statecomp.errors import BadInput
from statecomp_bench.cli.app import app
from statecomp_bench.handoffs.folder import HandoffFolder


def run(*arguments: str, given: str = "") -> str:
    words = ["handoff", *arguments]
    result = CliRunner().invoke(app, words, input=given, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_from_a_task_to_a_table(tmp_path: Path) -> None:
    needs_sandbox()
    study = str(tmp_path / "study")
    common = ("--tasks", "code-tariffs", "--level", "1", "--jobs", "1", "--point", "0.8")
    shown = run("prepare", study, *common, "--strategy", "none", "--strategy", "window:keep=5")
    assert "2 hand-offs made" in shown
    assert "0 hand-offs made" in run("prepare", study, *common, "--strategy", "none")
    pages = run("assign", study, "--command", "bench").splitlines()
    assert [Path(page).name for page in pages] == ["reader-01.md", "reader-02.md"]
    first = HandoffFolder(tmp_path / "study").require()[0].name
    assert "freight" in run("act", study, first, "--tool", "list_files")
    code = json.dumps({"code": "print(6 * 7)"})
    said = run("act", study, first, "--tool", "python", "--arguments", "-", given=code)
    assert said.strip() == "42"
    run("finish", study, first, "--reader", "ada", "--words", "done")
    table = run("run", study, "--model", "scripted", "--jobs", "1")
    assert "2 hand-offs of 1 tasks by 2 readers, 0 open" in table
    assert "handed over after 80 %" in run("table", study, "--by-point")


def test_wrong_names_are_found_before_any_work(tmp_path: Path) -> None:
    for words in (
        ("prepare", str(tmp_path), "--strategy", "nonsense"),
        ("table", str(tmp_path)),
        ("run", str(tmp_path), "--model", "scripted"),
        ("finish", str(tmp_path), "x", "--reader", "ada"),
    ):
        with pytest.raises(BadInput):
            run(*words)
    assert [*tmp_path.iterdir()] == []
