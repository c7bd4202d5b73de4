"""What a text is cut into: pieces that stand on their own, and owners that say what they are of.

A value never leaves its label.  What several pieces need to be understood (the header of a table,
the heading of a section, the object a field is of, the function a line is in) is their owner; its
label is shown wherever one of them is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from statecomp.records.extracting.lengthy import briefly

LONGEST = 260
"""Characters of one piece of prose; a longer one is cut where a sentence ends, or a clause."""


class Form(StrEnum):
    """How a piece reads."""

    FIELD = "field"  # `key: value` of an object; fields of one object share a line
    ROW = "row"  # of a table, below its header
    CODE = "code"  # lines that belong together, with their line breaks
    DIFF = "diff"
    RULE = "rule"  # a sentence or a list item of a document
    LINE = "line"
    LIST = "list"  # how many objects there are, and their names


@dataclass(frozen=True, eq=False, slots=True)
class Owner:
    """What pieces belong to; two objects that are labelled alike are two."""

    label: str


class Piece(NamedTuple):
    """Verbatim text that can be kept or dropped alone."""

    text: str
    form: Form
    owner: Owner | None = None


Data: TypeAlias = Callable[[str, str], Sequence[Piece]]
"""The pieces of a text that is data, under the name it has; none where it is no data."""


def no_data(name: str, text: str) -> Sequence[Piece]:
    return ()


# Not possessive: Python 3.11 before 3.11.5 matches possessive groups wrongly (gh-106052).
FENCED = re.compile(r"```[^\n`]*\n([^`]*(?:`{1,2}(?!`)[^`]*)*)(?:```|\Z)")
"""A fenced block in a message; in some runs it is the action itself."""

_HAS_WORD = re.compile(r"\w")
_ABBREVIATED = "Vol No Nr Fig Dr Mr Mrs St vs pp Sec Ch approx"
_SENTENCE_END = re.compile(
    r"(?<=[.!?])"
    + "".join(rf"(?<!\b{short}\.)" for short in _ABBREVIATED.split())
    + r"\s+(?=[A-Z0-9\"'`*(\[])|(?<=[。！？])"
)
_CLAUSE_END = re.compile(r"(?<=[.!?;])\s+|\s(?=[|•]\s)|(?<=,)\s+")


def labelled(*names: str) -> str:
    """What something is of as one label: the names on the way to it that say something."""
    return "; ".join(filter(None, names))


def word_set(text: str) -> frozenset[str]:
    """Words that stand side by side, as a set."""
    return frozenset(text.split())


def one_line(text: str) -> str:
    """The text without line breaks, runs of blanks or control characters."""
    return " ".join(text.replace("\x00", " ").split())


COMMANDS = 6
"""Lines of a program so short that each may be a command of its own."""


def in_a_row(text: str) -> str:
    """A few commands on one line, each apart from the next; any other text as one line."""
    lines = [line.rstrip() for line in text.strip().split("\n") if line.strip()]
    goes_on = any(line[0].isspace() or line[-1] in "\\{([,:|&" for line in lines)
    several = 1 < len(lines) <= COMMANDS and not goes_on
    return "; ".join(map(one_line, lines)) if several else one_line(text)


def wordless(text: str) -> bool:
    return not _HAS_WORD.search(text)


def sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text) if part]


def fitted(text: str) -> Iterator[str]:
    """One line as pieces of bearable length: whole sentences, else clauses, else words.

    A value that is longer than a piece is told by what it is.
    """
    text = briefly(text, LONGEST)
    if len(text) <= LONGEST:
        yield text
        return
    for run in _joined(_SENTENCE_END.split(text)):
        if len(run) <= LONGEST:
            yield run
        else:
            for clause in _joined(_CLAUSE_END.split(run)):
                yield from _hard(clause)


def _joined(parts: list[str]) -> Iterator[str]:
    """Neighbours together while they fit."""
    held = ""
    for part in parts:
        if held and len(held) + len(part) >= LONGEST:
            yield held
            held = ""
        held = f"{held} {part}" if held else part
    if held:
        yield held


def _hard(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > 2 * LONGEST:
        stop = _stop(text, start + LONGEST // 2, start + LONGEST)
        yield text[start:stop].strip()
        start = stop
    yield text[start:].strip()


def _stop(text: str, least: int, most: int) -> int:
    """Where a text may be cut between two places: at a blank, or else behind a value."""
    if (blank := text.rfind(" ", least, most)) > 0:
        return blank
    ends = max(text.rfind(mark, least, most) for mark in ",;&})]>")
    return ends + 1 if ends > 0 else most


def clipped(text: str, limit: int) -> str:
    """The text up to a limit, with dots where more of it stood."""
    return text if len(text) <= limit else f"{text[: _stop(text, limit // 2, limit)].rstrip()} ..."


def begun(text: str, limit: int) -> str:
    """The first sentences of a text, with dots where more of it stood; half of one if need be."""
    if len(text) <= limit:
        return text
    whole = ""
    for sentence in sentences(text):
        if len(whole) + len(sentence) >= limit:
            break
        whole = f"{whole} {sentence}".lstrip()
    return f"{whole} ..." if whole else cut_off(text, limit)


def cut_off(text: str, limit: int) -> str:
    """The text, or its first words and dots: half a name is another name."""
    if len(text) <= limit:
        return text
    return f"{(text[:limit].rpartition(' ')[0] or text[:limit]).rstrip(' ,;')} ..."


def shortened(text: str, limit: int) -> str:
    """The text, or its two ends around three dots: attempts often differ at the end only."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    cut = text.rfind(" ", head // 2, head)
    begin = text.find(" ", len(text) - tail, len(text) - tail // 2)
    front = text[: cut if cut > 0 else head].rstrip(" ,;:=")
    return f"{front} ... {text[begin + 1 :]}" if begin > 0 else f"{front} ..."
