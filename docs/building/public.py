"""The public names of the package, held against the reference that describes them."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FunctionType

import statecomp

# Data has no docstring of its own: the string below its assignment is one.
DATA = {"RECIPES": "statecomp.recipes"}
NOT_DESCRIBED = {"__version__"}


def problems(reference: Path) -> list[str]:
    """Names that are promised and not described, described and not promised, or say nothing."""
    text = reference.read_text("utf-8")
    described = set(re.findall(r"^::: statecomp\.(\w+)", text, re.MULTILINE))
    promised = set(statecomp.__all__) - NOT_DESCRIBED
    silent = [name for name in promised if not docstring(name)]
    return sorted(
        (
            *(f"{name} is public, and api.md leaves it out" for name in promised - described),
            *(f"{name} is in api.md, and is not public" for name in described - promised),
            *(f"{name} is public, and has no docstring" for name in (*silent, *silent_methods())),
        )
    )


def silent_methods() -> list[str]:
    """Methods of public classes that say nothing, and implement no protocol that says it."""
    classes = {name: getattr(statecomp, name) for name in statecomp.__all__}
    classes = {name: found for name, found in classes.items() if inspect.isclass(found)}
    protocols = [found for found in classes.values() if getattr(found, "_is_protocol", False)]
    told = {name for protocol in protocols for name, m in methods(protocol) if m.__doc__}
    return [
        f"{owner}.{name}"
        for owner, found in classes.items()
        for name, method in methods(found)
        if not method.__doc__ and name not in told
    ]


def methods(owner: type) -> list[tuple[str, object]]:
    """What a class itself defines for others to call or read."""
    kinds = (FunctionType, property, cached_property, classmethod, staticmethod)
    return [
        (name, member)
        for name, member in vars(owner).items()
        if not name.startswith("_") and isinstance(member, kinds)
    ]


def docstring(name: str) -> str:
    """What the code itself says about a public name."""
    found = getattr(statecomp, name)
    if inspect.isclass(found) or inspect.isroutine(found):
        # One that dataclasses make up says nothing.
        own = found.__doc__ or ""
        return "" if own.startswith(f"{name}(") else own
    body = ast.parse(inspect.getsource(import_module(DATA[name]))).body
    for before, after in pairwise(body):
        if isinstance(before, ast.AnnAssign) and ast.unparse(before.target) == name:
            return _text(after)
    return ""


def _text(node: ast.stmt) -> str:
    """The words of a string that stands by itself, or nothing."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else ""
    return ""
