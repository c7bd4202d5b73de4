"""Bad input costs the bad record and nothing else."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.traces.jsonl import read_runs, run_of

GOOD = {"id": "good", "style": "tool-calls", "messages": [{"role": "user", "content": "hi"}]}


def outcomes(path: Path, **options: Any) -> list[str]:
    """The id of each run, the sentence of each problem."""
    return [
        run.id if isinstance(run, Trajectory) else str(run) for run in read_runs(path, **options)
    ]


def written(path: Path, *lines: bytes | dict[str, Any]) -> Path:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"id": "x", "messages": [{"role"', "line 2: is not valid JSON"),
        (b"\x00\x01\x02binary", "line 2: is binary, not JSON"),
        (b'{"id": "\xff"}', "line 2: is not UTF-8 text"),
        (b"42", "line 2: is a JSON number; expected a run"),
        (b"{}", "line 2, messages: is missing"),
        (b'{"messages": []}', "line 2, messages: is missing, or is not a list"),
        (b'{"messages": ["hi"]}', "line 2, messages[0]: is a JSON string, not an object"),
        (b'{"messages": [{}], "style": "telepathy"}', "line 2, style: is 'telepathy'; known are"),
        (b'{"messages": [{}], "protocol": "smtp"}', "line 2, protocol: is 'smtp'; known are"),
        (b"[" * 200_000, "line 2: is nested too deeply to be read"),
    ],
)
def test_a_bad_record_is_named_and_its_neighbours_are_read(
    tmp_path: Path, line: bytes, problem: str
) -> None:
    path = written(tmp_path / "runs.jsonl", GOOD, line, {**GOOD, "id": "next"})
    first, bad, last = outcomes(path)
    assert (first, last) == ("good", "next")
    assert f"runs.jsonl, {problem}" in bad


def test_a_huge_line_is_skipped_without_reading_it_whole(tmp_path: Path) -> None:
    huge = b'{"messages": "' + b"x" * 100_000_000 + b'"}'
    path = written(tmp_path / "runs.jsonl", GOOD, huge, {**GOOD, "id": "next"})
    first, bad, last = outcomes(path)
    assert (first, last) == ("good", "next")
    assert "is 100,000,017 bytes long; records above 67,108,864 are not read" in bad


def test_lone_surrogates_survive(tmp_path: Path) -> None:
    record = {**GOOD, "messages": [{"role": "user", "content": "\ud83d alone"}]}
    (run,) = read_runs(written(tmp_path / "runs.jsonl", record))
    assert isinstance(run, Trajectory)
    assert run.messages[0]["content"] == "\ud83d alone"


def test_empty_missing_and_odd_files_are_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert outcomes(tmp_path / "empty.jsonl") == [
        f"{tmp_path}/empty.jsonl: is empty; expected one run a line"
    ]
    assert outcomes(tmp_path / "none.jsonl") == [
        f"{tmp_path}/none.jsonl: does not exist; check the path"
    ]
    assert "is a folder" in outcomes(tmp_path)[0]


def test_gzip_is_found_by_content_and_damage_costs_what_is_behind_it(tmp_path: Path) -> None:
    lines = b"".join(json.dumps({**GOOD, "id": f"run{n}"}).encode() + b"\n" for n in range(2000))
    whole = tmp_path / "runs.data"
    whole.write_bytes(gzip.compress(lines))
    assert len(outcomes(whole)) == 2000
    half = tmp_path / "half.gz"
    half.write_bytes(gzip.compress(lines)[:-40])
    *read, problem = outcomes(half)
    assert read[0] == "run0"
    assert "damaged gzip" in problem


def test_a_list_of_messages_is_a_run_pretty_printed_or_not(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
    for text in (json.dumps(messages), json.dumps(messages, indent=2)):
        (tmp_path / "chat.json").write_text(text)
        (run,) = read_runs(tmp_path / "chat.json")
        assert isinstance(run, Trajectory)
        assert list(run.messages) == messages


def test_a_request_body_is_a_run_of_the_protocol_it_is_written_in() -> None:
    run = run_of({"model": "m", "input": [{"role": "user", "content": "hi"}]})
    assert run.protocol == "openai-responses"
    assert (
        run_of({"style": "text-action", "messages": [{"role": "user"}]}).protocol == "text-action"
    )


def test_a_problem_keeps_its_place_when_it_is_passed_on() -> None:
    problem = BadInput("is wrong", field="x").at(file="a", line=3).advising("try y")
    assert str(problem) == "a, line 3, x: is wrong; try y"
