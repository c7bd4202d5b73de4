"""Pages as agents are shown them, each element with a mark to click on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from statecomp.llm.extracting.pieces import one_line, wordless

MARKS = 5
"""Marked elements that make a page."""
LINES = 12
"""Lines of one element."""

_MARKED = re.compile(r"\s*(?:- )?\[\d+\]\s?<")
_OPENS = re.compile(r"\s*(?:- )?\[\d+\]\s?<\w+ ?(?!.*>\s*\Z)")


def is_page(lines: Sequence[str]) -> bool:
    """Whether the lines are those of a page with its elements marked."""
    return sum(1 for line in lines if _MARKED.match(line[:40])) >= MARKS


def elements(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with an element of several on one: an offer with its place, grade and price.

    Its mark holds for the next click only, and is left out.
    """
    place = 0
    while place < len(lines):
        opening = _OPENS.match(lines[place])
        stop = _end(lines, place + 1) if opening else 0
        if opening and stop:
            # What stands before the last bracket is what kind of element it is.
            words = lines[place][opening.end() :].rpartition(">")[2]
            parts = (words, *lines[place + 1 : stop])
            told = (one_line(part).removesuffix("/>").strip() for part in parts)
            yield ", ".join(dict.fromkeys(part for part in told if not wordless(part)))
            place = stop
        else:
            yield _undressed(lines[place])
            place += 1


_ONE_LINE = re.compile(
    r"\s*(?:- )?\[\d+\]\s?<\w+(?P<marks>[^>]*)>(?P<words>.*?)(?:/>|</\w+>)?\s*\Z"
)
_NAMED = re.compile(r"\s*(?:- )?\[\d+\]\s?<\w+ (?P<words>[^<>=]+)/>\s*\Z")


def _undressed(line: str) -> str:
    """An element of one line without its mark and its tags; as it is where it has no words."""
    found = _ONE_LINE.match(line[:4000]) or _NAMED.match(line[:4000])
    words = found["words"].strip() if found else ""
    return words if len(words.split()) > 1 else line


def _end(lines: Sequence[str], start: int) -> int:
    """Behind the line that closes an element; 0 where another begins before."""
    for stop in range(start, min(start + LINES, len(lines))):
        if _MARKED.match(lines[stop]):
            return 0
        if lines[stop].rstrip().endswith("/>"):
            return stop + 1
    return 0
