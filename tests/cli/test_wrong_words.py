"""What a person mistypes is said at once, in one sentence that says what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from statecomp.config.methods import method_of
from statecomp.errors import BadInput
from statecomp.options import Options, Settings
from tests.command import statecomp

RUNS = "samples/web.jsonl"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["rplay", RUNS], "No such command 'rplay'. Did you mean 'replay'?"),
        (["models", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["zzz"], "No such command 'zzz'."),
    ],
    ids=str,
)
def test_a_mistyped_verb_is_told_the_nearest_one(words: list[str], meant: str) -> None:
    done = statecomp(*words)
    assert done.returncode == 2
    assert meant in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["replay", RUNS, "--report"],
        ["replay", RUNS, "--views"],
        ["replay", RUNS, "--json"],
        ["exam", RUNS, "--export"],
        ["annotate", RUNS, "-o"],
        ["forecast", RUNS, "--chat", "openai:m", "-o"],
        ["score", RUNS, "--pairs"],
        ["import", RUNS, "-o"],
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_where_results_cannot_go_nothing_is_begun(words: list[str], tmp_path: Path) -> None:
    for place, why in (
        (tmp_path, "it is a folder; name"),
        (tmp_path / "no" / "x", "no is not there"),
    ):
        done = statecomp(*words, place)
        assert done.returncode == 2
        assert why in done.stderr
        assert "done" not in done.stderr


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("recipe=paper,wariness=2", "wariness: weighs money, which recipe paper leaves"),
        ("threshold=0.5,ahead=3", "ahead: weighs money, which the gates"),
        ("longer_than=-1", "longer_than: must not be negative"),
        ("threshold=0", "threshold: must lie in"),
        ("records_model=gpt-5-mini", "records_model: is for records=same"),
        ("records_session=2", "records_session: is for records by a model"),
        ("records=extract,records_day=2", "records_day: is for records by a model"),
        ("records_wait=9", "records_wait: is for records by a model"),
        ("records=same,records_day=-1", "records_day: must be dollars, 0 or more, not -1"),
        ("records=same,records_session=-0.5", "records_session: must be dollars, 0 or more"),
        ("recipe=paper,chapters=on", "chapters: are written where that pays, and gates"),
        ("threshold=0.5,chapters=on", "chapters: are written where that pays, and gates"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(written: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        method_of(Options("statecomp", written), Settings())


def test_a_number_that_is_none_names_its_option() -> None:
    done = statecomp("serve", "--wariness", "nan")
    assert done.stderr == "statecomp: serve: has wariness=nan, which is not a number\n"


def test_two_upstreams_of_one_name_are_refused() -> None:
    done = statecomp("serve", "--upstream", "a=http://x", "--upstream", "a=http://y")
    assert "statecomp: upstream: two have the name 'a'" in done.stderr
    done = statecomp("serve", "--upstream", "http://x", "--upstream", "http://y")
    assert "statecomp: upstream: two have no name" in done.stderr


def test_a_file_that_is_not_there_is_named_once() -> None:
    done = statecomp("replay", RUNS, "--prices", "missing.toml")
    assert done.stderr == "statecomp: missing.toml: cannot be read: No such file or directory\n"


def test_a_file_of_other_lines_than_labels_is_told_what_writes_them() -> None:
    done = statecomp("labels", "stats", RUNS)
    assert "web.jsonl, line 1, i: is missing" in done.stderr
    assert "`statecomp annotate` writes label files" in done.stderr


def test_an_object_without_messages_is_told_that_they_are_missing(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"hello": 1}')
    assert "line 1, messages: is missing" in statecomp("lint", other).stderr


def test_a_doctor_that_cannot_read_the_ledger_says_so_by_its_exit_code(tmp_path: Path) -> None:
    done = statecomp("doctor", "--url", "http://127.0.0.1:1", "--store", tmp_path)
    assert "cannot be read" in done.stdout
    assert done.returncode == 1
