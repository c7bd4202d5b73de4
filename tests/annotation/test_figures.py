"""The figures: complete, the same bytes every time, and one sentence where they cannot be had."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from statecomp.cli.figures import figures
from statecomp.errors import BadInput
from statecomp.testing.words import chat_of

NAMES = ("readiness_by_domain", "readiness_overall", "delay_cdf", "span_dynamics")
needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None, reason="matplotlib (statecomp[figures]) is not installed"
)


def draw(folder: Path, output: Path, *more: str) -> Result:
    labels, runs = folder / "labels.jsonl", folder / "runs.jsonl"
    arguments = ["labels", str(labels), "--runs", str(runs), "-o", str(output), *more]
    return CliRunner().invoke(figures, arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs in two domains; the third has no label for its last interaction."""
    boundaries = {"one": (3, 4, None, 6, None), "two": (2, None), "three": (2,)}
    words = {"one": ("Web", "prrkrr"), "two": ("Code", "prr"), "three": ("Code", "prr")}
    lines = [
        {"id": run, "i": number, "boundary": boundary}
        for run, found in boundaries.items()
        for number, boundary in enumerate(found, start=1)
    ]
    records = [
        {"id": run, "domain": domain, "style": "tool-calls", "messages": chat_of(word)}
        for run, (domain, word) in words.items()
    ]
    for name, objects in (("labels.jsonl", lines), ("runs.jsonl", records)):
        (tmp_path / name).write_text("".join(json.dumps(thing) + "\n" for thing in objects))
    return tmp_path


@needs_matplotlib
def test_every_figure_is_written_in_both_formats(folder: Path, tmp_path: Path) -> None:
    done = draw(folder, tmp_path / "deep" / "figures", "--note", "costs $5 and $x_")
    assert done.exit_code == 0, done.output
    assert "runs left out because interactions lack labels: 1" in done.stderr
    for name in NAMES:
        picture = tmp_path / "deep" / "figures" / f"{name}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert ElementTree.parse(picture.with_suffix(".svg")).getroot().tag.endswith("svg")


@needs_matplotlib
def test_the_same_labels_draw_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for output in ("first", "second"):
        draw(folder, tmp_path / output)
    for name in NAMES:
        first, second = ((tmp_path / o / f"{name}.svg").read_bytes() for o in ("first", "second"))
        assert first == second
        assert b"<dc:date>" not in first


@needs_matplotlib
def test_drawing_leaves_the_style_of_others_alone(folder: Path, tmp_path: Path) -> None:
    drawing = import_module("statecomp.annotation.figures")
    before = {name: drawing.mpl.rcParams[name] for name in drawing.STYLE}
    draw(folder, tmp_path)
    assert {name: drawing.mpl.rcParams[name] for name in drawing.STYLE} == before


def test_the_command_loads_no_matplotlib_before_it_draws() -> None:
    code = "import sys, statecomp.cli.figures; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_one_sentence_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    problem = draw(folder, tmp_path).exception
    assert isinstance(problem, BadInput)
    assert str(problem) == "figures need matplotlib: install statecomp[figures]"


@needs_matplotlib
def test_labels_that_cover_no_run_in_full_are_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "labels.jsonl").write_text('{"id": "one", "i": 1, "boundary": 2}\n')
    problem = draw(folder, tmp_path).exception
    assert isinstance(problem, BadInput)
    assert "labels.jsonl: labels no run in full" in str(problem)


@needs_matplotlib
def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    problem = draw(folder, folder / "labels.jsonl" / "inside").exception
    assert isinstance(problem, BadInput)
    assert "inside: cannot be written" in str(problem)


@needs_matplotlib
def test_labels_without_any_boundary_still_draw(folder: Path, tmp_path: Path) -> None:
    lines = [{"id": "two", "i": number, "boundary": None} for number in (1, 2)]
    (folder / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert draw(folder, tmp_path / "out").exit_code == 0
