"""Looking through a long text a window at a time.

The interpreter does nothing else while a pattern is looked for, so over megabytes everybody would
wait; between two windows others get their turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

WINDOW = 1 << 17
OVERLAP = 2048
"""More than any pattern needs to see of what it will not match."""


def found(pattern: re.Pattern[str], text: str) -> Iterable[Any]:
    """`pattern.findall(text)`, for a pattern that matches no empty text."""
    if len(text) <= WINDOW:
        return pattern.findall(text)
    matches = matches_in(pattern, text)
    return (match.groups("") if pattern.groups else match[0] for match in matches)


def substituted(
    pattern: re.Pattern[str], instead: Callable[[re.Match[str]], str], text: str
) -> str:
    """`pattern.sub(instead, text)`, for a pattern that matches no empty text."""
    if len(text) <= WINDOW:
        return pattern.sub(instead, text)
    pieces: list[str] = []
    behind = 0
    for match in matches_in(pattern, text):
        pieces += (text[behind : match.start()], instead(match))
        behind = match.end()
    return "".join((*pieces, text[behind:])) if pieces else text


def matches_in(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """`pattern.finditer(text)`, for a pattern that matches no empty text."""
    place = 0
    while place < len(text):
        stop = place + WINDOW
        sure = stop - OVERLAP if stop < len(text) else len(text)
        place, begun = max(place, sure), place
        for match in pattern.finditer(text, begun, stop):
            if match.end() <= sure:
                yield match
                continue
            # Near the edge it may have been cut short: once more, with all that follows.
            if (whole := pattern.match(text, match.start())) is not None:
                yield whole
                place = whole.end()
            else:
                place = match.start() + 1
            break
