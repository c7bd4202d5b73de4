"""How lines stand to each other: what is deeper belongs to what stands above it, and how long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from statecomp.llm.extracting.code import blocks, is_code
from statecomp.llm.extracting.pieces import LONGEST, Form, Owner, Piece, wordless

SHORT_BLOCK = 8
"""Lines between fences that stand together whatever they are."""
ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)])\s+\S")

_FENCE = re.compile(r"\s*```\w*\s*\Z")
_PROGRAM = re.compile(
    r"\s*(?:else|try|finally|do|(?:if|elif|for|while|def|class|except|with|case)\b.*):\s*\Z"
)

Scope: TypeAlias = tuple[int, Owner | None]
"""The margin at or before which a title has ended, and the owner that holds again from there."""


def is_program(line: str) -> bool:
    """Whether a line that ends with a colon is one of a program: `else:` names nothing."""
    return bool(_PROGRAM.match(line))


def margin_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def width_of(line: str) -> int:
    """How wide a line is: some scripts take twice the width."""
    return len(line) + (0 if line.isascii() else sum(map(wide, line)))


def wide(letter: str) -> bool:
    """Whether it is of a script that has no capitals and takes twice the width."""
    return "\u3040" <= letter <= "\u9fff"


def fence_end(lines: Sequence[str], start: int) -> int:
    """Behind the fence of a block that is a program, or short; `start` where there is none."""
    if not _FENCE.match(lines[start]):
        return start
    for stop in range(start + 1, len(lines)):
        if _FENCE.match(lines[stop]):
            inside = lines[start + 1 : stop]
            return stop + 1 if 0 < len(inside) <= SHORT_BLOCK or is_code(inside) else start
    return start


def fenced(lines: Sequence[str], owner: Owner | None) -> Iterator[Piece]:
    """A program or a formula among sentences stands as it is: a line of it says nothing."""
    if len(lines) > SHORT_BLOCK:
        yield from blocks(lines, owner.label if owner else "")
        return
    text = "\n".join(line.rstrip() for line in lines if line.strip())
    if not wordless(text):
        yield Piece(text, Form.CODE, owner)


def opens(lines: Sequence[str], place: int) -> bool:
    """Whether it is an item that others stand below."""
    line, below = lines[place], lines[place + 1] if place + 1 < len(lines) else ""
    nested = bool(ITEM.match(below)) and margin_of(below) > margin_of(line)
    return nested and bool(ITEM.match(line)) and line.rstrip().endswith(":") and len(line) < LONGEST


def scoped(
    scopes: list[Scope], lines: Sequence[str], place: int, owner: Owner | None
) -> list[Scope]:
    """The titles that hold as long as lines stand deeper than they do; a heading ends them all."""
    if not lines[place].rstrip().endswith(":"):
        return []
    margin = margin_of(lines[place])
    below = next((line for line in lines[place + 1 : place + 3] if line.strip()), "")
    return [*scopes, (margin if margin_of(below) > margin else margin - 1, owner)]
