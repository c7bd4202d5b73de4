"""The guides cannot drift: settings connect, examples run, names and commands are there."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shlex
from pathlib import Path

import pytest

import statecomp
from statecomp.adapters import doctor
from statecomp.adapters.catalogue import FRAMEWORKS, Framework, proved
from statecomp.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "guides"
# The doors, a page each; the other guides are about what stands behind them.
PAGES = [GUIDES / f"{door}.md" for door in ("claude-code", "codex", "frameworks", "own-loop")]
URL = "http://127.0.0.1:8484"
SHORT = ("agent_framework", "crewai", "smolagents", "llama_index")
each = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page: str, language: str) -> list[str]:
    text = (GUIDES / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_there_is_a_guide_for_everybody() -> None:
    assert all(page.exists() for page in PAGES)


@each
def test_a_guide_is_one_page_and_says_how_to_look_undo_and_turn_it_off(page: Path) -> None:
    text = page.read_text("utf-8")
    # The table of proofs is for those who ask; the page is what stands before it.
    assert len(text.partition("## Which versions")[0].splitlines()) < 90
    questions = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert {
        "What will it save?",
        "How do I see what it did?",
        "How do I take a replacement back?",
        "How do I turn it off?",
    } < {*questions}


@each
def test_every_command_and_option_it_names_exists(page: Path) -> None:
    named = re.findall(r"(?:^|`)statecomp ([a-z]+)([^`\n]*)", page.read_text("utf-8"), re.MULTILINE)
    for verb, rest in named:
        known = {name for option in VERBS[verb].load().params for name in option.opts}
        assert {word for word in shlex.split(rest) if word.startswith("--")} <= known, verb


@pytest.mark.parametrize(
    ("page", "language", "file", "client"),
    [
        ("claude-code.md", "json", ".claude/settings.json", "Claude Code"),
        ("codex.md", "toml", ".codex/config.toml", "Codex"),
    ],
)
def test_the_settings_connect_the_client(
    tmp_path: Path, page: str, language: str, file: str, client: str
) -> None:
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(blocks(page, language)[0])
    (found,) = doctor.clients({"PATH": ""}, tmp_path, URL, tmp_path / "project")
    assert found.name == client
    assert found.how.startswith(f"connected by ~/{file}")


def test_the_example_of_a_loop_of_one_s_own_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("own-loop.md", "python")
    exec(compile(code, "own-loop.md", "exec"), {})  # noqa: S102  the point is that it runs
    assert "tokens saved" in capsys.readouterr().out


def test_the_options_of_an_adapter_are_those_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("frameworks.md", "python")
    exec(compile(code, "frameworks.md", "exec"), {})  # noqa: S102


def test_the_table_of_frameworks_is_what_was_proved() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "generate_adapters.py"))
    text = (GUIDES / "frameworks.md").read_text("utf-8")
    assert made["page"](text) == text, "run python docs/generate_adapters.py"


@pytest.mark.parametrize("framework", FRAMEWORKS.values(), ids=lambda framework: framework.name)
def test_the_line_of_a_framework_names_what_its_file_has(framework: Framework) -> None:
    file = Path(statecomp.__file__).parent / "adapters" / f"{framework.name}.py"
    tree = ast.parse(file.read_text("utf-8"))
    names = {n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    (ours,) = set(re.findall(r"StateComp\w+|\battach\b|\bshorter\b", framework.line))
    assert ours in names
    lines = len(file.read_text("utf-8").splitlines())
    assert lines < (80 if framework.name in SHORT else 160)


def test_extras_name_every_framework_with_its_lower_bound() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    for framework in FRAMEWORKS.values():
        wanted = f"{framework.package}>={framework.since}"
        (line,) = re.findall(rf"^{framework.extra} = \[(.*)\]", text, re.MULTILINE)
        assert wanted in line


def test_what_is_proved_is_in_the_catalogue() -> None:
    assert set(proved()) <= set(FRAMEWORKS)
    json.dumps(proved())
