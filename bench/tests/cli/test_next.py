"""`statecomp-bench next`: from recorded runs to a table, by a model and through files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from statecomp.errors import BadInput
from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.serving import serving
from statecomp.testing.provider.turns import Turn
from statecomp_bench.cli.app import app
from statecomp_bench.nextsteps.folder import NextFolder, put

SAMPLES = Path(__file__).parents[3] / "samples"
ANSWER = json.dumps({"action": "read the file again", "missing": ["the port"]})
VERDICT = json.dumps({"A": {"score": 2}, "B": {"score": 1, "looks_up": True}})


@dataclass(frozen=True)
class ReaderAndJudge:
    last: int = 0

    def turn(self, body: Mapping[str, Any], step: int) -> Turn:
        asked = str(body["messages"][-1]["content"])
        return Turn(VERDICT if asked.startswith("# Judge") else ANSWER)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["next", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """One moment under two strategies."""
    labels = tmp_path / "labels.jsonl"
    veto = [{"at": 9, "what": "the table"}]
    name = json.loads((SAMPLES / "office.jsonl").read_text("utf-8"))["id"]
    labels.write_text(json.dumps({"id": name, "i": 2, "boundary": None, "veto": veto}) + "\n")
    words = ("--runs", str(SAMPLES / "office.jsonl"), "--labels", str(labels), "--shortest", "0")
    strategies = ("--strategy", "none", "--strategy", "window:keep=3", "--jobs", "1")
    shown = run("prepare", str(tmp_path / "study"), *words, *strategies)
    assert "only 1 tasks have such a moment" in shown
    assert "2 pages made" in shown
    return tmp_path / "study"


def test_a_model_answers_and_judges(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with serving(ScriptedUpstream(ReaderAndJudge()).app) as url:
        shown = run("run", str(study), "--model", f"openai:x@{url}/v1")
    rows = {line.split()[0]: line.split() for line in shown.splitlines() if line[:1] in "nw"}
    assert {rows["none"][-1], rows["window:keep=3"][-1]} == {"0", "1"}
    assert "0 moments are not judged" in shown
    assert rows["none"][7] == "1.00"  # each reader missed one thing


def test_a_model_that_does_not_answer_is_asked_again_later(study: Path) -> None:
    with pytest.raises(BadInput, match="no moment is judged"):
        run("run", str(study), "--model", "openai:x@http://127.0.0.1:9/v1")
    assert not [*(study / "answers").glob("*")]


def test_readers_outside_answer_files(study: Path) -> None:
    assert len(run("assign", str(study)).splitlines()) == 2
    folder = NextFolder(study)
    assert "nothing is left" in run("judge", str(study))
    for page in folder.require():
        put(folder.answer_file(page.name), ANSWER)
    assert "judge-01.md" in run("judge", str(study))
    (moment,) = folder.letters()
    put(folder.verdict_file(moment), VERDICT)
    assert "as good" in run("table", str(study))
