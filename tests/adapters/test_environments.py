"""Environments of frameworks: named by what is in them, and skipped with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clients.installing import FOLDER, NotInstalled
from tests.adapters.environments import Environment
from tests.adapters.frameworks import PROOFS


def test_other_requirements_make_another_folder() -> None:
    one, same, other = (Environment("some", (f"wheel=={n}",)) for n in ("1", "1", "2"))
    assert one.place == same.place != other.place
    assert Environment("some", ("wheel==1",), "3.12").place != one.place


def test_a_python_that_is_not_here_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "clients"))
    wanted = Environment("some", ("wheel",), "3.99")
    with pytest.raises(NotInstalled, match=r"some needs Python 3\.99, which is not here"):
        wanted.make()
    assert not wanted.is_there


def test_every_requirement_is_pinned() -> None:
    for proof in PROOFS:
        assert all("==" in requirement for requirement in proof.environment.requirements)


def test_make_test_runs_two_frameworks() -> None:
    assert [proof.name for proof in PROOFS if proof.quick] == ["langchain", "openai_agents"]
