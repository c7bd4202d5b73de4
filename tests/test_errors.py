"""The tree of errors in errors.py names everything the package raises on purpose."""

from __future__ import annotations

import ast
from pathlib import Path

from statecomp import errors


def classes(package: Path) -> dict[str, list[str]]:
    """Every class of the package with the names of its bases."""
    found = {}
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name] = [ast.unparse(base) for base in node.bases]
    return found


def raised_in(package: Path) -> set[str]:
    bases, known = classes(package), {"StateCompError"}
    while more := {n for n, of in bases.items() if known.intersection(of)} - known:
        known |= more
    return {name for name in known if not name.startswith("_")}


def listed_in(page: str | None) -> set[str]:
    tree = (page or "").partition("\nStateCompError\n")[2]
    lines = [line.strip("│├└─ ").split()[0] for line in tree.splitlines() if line.strip()]
    return {"StateCompError", *lines}


def test_the_tree_lists_every_error_under_its_parent() -> None:
    assert listed_in(errors.__doc__) == raised_in(Path(errors.__file__).parent)
