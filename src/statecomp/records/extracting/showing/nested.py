"""What is of one thing stands below it: its label is said once, and not on each of ten lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple

MARGIN = "  "
WORTH = 24
"""Characters that a title above its parts must save."""


class Labelled(NamedTuple):
    """Lines that stay together, the first of which begins with their label.

    Those without a label belong to what is above them.
    """

    label: str
    lines: tuple[str, ...]


def unlabelled(line: str) -> Labelled:
    return Labelled("", (line,))


def nested(blocks: Sequence[Labelled], titles: Collection[str]) -> Iterator[str]:
    """The lines, those of a part below what it is a part of, without its label.

    Only what has a title of its own can have parts: of two things that are called alike nobody
    could tell whose they are.  It gets a line of its own where several parts of it are shown.
    """
    above = [""]
    for place, (label, lines) in enumerate(blocks):
        while label and not _is_part(label, above[-1]):
            above.pop()
        if title := _title(blocks[place:], above[-1], titles):
            yield f"{MARGIN * (len(above) - 1)}{_without(title, above[-1])}"
            above.append(title)
        margin = MARGIN * (len(above) - 1)
        first, *others = lines
        yield f"{margin}{_without(first, above[-1]) if label else first}"
        yield from (f"{margin}{line}" for line in others)
        after = blocks[place + 1].label if place + 1 < len(blocks) else ""
        if label and _is_part(after, label) and _is_title(label, titles):
            above.append(label)


def _is_part(label: str, whole: str) -> bool:
    return not whole or label.startswith(f"{whole}; ")


def _without(text: str, whole: str) -> str:
    return text.removeprefix(f"{whole}; ") if whole else text


def _is_title(label: str, titles: Collection[str]) -> bool:
    """Whether it tells one thing, or the text of one, from all others."""
    return (label.rpartition("; ")[0] if label.endswith(":") else label) in titles


def _title(blocks: Sequence[Labelled], above: str, titles: Collection[str]) -> str:
    """What the first of these blocks and those that follow are parts of, if they are enough."""
    parts = blocks[0].label.split("; ")[:-1]
    wholes = [*accumulate(parts, "{}; {}".format)]
    for whole in reversed(wholes):
        if len(whole) > len(above) and _is_title(whole, titles):
            several = _parts_of(whole, blocks)
            if (several - 1) * (len(whole) - len(above)) >= WORTH:
                return whole
    return ""


def _parts_of(whole: str, blocks: Sequence[Labelled]) -> int:
    """How many of the first blocks are parts of it."""
    labels = (block.label for block in blocks if block.label)
    return sum(1 for _ in takewhile(lambda label: _is_part(label, whole), labels))
