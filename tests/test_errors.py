"""The tree of errors in errors.py names everything the package raises on purpose."""

from __future__ import annotations

import ast
from pathlib import Path

from statecomp import errors

ROOT = Path(errors.__file__).parent


def classes() -> dict[str, list[str]]:
    """Every class of the package with the names of its bases."""
    found = {}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name] = [ast.unparse(base) for base in node.bases]
    return found


def test_the_tree_lists_every_error_under_its_parent() -> None:
    bases, known = classes(), {"StateCompError"}
    while more := {n for n, of in bases.items() if known.intersection(of)} - known:
        known |= more
    listed = {line.strip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines()[2:]}
    assert listed == {name for name in known if not name.startswith("_")}
