"""`statecomp extract`: a folder of vectors, made once, in one sentence when it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import statecomp
from tests.features.small_model import folder, needs_model
from tests.vectors.made_up import run_of

pytestmark = needs_model
RUNS = (run_of("one", 5), run_of("two", 4, "Web"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    lines = [
        {"id": run.id, "domain": run.domain, "group": run.group, "style": "tool-calls",
         "messages": list(run.messages)}
        for run in RUNS
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_an_extraction_is_made_once_and_a_second_call_finds_it(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "features"
    arguments: list[str | Path] = [
        "extract", runs, "-o", out, "--encoder", folder(), "--layer", "1", "--layer", "2",
        "--construction", "once", "--construction", "capped-recent4", "--sample-checkpoints", "1",
    ]  # fmt: skip
    first = statecomp(*arguments)
    assert first.returncode == 0, first.stderr
    assert "once, layers 1 2: 2 runs read" in first.stdout
    assert len([*out.glob("*.npz")]) == 2 * 2 * 2
    assert len([*out.glob("recipe-*.json")]) == 2 * 2
    made = {path: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    again = statecomp(*arguments)
    assert "0 runs read (0 tokens, 0.0 s), 2 were there" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in out.glob("*.npz")} == made


def test_bad_input_is_one_sentence(runs: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id": "nobody", "i": 1, "boundary": null}\n')
    wrong = statecomp("extract", runs, "--labels", labels, "-o", tmp_path / "f")
    assert wrong.returncode == 2
    assert "labels none of these runs" in wrong.stderr
    deep = statecomp("extract", runs, "-o", tmp_path / "f", "--encoder", folder(), "--layer", "99")
    assert deep.returncode == 2
    assert "there is no layer 99" in deep.stderr
    assert "Traceback" not in wrong.stderr + deep.stderr
