"""The site: it builds, its examples run, and its pages say what the code says."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import statecomp
from tests.docs_examples import examples, run

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WITH_EXAMPLES = sorted(page for page in DOCS.rglob("*.md") if examples(page.read_text("utf-8")))
needs_mkdocs = pytest.mark.skipif(
    find_spec("mkdocs") is None or find_spec("mkdocstrings_handlers") is None,
    reason="mkdocs is not installed: pip install --group docs",
)


def build(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(out)],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )


def small_copy(folder: Path) -> Path:
    """The site with few pages: what it refuses does not depend on how many there are."""
    shutil.copy(ROOT / "mkdocs.yml", folder)
    for name in ("building", "reference"):
        shutil.copytree(DOCS / name, folder / "docs" / name)
    (folder / "src").symlink_to(ROOT / "src")
    settings = (folder / "mkdocs.yml").read_text()
    nav = "nav:\n  - index.md\n  - reference/api.md\nnot_in_nav: reference/\nplugins: [search]\n"
    kept = re.sub(
        r"^plugins:\n(?:[ ]+.*\n)+", "", settings.partition("nav:\n  - Start")[0], flags=re.M
    )
    (folder / "mkdocs.yml").write_text(kept + nav)
    for page in (folder / "docs" / "reference").glob("*.md"):
        if page.name != "api.md":
            page.unlink()
    (folder / "docs" / "index.md").write_text("# A site\n")
    return folder


@needs_mkdocs
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    built = build(ROOT, tmp_path / "site")
    assert built.returncode == 0, built.stderr
    pages = {p.relative_to(DOCS).with_suffix(".html") for p in DOCS.rglob("*.md")}
    assert all((tmp_path / "site" / page).exists() for page in pages)
    recipes = (tmp_path / "site" / "reference" / "recipes.html").read_text()
    assert "balanced" in recipes
    assert "table: recipes" not in recipes


@needs_mkdocs
@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("[gone](gone.md)", "gone.md"),
        ("[gone](reference/api.md#gone)", "#gone"),
        ("<!-- table: gone -->", "no table 'gone'"),
    ],
)
def test_a_link_or_a_table_that_leads_nowhere_ends_the_build(
    tmp_path: Path, page: str, said: str
) -> None:
    folder = small_copy(tmp_path)
    (folder / "docs" / "index.md").write_text(f"# A site\n\n{page}\n")
    built = build(folder, tmp_path / "site")
    assert built.returncode != 0
    assert said in built.stderr


@needs_mkdocs
def test_a_public_name_that_the_reference_leaves_out_ends_the_build(tmp_path: Path) -> None:
    folder = small_copy(tmp_path)
    page = folder / "docs" / "reference" / "api.md"
    page.write_text(page.read_text().replace("::: statecomp.Pins", "::: statecomp.Pegs"))
    built = build(folder, tmp_path / "site")
    assert built.returncode != 0
    assert "Pins is public, and api.md leaves it out" in built.stderr
    assert "Pegs is in api.md, and is not public" in built.stderr


def test_every_public_name_is_in_the_reference_and_says_what_it_is() -> None:
    problems = runpy.run_path(str(DOCS / "building" / "public.py"))["problems"]
    assert problems(DOCS / "reference" / "api.md") == []


def test_a_public_method_that_says_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = runpy.run_path(str(DOCS / "building" / "public.py"))["problems"]
    monkeypatch.setattr(statecomp.Pins.hold, "__doc__", None)
    found = problems(DOCS / "reference" / "api.md")
    assert found == ["Pins.hold is public, and has no docstring"]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_examples_of_a_page_run_and_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    assert run(page, tmp_path)


def test_an_example_that_prints_something_else_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- runs -->\n```python\nprint(1 + 1)\n```\n<!-- prints -->\n```text\n3\n```\n"
    )
    with pytest.raises(AssertionError, match=r"page\.md:1"):
        run(page, tmp_path)


def test_the_picture_is_drawn_from_the_numbers_that_are_kept() -> None:
    drawn = runpy.run_path(str(DOCS / "generate_picture.py"))["drawn"]
    kept = json.loads((DOCS / "results" / "session.json").read_text())
    assert drawn(kept) == (DOCS / "figures" / "session.svg").read_text()


def test_every_header_and_variable_of_ours_is_on_the_page_about_http() -> None:
    page = (DOCS / "reference" / "http.md").read_text()
    for path in (ROOT / "src" / "statecomp").rglob("*.py"):
        for name in re.findall(
            r'b?"(x-statecomp(?:-\w+)*|STATECOMP_\w+)"', path.read_text("utf-8")
        ):
            assert name in page, f"{path.name} has {name}"


def test_every_gauge_is_on_the_page_about_metrics() -> None:
    page = (DOCS / "reference" / "metrics.md").read_text()
    found: set[str] = set()
    for path in (ROOT / "src" / "statecomp" / "proxy").rglob("*.py"):
        found |= set(re.findall(r'\.gauge\(\s*"(\w+)"', path.read_text("utf-8")))
    assert found
    assert {name for name in found if name not in page} == set()


def test_every_pain_that_a_test_cites_is_described() -> None:
    page = (DOCS / "reference" / "pains.md").read_text()
    described = {int(number) for number in re.findall(r"^\| \*\*P(\d+)\*\*", page, re.MULTILINE)}
    cited: set[int] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        cited |= {int(n) for n in re.findall(r"^def test_p(\d+)_", path.read_text("utf-8"), re.M)}
    assert described == cited == set(range(1, 17))
