"""What holds in every house of this project: what its files may import, and how long they get."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import statecomp

# What an extra brings: nothing of it may be loaded before it is needed.
EXTRAS = {
    *("accelerate", "aiohttp", "certifi", "gguf", "httpx", "huggingface_hub", "matplotlib"),
    *("numpy", "psycopg", "ray", "safetensors", "sklearn", "starlette", "threadpoolctl"),
    *("tiktoken", "tokenizers", "torch", "transformers", "uvicorn", "zstandard"),
}
# A command line loads the verb that is asked for, and no other.
LATE_FILES = ("verbs.py", "__init__.py")
PRODUCT = Path(statecomp.__file__).parent
MAX_FILE, MAX_FUNCTION, MAX_FOLDER = 400, 60, 18


@dataclass(frozen=True)
class House:
    """A package: a room imports only from its own line of `layers` and the lines below it.

    `catalogues` are rooms that may hold more files than others, because they grow with what the
    package can do.
    """

    package: Path
    layers: Sequence[Sequence[str]]
    catalogues: Mapping[str, int] = field(default_factory=dict)

    def sources(self) -> Sequence[tuple[Path, ast.Module]]:
        return parsed(self.package)

    def room(self, path: Path) -> str:
        return path.relative_to(self.package).parts[0].removesuffix(".py")

    def imports_go_down(self) -> None:
        level = {room: n for n, rooms in enumerate(reversed(self.layers)) for room in rooms}
        for path, tree in self.sources():
            mine = self.room(path)
            for theirs in rooms_imported(tree, self.package.name):
                if not mine.startswith("__"):
                    assert level[mine] >= level[theirs], f"{path.name} ({mine}) imports {theirs}"

    def things_stay_readable(self) -> None:
        for path, tree in self.sources():
            lines = len(path.read_text("utf-8").splitlines())
            assert lines <= MAX_FILE, f"{path} has {lines} lines"
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    length = (node.end_lineno or node.lineno) - node.lineno + 1
                    documented = len((ast.get_docstring(node) or "").splitlines())
                    assert length - documented <= MAX_FUNCTION, f"{path}: {node.name}"

    def no_import_hides_in_a_function(self) -> None:
        """Only what needs an extra is imported late: by name, so that types are checked."""
        trees = self.modules()
        heavy = needing_extras({**House(PRODUCT, ()).modules(), **trees})
        for path, tree in self.sources():
            if path.name in LATE_FILES:
                continue
            assert not loads_by_string(tree, self.package.name), f"{path} imports by string"
            for node in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.ImportFrom)]
                for module in {m for n in inner for m in modules_of(n)}:
                    assert module not in trees or module in heavy, f"{path}: {module}"

    def modules(self) -> dict[str, ast.Module]:
        return {self._dotted(path): tree for path, tree in self.sources()}

    def _dotted(self, path: Path) -> str:
        return ".".join((self.package.name, *path.relative_to(self.package).with_suffix("").parts))

    def folders_are_not_drawers(self) -> None:
        for folder in {path.parent for path, _ in self.sources()}:
            files = [p for p in folder.glob("*.py") if not p.name.startswith("__")]
            assert len(files) <= self.catalogues.get(folder.name, MAX_FOLDER), folder

    def every_file_says_what_it_is_for(self) -> None:
        """A room says it in its `__init__.py`."""
        assert [str(path) for path, tree in self.sources() if not ast.get_docstring(tree)] == []

    def no_pattern_repeats_a_group_possessively(self) -> None:
        """Python 3.11 before 3.11.5 matches these wrongly (gh-106052), and Debian ships 3.11.2."""
        for path, tree in self.sources():
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found = re.search(r"\)(?:[*+?]|\{[\d,]+\}+)\+|\(\?>", node.value)
                    assert not found, f"{path}:{node.lineno}: {node.value!r}"


@cache
def parsed(package: Path) -> Sequence[tuple[Path, ast.Module]]:
    """Once for all rules: to parse takes longer than to look."""
    return [(path, ast.parse(path.read_text("utf-8"))) for path in sorted(package.rglob("*.py"))]


def modules_imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def rooms_imported(tree: ast.Module, package: str) -> Iterator[str]:
    for module in modules_imported(tree):
        if module.startswith(f"{package}."):
            yield module.split(".")[1]


def modules_of(node: ast.stmt) -> Iterator[str]:
    """What one import statement may load: a module, or modules of a package."""
    if isinstance(node, ast.ImportFrom):
        yield node.module or ""
        yield from (f"{node.module}.{name.name}" for name in node.names)
    elif isinstance(node, ast.Import):
        yield from (name.name for name in node.names)


def loads_by_string(tree: ast.Module, package: str) -> bool:
    """Whether something of the package itself is imported where no type checker sees it."""
    calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args)
    given = (
        ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func) == "import_module"
    )
    return any(re.match(rf"""f?["']{package}\b""", argument) for argument in given)


def needing_extras(trees: Mapping[str, ast.Module]) -> set[str]:
    """Modules that cannot be loaded without an extra, themselves or by what they import."""
    needs = {name: {m for n in tree.body for m in modules_of(n)} for name, tree in trees.items()}
    heavy = {n for n, found in needs.items() if any(m.split(".")[0] in EXTRAS for m in found)}
    while grown := {n for n, found in needs.items() if n not in heavy and found & heavy}:
        heavy |= grown
    return heavy


RULES: Sequence[Callable[[House], None]] = (
    House.imports_go_down,
    House.things_stay_readable,
    House.no_import_hides_in_a_function,
    House.folders_are_not_drawers,
    House.every_file_says_what_it_is_for,
    House.no_pattern_repeats_a_group_possessively,
)
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
"""What every package of this project is held to."""
