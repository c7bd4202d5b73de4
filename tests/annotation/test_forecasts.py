"""Forecast files are parsed strictly: a wrong one says what is wrong, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from statecomp.annotation.forecasts import read_forecasts
from statecomp.errors import BadInput


def test_a_file_is_read_by_run_and_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "forecasts.jsonl"
    path.write_text(
        '{"id": "a", "k": 4, "ready": [1, 0.25]}\n\n{"id": "a", "k": 5, "ready": []}\n'
        '{"id": "b", "k": 4, "ready": [0.5]}\n'
    )
    assert read_forecasts(path) == {"a": {4: (1.0, 0.25), 5: ()}, "b": {4: (0.5,)}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1: is not valid JSON"),
        ("[]", "line 1: is not a forecast record"),
        ('{"id": "a", "ready": []}', "line 1, k: is missing"),
        ('{"id": "a", "k": 4, "ready": 1}', "line 1: is not a forecast record"),
        ('{"id": "a", "k": 4, "ready": ["x"]}', "line 1: is not a forecast record"),
        ('{"id": "a", "k": "4", "ready": []}', "line 1, k: must be a whole number"),
        ('{"id": "a", "k": 2, "ready": [1, 1]}', "greater than the 2 interactions judged"),
        ('{"id": "a", "k": 3, "ready": [1.5]}', "line 1, ready: must lie between 0 and 1"),
        ('{"id": "a", "k": 3, "ready": [NaN]}', "line 1, ready: must lie between 0 and 1"),
        ('{"id": "a", "k": 3, "ready": []}\n{"id": "a", "k": 3, "ready": []}', "there twice"),
    ],
)
def test_a_wrong_file_is_one_sentence(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "forecasts.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match=problem):
        read_forecasts(path)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read as forecasts"):
        read_forecasts(tmp_path / "none.jsonl")
