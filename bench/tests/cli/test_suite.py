"""`statecomp-bench suite`: runs, goes on where it stopped, and prints a table of eight columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.tests.running import needs_sandbox
from statecomp_bench.cli import run, suite
from statecomp_bench.cli.app import app
from statecomp_bench.results import read_results
from statecomp_bench.sessions.book import session_named
from statecomp_bench.tasks import task_named


def test_single_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_sandbox()
    monkeypatch.setattr(suite, "METHODS", ("none", "window:keep=10"))
    monkeypatch.setattr(run, "tasks_like", lambda patterns: (task_named("code-mirrors"),))
    arguments = ["suite", "single", "--seeds", "1", "--jobs", "1", "-o", str(tmp_path)]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    head = next(line for line in first.stdout.splitlines() if line.startswith("| Method"))
    assert head.count("|") == 9
    again = CliRunner().invoke(app, arguments)
    assert "2 runs are recorded" in again.stderr
    assert len(read_results(tmp_path)) == 2


def test_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_sandbox()
    monkeypatch.setattr(suite, "METHODS", ("none",))
    monkeypatch.setattr(run, "sessions_like", lambda patterns: (session_named("session-desk"),))
    arguments = ["suite", "sessions", "--seeds", "1", "--jobs", "1", "-o", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    (result,) = read_results(tmp_path)
    assert (result.domain, result.reward, result.notes["too early"]) == ("Mixed", 1.0, 0)
    assert {*result.parts} >= {"note", "correction", "evening"}
