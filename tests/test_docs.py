"""Docs that cannot drift: README and its example, the file map, the examples, the commands."""

from __future__ import annotations

import doctest
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import statecomp

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_the_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(code.strip().splitlines()) <= 12
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102  the point is that it runs
    assert "tokens saved" in capsys.readouterr().out


def test_the_readme_can_be_read_in_a_minute() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90


def test_the_site_opens_with_the_numbers_of_the_readme() -> None:
    readme, site = ((ROOT / path).read_text() for path in ("README.md", "docs/index.md"))
    (rows,) = re.findall(r"^\| recorded runs .+\n\|[-|]+\n((?:\|.+\n)+)", readme, re.MULTILINE)
    assert len(rows.splitlines()) >= 2
    assert rows in site


def test_the_numbers_of_the_readme_are_those_of_the_conclusions() -> None:
    """Every percentage of the opening tables stands there, too."""
    readme, whole = ((ROOT / path).read_text() for path in ("README.md", "docs/conclusions.md"))
    rows = [line for line in readme.splitlines() if line.startswith("|")]
    figures = {figure for row in rows for figure in re.findall(r"-?\d+ %", row)}
    assert len(figures) > 15
    assert figures - set(re.findall(r"-?\d+ %", whole)) == set()


def test_headings_stand_apart() -> None:
    """Where one follows a line at once, it is a part of that paragraph for many readers."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        close = re.findall(r"^[^\n]*[^\n>]\n(#{1,4} .+)", text, re.MULTILINE)
        assert not close, f"{page.name}: {close}"


def test_what_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / "README.md").read_text())
    assert len(links) > 10
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_file_map_names_every_room() -> None:
    page = (ROOT / "docs" / "file-map.md").read_text()
    named = set(re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE))
    package = ROOT / "src" / "statecomp"
    rooms = {
        str(path.relative_to(ROOT))
        for path in package.iterdir()
        if path.name not in ("__pycache__", "__init__.py", "__main__.py", "py.typed")
    }
    rooms |= {"bench", "samples", "benchmarks", "examples", "docs"}
    assert named == rooms


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_run_and_stay_short(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(path.read_text().splitlines()) <= 60
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_command_line_page_is_what_help_says() -> None:
    code = "import runpy; print(runpy.run_path('docs/generate_cli.py')['page'](), end='')"
    page = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert page == (ROOT / "docs" / "cli.md").read_text(), "run python docs/generate_cli.py"


def test_the_package_docstring_is_true() -> None:
    assert doctest.testmod(statecomp).failed == 0
