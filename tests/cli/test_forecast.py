"""`statecomp forecast` end to end, against an endpoint that answers over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from statecomp.annotation.forecasts import read_forecasts
from statecomp.testing.words import BULK, chat_of
from tests.cli.chats import ChatHandler, served, two_runs
from tests.command import statecomp


class Seer(ChatHandler):
    """Says `p` of every step it is asked about, nothing else, and counts how often it is asked."""

    p: ClassVar[float] = 0.5
    asked: ClassVar[int] = 0

    def asked_about(self, prompt: str) -> None:
        type(self).asked += 1
        if not (steps := re.findall(r"steps 1 to (\d+) may be", prompt)):
            self.answer('{"records": []}')
            return
        entries = [{"i": i, "p": self.p} for i in range(1, int(steps[-1]) + 1)]
        self.answer(json.dumps({"still_asked": "", "ready": entries}))


@contextmanager
def seer(p: float = 0.5) -> Iterator[str]:
    Seer.p, Seer.asked = p, 0
    with served(Seer) as chat:
        yield chat


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return two_runs(tmp_path)


def test_forecasts_are_written_and_a_second_start_asks_nothing(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "forecasts.jsonl"
    with seer(0.75) as chat:
        done = statecomp("forecast", runs, "-o", out, "--chat", chat, "--checkpoints", "2")
        assert done.returncode == 0, done.stderr
        assert "2 runs, 4 checkpoints" in done.stdout
        assert Seer.asked == 4
        assert statecomp("forecast", runs, "-o", out, "--chat", chat, "--checkpoints", "2").stdout
        assert Seer.asked == 4
    found = read_forecasts(out)
    assert {p for run in found.values() for ready in run.values() for p in ready} == {0.75}


def test_a_chat_that_forecasts_more_than_certain_is_said_once_and_left_out(
    runs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "forecasts.jsonl"
    with seer(1.7) as chat:
        done = statecomp("forecast", runs, "-o", out, "--chat", chat, "--checkpoints", "2")
    assert done.returncode == 0
    assert done.stdout.count("1.7") == 1
    assert "4 of 4 checkpoints are left out; the first, run0 at step 4: the prob" in done.stdout
    assert out.read_text() == ""


def test_a_dry_run_says_what_it_would_cost(runs: Path) -> None:
    done = statecomp("forecast", runs, "--chat", "openai:gpt-5", "--dry-run")
    assert re.search(r"2 runs, at most 8 calls: about [\d,]+ tokens in", done.stdout), done.stdout


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ([], "say where the forecasts go"),
        (["-o", "x.jsonl"], "chat"),
        (["-o", "x.jsonl", "--chat", "parrot:1"], "a chat is named"),
    ],
)
def test_what_is_missing_is_one_sentence(runs: Path, more: list[str], problem: str) -> None:
    done = statecomp("forecast", runs, *more)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_that_is_there_twice_is_refused_and_forecast_once(runs: Path) -> None:
    done = statecomp("forecast", runs, runs, "--dry-run")
    assert done.returncode == 2
    assert "the run 'run0' occurs twice" in done.stderr
    done = statecomp("forecast", runs, runs, "--dry-run", "--skip-bad")
    assert "2 runs, at most 8 calls" in done.stdout


def test_runs_too_short_to_be_forecast_are_said(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"id": "r", "messages": chat_of("pr", BULK)}) + "\n")
    done = statecomp("forecast", path, "--dry-run")
    assert done.returncode == 2
    assert "no run has three interactions" in done.stderr
