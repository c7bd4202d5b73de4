"""What people expect of a repository is there, and agrees with the code."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

import statecomp
import statecomp_bench
from tests.longest_first import LONGEST

yaml = pytest.importorskip("yaml", reason="PyYAML, which mkdocs brings, is not installed")

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def test_the_workflow_runs_what_make_can_do() -> None:
    jobs = read(GITHUB / "workflows" / "ci.yml")["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    made = {word for run in commands if run.startswith("make ") for word in run.split()[1:]}
    assert made == {"test", "lint", "types", "docs", "dist"}
    assert made <= TARGETS


def test_the_workflow_tries_every_python_that_the_package_names() -> None:
    named = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    jobs = read(GITHUB / "workflows" / "ci.yml")["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_asks_for_the_version_and_for_one_thing_more(path: Path) -> None:
    form = read(path)
    assert form["name"]
    assert form["description"]
    needed = {
        field["id"]
        for field in form["body"]
        if field.get("validations", {}).get("required") and field["attributes"]["label"]
    }
    assert "version" in needed
    assert len(needed) > 1


def test_the_citation_names_this_version_and_the_paper() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == statecomp.__version__ == statecomp_bench.__version__
    assert citation["preferred-citation"]["title"].startswith("StateComp: ")


def test_hooks_before_a_commit_start_programs_of_our_own_environment() -> None:
    for repo in read(ROOT / ".pre-commit-config.yaml")["repos"]:
        for hook in repo["hooks"]:
            assert hook["entry"].startswith(".venv/bin/"), hook["id"]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_tells_every_target() -> None:
    told = subprocess.run(
        ["make", "--no-print-directory", "help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    ).stdout
    assert {line.split()[0] for line in told.splitlines()} == TARGETS


def test_the_changelog_is_by_version_and_the_latest_is_this_one() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", changes, re.MULTILINE)
    released = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) - \d{4}-\d\d-\d\d", h) for h in headings]
    if headings[0] == "Unreleased":
        released = released[1:]
    versions = [tuple(map(int, found.groups())) for found in released if found]
    assert len(versions) == len(released)
    assert versions == sorted(set(versions), reverse=True)
    assert ".".join(map(str, versions[0])) == statecomp.__version__


def test_the_files_that_are_tested_first_are_there() -> None:
    assert [name for name in LONGEST if not (ROOT / name).is_file()] == []


def test_every_pin_can_be_had_by_the_python_of_debian() -> None:
    """A pinned release for a later Python stops `make` in its first minute there."""
    pins = re.findall(r"^([\w-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    wanted = {name: metadata(name)["Requires-Python"] or "" for name in pins}
    assert wanted
    assert [name for name in wanted if not SpecifierSet(wanted[name]).contains("3.11.2")] == []
