"""Listings with line numbers, and screens of a terminal: what is shown of what, and what was said.

A window of a longer file must not pass for the file, and an empty screen not for an output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise

from statecomp.records.extracting.pieces import one_line
from statecomp.records.extracting.reading.noise import unprompted

NOTE = 200
"""Characters of what a tool says beside a listing; more is a text of its own."""
NARROWEST, FOLDED = 79, 2
"""Columns of a terminal, and so many lines that fill it to the edge go on in the next."""
FEWEST = 4
"""Numbered lines that make a listing where the tool does not say that it is one."""

WHOLE_FILE = "a file of"
"""What a listing is called that shows all of a file."""
_OPENED = re.compile(r"\s*\[File: (?:.{0,400}/)?([^/]{1,200}) \((\d{1,9}) lines total\)\]\s*\Z")
_GUTTER = re.compile(r"\A\s*(\d{1,7})(?:\t|  |: ?| ?[|→] ?|$)")
_TIGHT = re.compile(r"\A\s*\d{1,7}(?:\t|  |:| ?[|→] ?|$)")
_SPACELESS = re.compile(r"\s*\d+:[^\s]")
_PROMPT = re.compile(r"\s*(?:\([\w.-]{1,40}\) )?[\w.-]{1,64}@[\w.-]{1,64}:[^$#\n]{1,120}[$#](.*)\Z")


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines without their numbers; `first` to `last` of a file of `total`, where these are known.

    `note` is what stood beside the numbered lines, `file` what the tool called the file.
    """

    lines: Sequence[str]
    first: int = 0
    last: int = 0
    total: int = 0
    note: str = ""
    file: str = ""

    @property
    def window(self) -> str:
        """Which lines of how many; nothing where nobody says how many there are."""
        if self.total and self.first <= 1 and self.total <= self.last:
            return f"{WHOLE_FILE} {self.total} line{'' if self.total == 1 else 's'}"
        if not self.last or (self.first <= 1 and not self.total):
            return ""
        known = f" of {self.total}" if self.total else ""
        return f"lines {self.first}-{self.last}{known}"


def listing_of(lines: Sequence[str], around: Sequence[str]) -> Listing:
    """The listing that some lines are, which the next edit makes untrue in its numbers.

    `around` are the lines before a client's own were taken off: they say how long the file is.
    """
    titles = (match for line in around if (match := _OPENED.match(line)))
    file, total = next(((title[1], int(title[2])) for title in titles), ("", 0))
    matches = [_GUTTER.match(line) for line in lines]
    numbers = [int(match[1]) for match in matches if match]
    if len(numbers) < (1 if total else FEWEST):
        return Listing(lines)
    told = [line for line in lines if line.strip() and not _OPENED.match(line)]
    if len(numbers) * 5 < len(told) * 4 and not total:
        return Listing(lines)
    if any(later - earlier != 1 for earlier, later in pairwise(numbers)):
        return Listing(lines)
    # A blank behind the colon is the listing's own only where every line has it.
    gutter = _TIGHT if any(_SPACELESS.match(line) for line in lines) else _GUTTER
    beside = [line for line, match in zip(lines, matches, strict=True) if not match]
    note = unprompted(one_line(" ".join(line for line in beside if not _OPENED.match(line))))
    if len(note) > NOTE:
        kept, note = [gutter.sub("", line) for line in lines], ""
    else:
        kept = [gutter.sub("", line) for line, match in zip(lines, matches, strict=True) if match]
    return Listing(kept, numbers[0], numbers[-1], total, note, file)


def screened(lines: Sequence[str]) -> Sequence[str]:
    """A terminal's screen without its empty prompts; a single command needs no echo either."""
    if not any("@" in line and _PROMPT.match(line) for line in lines):
        return lines
    lines = _unfolded(lines)
    typed = [match[1].strip() if (match := _PROMPT.match(line)) else None for line in lines]
    several = sum(map(bool, typed)) > 1
    return [
        line if command is None else f"$ {command}"
        for line, command in zip(lines, typed, strict=True)
        if command is None or (command and several)
    ]


ECHO = "$ "
"""Before a command that a screen shows."""


def behind_echoes(screen: str, commands: Sequence[str]) -> list[str]:
    """What a screen shows behind the echo of each command; nothing where it does not show all.

    A command of several lines is one call: what it types on is no output, and a screen of nothing
    but echoes is empty.
    """
    lines = screen.split("\n")
    starts: list[int] = []
    for command in commands:
        asked = one_line(command.strip().partition("\n")[0])
        behind = range(starts[-1] + 1 if starts else 0, len(lines))
        found = (n for n in behind if lines[n].startswith(ECHO) and one_line(lines[n][2:]) == asked)
        if not asked or (start := next(found, None)) is None:
            return []
        starts.append(start)
    if any(map(str.strip, lines[: starts[0]])):
        return []  # of a command before these
    parts = (lines[start + 1 : stop] for start, stop in pairwise((*starts, len(lines))))
    return [
        "\n".join(_output(part, command)) for part, command in zip(parts, commands, strict=True)
    ]


def _output(lines: Sequence[str], command: str) -> Sequence[str]:
    typed = command.strip().split("\n")
    if len(typed) > 1:
        lines = list(dropwhile(lambda line: line.startswith(">") or not line.strip(), lines))
        # The output of the last command is what came of them all.
        if lines and lines[0] == f"{ECHO}{typed[-1].strip()}":
            lines = lines[1:]
    return [] if all(line.startswith(ECHO) or not line.strip() for line in lines) else lines


def _unfolded(lines: Sequence[str]) -> Sequence[str]:
    """Lines that a terminal broke at its edge, whole again: half a word is none."""
    widest = max(map(len, lines))
    if widest < NARROWEST or sum(1 for line in lines if len(line) == widest) < FOLDED:
        return lines
    whole: list[str] = []
    goes_on = False
    for line in lines:
        if goes_on and not _PROMPT.match(line):
            whole[-1] += line
        else:
            whole.append(line)
        goes_on = len(line) == widest
    return whole
