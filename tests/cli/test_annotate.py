"""`statecomp annotate` end to end: rules without a model, and a chat endpoint that misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any, ClassVar

import pytest

from statecomp.annotation.labels import read_labels
from tests.cli.chats import ChatHandler, served, two_runs
from tests.command import ROOT, Done, statecomp


class Endpoint(ChatHandler):
    """An OpenAI-compatible endpoint: answers as `script` says, remembers what it was asked."""

    asked: ClassVar[list[str]] = []
    script: ClassVar[list[Any]] = []
    delay_s: ClassVar[float] = 0.0

    def asked_about(self, prompt: str) -> None:
        sleep(self.delay_s)
        status: Any = self.script.pop(0) if self.script else 200
        if status == "drop":
            self.connection.close()
            return
        if status == 200:
            self.asked.append(prompt)
        content = "nonsense" if status == "nonsense" else '{"records": []}'
        self.answer(content, status if isinstance(status, int) else 200)


@contextmanager
def endpoint(script: list[Any] | None = None, delay_s: float = 0.0) -> Iterator[str]:
    Endpoint.asked, Endpoint.script, Endpoint.delay_s = [], script or [], delay_s
    with served(Endpoint) as chat:
        yield chat


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return two_runs(tmp_path)


def test_dataflow_labels_every_interaction_and_writes_its_records(
    runs: Path, tmp_path: Path
) -> None:
    out, records = tmp_path / "labels.jsonl", tmp_path / "records.jsonl"
    done = statecomp("annotate", runs, "-o", out, "--records", records, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    labels = read_labels(out)
    assert {run: sorted(made) for run, made in labels.items()} == {
        "run0": [1, 2, 3, 4, 5, 6],
        "run1": [1, 2, 3, 4, 5, 6],
    }
    judged = [json.loads(line) for line in records.read_text().splitlines()]
    assert len(judged) == 2 * (1 + 2 + 3 + 4 + 5)
    again = tmp_path / "again.jsonl"
    statecomp("annotate", runs, "-o", again)
    assert again.read_bytes() == out.read_bytes()


def test_a_dry_run_says_what_it_would_cost_and_asks_nothing(runs: Path) -> None:
    with endpoint() as chat:
        done = statecomp("annotate", runs, "--annotator", "chat", "--chat", chat, "--dry-run")
        assert Endpoint.asked == []
    assert "2 runs, at most 20 calls: about" in done.stdout
    assert "0 calls" in statecomp("annotate", runs, "--dry-run").stdout


def annotate_by_chat(runs: Path, out: Path, chat: str) -> Done:
    return statecomp("annotate", runs, "-o", out, "--annotator", "chat", "--chat", chat)


def test_storms_and_dropped_connections_are_waited_out(runs: Path, tmp_path: Path) -> None:
    with endpoint([429, 500, "drop", 503]) as chat:
        done = annotate_by_chat(runs, tmp_path / "l", chat)
        assert len(set(Endpoint.asked)) == 10
    assert done.returncode == 0, done.stderr
    assert "turned to KEEP 30 times: no judgment was given" in done.stdout


def test_nonsense_is_keep_and_counted(runs: Path, tmp_path: Path) -> None:
    with endpoint(["nonsense"] * 10) as chat:
        done = annotate_by_chat(runs, tmp_path / "l", chat)
    assert done.returncode == 0
    assert "turned to KEEP 30 times: the answer is not JSON" in done.stdout
    assert all(label.boundary is None for label in read_labels(tmp_path / "l")["run0"].values())


def test_one_run_that_cannot_be_labelled_does_not_stop_the_rest(runs: Path, tmp_path: Path) -> None:
    """Unauthorised answers are not worth a retry; the same command later asks only what is open."""
    with endpoint([401] * 5) as chat:
        done = annotate_by_chat(runs, tmp_path / "l", chat)
        assert done.returncode == 1
        assert "run0 is not labelled" in done.stderr
        assert list(read_labels(tmp_path / "l")) == ["run1"]
        Endpoint.script.clear()
        before = len(Endpoint.asked)
        again = annotate_by_chat(runs, tmp_path / "l", chat)
        assert again.returncode == 0
        assert len(Endpoint.asked) - before <= 5
        assert max(Counter(Endpoint.asked).values()) == 1
    assert sorted(read_labels(tmp_path / "l")) == ["run0", "run1"]


def test_kill_minus_nine_in_the_middle_and_resume_asks_nothing_twice(
    runs: Path, tmp_path: Path
) -> None:
    out = tmp_path / "labels.jsonl"
    with endpoint(delay_s=0.15) as chat:
        command = ["annotate", str(runs), "-o", str(out), "--annotator", "chat", "--chat", chat]
        arguments = [sys.executable, "-m", "statecomp", *command, "--concurrency", "1"]
        process = subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.DEVNULL)
        while len(Endpoint.asked) < 4 and process.poll() is None:
            sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not out.exists()
        sleep(0.3)
        answered_before = list(Endpoint.asked)
        assert statecomp(*command).returncode == 0
        repeats = [prompt for prompt in Endpoint.asked[len(answered_before) :]
                   if prompt in answered_before]  # fmt: skip
    # Only a question that was under way when the process died may be asked again.
    assert len(repeats) <= 1
    assert sorted(read_labels(out)) == ["run0", "run1"]


def test_bad_input_is_one_sentence(runs: Path, tmp_path: Path) -> None:
    nowhere = statecomp("annotate", runs)
    assert nowhere.returncode == 2
    assert "say where the labels go: -o labels.jsonl" in nowhere.stderr
    unnamed = statecomp("annotate", runs, "-o", tmp_path / "l", "--annotator", "chat")
    assert unnamed.returncode == 2
    assert "a chat is named" in unnamed.stderr
