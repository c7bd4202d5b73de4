"""`statecomp replay` with labels, and over runs joined to long sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from statecomp.testing.words import chat_of
from tests.command import statecomp


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Four runs of five interactions, of four tasks in two domains."""
    records = [
        {"id": name, "domain": domain, "style": "tool-calls", "messages": chat_of("prrrrr")}
        for name, domain in zip("abcd", ("Code", "Code", "Web", "Web"), strict=True)
    ]
    return written(tmp_path / "runs.jsonl", records)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Of `a`: KEEP (1,3), (2,4), (2,5); READY (1,4), (1,5), (3,5).  And of another run."""
    records = [
        {"id": name, "i": i, "boundary": k, "must_keep": ['"n": 1'], "annotator": "me"}
        for name in ("a", "elsewhere")
        for i, k in ((1, 4), (2, None), (3, 5))
    ]
    return written(tmp_path / "labels.jsonl", records)


def numbers_of(tmp_path: Path, *arguments: str | Path) -> Any:
    done = statecomp("replay", *arguments, "--json", tmp_path / "numbers.json")
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "numbers.json").read_text())


def test_labels_add_timing_to_the_tables_and_count_the_runs_they_know(
    runs: Path, labels: Path
) -> None:
    done = statecomp("replay", runs, "--labels", labels, "--strategy", "window:keep=2")
    assert done.returncode == 0, done.stderr
    assert "timing, by labels for 1 of 4 runs" in done.stdout
    # One of three KEEP pairs, two of three READY pairs; the string is sent at 2 and 3 of 2 to 5.
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "window:keep=2 33.3% 66.7% 50.0%" in lines
    assert "window:keep=2 33.3% / 66.7% - / -" in lines
    assert "The labels are those of labels.jsonl, set by me: a program" in done.stdout
    assert "strategy commits refusals cache breaks in front dearer worst" in lines
    plain = statecomp("replay", runs, "--strategy", "window:keep=2").stdout
    assert "premature" not in plain


def test_timing_is_in_the_numbers_run_by_run_too(runs: Path, labels: Path, tmp_path: Path) -> None:
    spec = "window:keep=2"
    document = numbers_of(tmp_path, runs, "--labels", labels, "--strategy", spec)
    assert document["labels"] == {"file": "labels.jsonl", "annotators": ["me"]}
    (row,) = document["strategies"]
    assert (row["labelled"], row["recorded"], row["runs"]) == (1, 4, 4)
    assert (row["timing"]["premature_pairs"], row["timing"]["keep_pairs"]) == (1, 3)
    assert document["domains"]["Web"][0]["timing"] is None
    steps = document["runs"][0]["strategies"][spec]
    assert [step["timing"]["premature"] for step in steps] == [0, 0, 0, 1]
    assert [run["labelled"] for run in document["runs"]] == [1, 0, 0, 0]


def test_joined_runs_are_one_conversation_with_labels_in_their_places(
    runs: Path, labels: Path, tmp_path: Path
) -> None:
    given = (runs, "--labels", labels, "--strategy", "window:keep=2", "--join", "2")
    document = numbers_of(tmp_path, *given, "--jobs", "2")
    assert [run["id"] for run in document["runs"]] == ["a +1", "c +1"]
    assert [run["interactions"] for run in document["runs"]] == [10, 10]
    assert list(document["domains"]) == ["Code", "Web"]
    (row,) = document["strategies"]
    assert (row["labelled"], row["recorded"], row["runs"]) == (1, 4, 2)
    # Beyond its run nothing is known of what was kept; (1, k) and (3, k) stay READY up to 10.
    assert (row["timing"]["premature_pairs"], row["timing"]["keep_pairs"]) == (1, 3)
    assert (row["timing"]["ready_pairs_taken"], row["timing"]["ready_pairs"]) == (7 + 5, 7 + 6)
    assert numbers_of(tmp_path, *given) == document
    shown = statecomp("replay", *given)
    assert "2 sessions of 4 runs, 18 checkpoints" in shown.stdout
    assert "replaying: 2 done" in shown.stderr


def test_a_break_empties_the_cache_for_every_strategy(runs: Path, tmp_path: Path) -> None:
    given = (runs, "--strategy", "none", "--join", "2")
    without, broken = (
        [step["cached"] for step in document["runs"][0]["strategies"]["none"]]
        for document in (numbers_of(tmp_path, *given), numbers_of(tmp_path, *given, "--breaks"))
    )
    # Nine requests, the fifth of which opens the second run.
    assert [place for place, cached in enumerate(broken) if not cached] == [0, 4]
    assert broken == [0 if place == 4 else cached for place, cached in enumerate(without)]


def test_sessions_hold_only_runs_that_one_router_has_not_seen(runs: Path, tmp_path: Path) -> None:
    """What a session is scored with must have seen none of its tasks."""
    # The shipped router stands in for those of two folds.
    folds = tmp_path / "folds"
    shipped = Path(__file__).parents[2] / "src" / "statecomp" / "bundles" / "default"
    for number in ("0", "1"):
        (folds / number).mkdir(parents=True)
        for file in shipped.iterdir():
            (folds / number / file.name).write_bytes(file.read_bytes())
    unseen = {"a": 0, "b": 1, "c": 0, "d": 1}
    (folds / "folds.json").write_text(json.dumps({"folds": 2, "unseen": unseen}))
    spec = "statecomp:wariness=2,scorer=folds:"
    specs = ("--strategy", "none", "--strategy", f"{spec}{folds}")
    document = numbers_of(tmp_path, runs, *specs, "--join", "4")
    assert [run["id"] for run in document["runs"]] == ["a +1", "b +1"]
    unseen = dict(zip("abcd", range(4), strict=True))
    apart = folds.rename(tmp_path / "apart")  # what was opened under a name stays open
    (apart / "folds.json").write_text(json.dumps({"folds": 2, "unseen": unseen}))
    alone = statecomp("replay", runs, "--join", "2", "--strategy", f"{spec}{apart}")
    assert alone.returncode == 2
    assert "no two of these runs share a protocol and a router that has not seen" in alone.stderr


def test_what_cannot_be_judged_or_joined_is_one_sentence(
    runs: Path, labels: Path, tmp_path: Path
) -> None:
    empty, other = written(tmp_path / "empty.jsonl", []), tmp_path / "other.jsonl"
    written(other, [{"id": "elsewhere", "i": 1, "boundary": 2}])
    beyond = written(tmp_path / "beyond.jsonl", [{"id": "a", "i": 6, "boundary": None}])
    talk = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "x"}] * 3
    mixed = [
        {"id": style, "style": style, "messages": messages}
        for style, messages in (("tool-calls", chat_of("prr")), ("text-action", talk))
    ]
    two = written(tmp_path / "mixed.jsonl", mixed)
    for arguments, sentence in (
        ((runs, "--labels", empty), "empty.jsonl: holds no label"),
        ((runs, "--labels", tmp_path / "no.jsonl"), "no.jsonl: labels cannot be read from it"),
        ((runs, "--labels", other), "other.jsonl: holds no label of these runs"),
        ((runs, "--labels", beyond), "beyond.jsonl, i: is 6 in run 'a', which holds 5"),
        ((runs, "--breaks"), "there are breaks between runs that are joined: say --join too"),
        ((two, "--join", "2"), "no two of these runs share a protocol, so none can be joined"),
    ):
        done = statecomp("replay", *arguments, "--strategy", "none")
        assert done.returncode == 2
        assert sentence in done.stderr
        complaints = [line for line in done.stderr.splitlines() if not line.endswith(" done")]
        assert len(complaints) == 1


def test_help_says_what_premature_means() -> None:
    page = " ".join(statecomp("replay", "--help").stdout.split())
    assert "premature with --labels: the share replaced of what the labels still keep then" in page
    assert "--labels labels.jsonl --join 4" in page
