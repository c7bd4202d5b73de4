"""The modules of the project: where each is from, what is wrong with it, what its test checks."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CodingPart:
    """A module of Python's library; `right` is a line of it that stands there as `wrong`.

    `symptom` and `cause` are what somebody says who has seen the test fail, then the code.
    Checks are (name, expression, what it must equal).
    """

    source: str
    names: str  # what its test imports
    right: str
    wrong: str
    symptom: str
    cause: str
    beside: str  # a module one looks at too
    checks: tuple[tuple[str, str, str], ...]

    @property
    def name(self) -> str:
        package, _, module = self.source.rpartition("/")
        return package if module == "__init__" else module


def _listed() -> Iterator[CodingPart]:
    text = Path(__file__).with_name("parts.toml").read_text("utf-8")
    for row in tomllib.loads(text)["part"]:
        checks = tuple((name, asked, right) for name, asked, right in row.pop("checks"))
        yield CodingPart(**row, checks=checks)


EXTRA = ("glob", "copy", "linecache", "filecmp")
"""Modules that are there and are in order."""
PARTS = tuple(_listed())
