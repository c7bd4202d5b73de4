"""What the verbs do, asked for from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import statecomp
from statecomp.annotation.labels import read_labels
from statecomp.cli.files import write_lines
from statecomp.history.trajectory import Trajectory
from statecomp.testing.chat import ScriptedChat
from statecomp.testing.words import chat_of

SAMPLES = Path(__file__).parents[2] / "samples"
FILE = SAMPLES / "web.jsonl"


def test_labels_from_python_are_those_in_the_file_the_verb_writes(tmp_path: Path) -> None:
    (done,) = statecomp.annotate(FILE)
    written = tmp_path / "labels.jsonl"
    write_lines(written, [label.as_json() for label in done.labels])
    assert read_labels(written) == {done.id: {label.number: label for label in done.labels}}


def test_a_chat_that_annotates_needs_a_journal() -> None:
    with pytest.raises(statecomp.BadInput, match="journal"):
        statecomp.annotate(FILE, chat=ScriptedChat([]))


def test_runs_in_memory_and_in_files_replay_alike() -> None:
    run = Trajectory("r", tuple(chat_of("p" + "r" * 12)), "openai-chat")
    found = statecomp.replay([run, FILE], ["none", "window:keep=3"])
    assert [result.id for result in found.runs] == ["r", statecomp.annotate(FILE)[0].id]
    whole, window = found.rows
    assert window.bill.input < whole.bill.input
    assert found.document()["strategies"][1]["strategy"] == "window:keep=3"
    assert "window:keep=3" in found.report("two runs")


def test_labels_of_other_runs_are_found_out_before_any_work() -> None:
    run = Trajectory("r", tuple(chat_of("prrr")), "openai-chat")
    (done,) = statecomp.annotate(FILE)
    labels = {done.id: {label.number: label for label in done.labels}}
    with pytest.raises(statecomp.BadInput, match="holds no label of these runs"):
        statecomp.replay([run], labels=labels)


def test_a_strategy_that_there_is_not_is_one_sentence() -> None:
    with pytest.raises(statecomp.BadInput, match="is unknown; known are"):
        statecomp.replay(FILE, "nonsense")
