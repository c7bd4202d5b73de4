"""The house rules, checked: who imports whom, what importing loads, how long things get."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import statecomp

PACKAGE = Path(statecomp.__file__).parent
# A room imports only from its own line and the lines below it.
LAYERS = [
    ["cli"],
    ["config"],
    ["proxy", "dashboard", "adapters", "bench", "replay", "study"],
    ["compressor", "checkpoint", "explain"],
    ["controller", "baselines", "annotate", "router", "traces", "engines"],
    ["features", "llm", "wire", "ledger", "strategy"],
    ["history", "tokens"],
    ["errors", "recent"],
]
LEVEL = {room: level for level, rooms in enumerate(reversed(LAYERS)) for room in rooms}
MAX_FILE, MAX_FUNCTION, MAX_FOLDER = 400, 60, 16
# One file a method, one file a verb: these rooms grow with what the product can do.
CATALOGUES = {"baselines": 24, "cli": 28}


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("statecomp."):
            yield str(node.module).split(".")[1]


def test_imports_only_go_down_the_house() -> None:
    for path, tree in sources():
        mine = room(path)
        for theirs in imported(tree):
            if not mine.startswith("__"):
                assert LEVEL[mine] >= LEVEL[theirs], f"{path.name} ({mine}) imports {theirs}"


def test_importing_the_package_is_light() -> None:
    code = "import sys, statecomp; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "torch",
        "numpy",
        "aiohttp",
        "httpx",
        "ray",
        "starlette",
        "click",
        "rich",
        "tiktoken",
        "tokenizers",
    }
    assert heavy.isdisjoint(loaded)


def test_the_public_names_are_the_ones_we_promise() -> None:
    assert sorted(statecomp.__all__) == [
        "AgeScorer",
        "Checkpoint",
        "ExtractiveSummarizer",
        "Gates",
        "MemoryLog",
        "Pins",
        "StateComp",
        "__version__",
    ]
    assert all(hasattr(statecomp, name) for name in statecomp.__all__)


def test_files_and_functions_stay_readable() -> None:
    for path, tree in sources():
        lines = len(path.read_text("utf-8").splitlines())
        assert lines <= MAX_FILE, f"{path} has {lines} lines"
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                documented = len((ast.get_docstring(node) or "").splitlines())
                assert length - documented <= MAX_FUNCTION, f"{path}: {node.name}"


def test_no_import_hides_inside_a_function_of_our_own() -> None:
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.ImportFrom)]
                ours = [n for n in inner if (n.module or "").startswith("statecomp")]
                assert not ours, f"{path}: {node.name} imports {ours[0].module}"


def test_folders_are_not_drawers() -> None:
    for folder in {path.parent for path, _ in sources()}:
        files = [p for p in folder.glob("*.py") if p.name != "__init__.py"]
        assert len(files) <= CATALOGUES.get(folder.name, MAX_FOLDER), folder


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11 before 3.11.5 matches these wrongly (gh-106052), and Debian ships 3.11.2."""
    for path, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found = re.search(r"\)(?:[*+?]|\{[\d,]+\}+)\+|\(\?>", node.value)
                assert not found, f"{path}:{node.lineno}: {node.value!r}"
