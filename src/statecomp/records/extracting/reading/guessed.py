"""Amounts that nobody counted: where the call or its output says so, their reader is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from statecomp.history.interaction import Interaction
from statecomp.history.text import argument_text
from statecomp.records.extracting.pieces import FENCED, one_line
from statecomp.records.extracting.reading.noise import orders
from statecomp.records.extracting.units import of_step, parts_of
from statecomp.records.markers import ADDRESSED
from statecomp.records.record import framelike

QUOTED, CUT = 120, " ..."
"""Characters of what is quoted; of a longer comment its beginning is, if that says it."""
_COMMENT = re.compile(r"(?:^|[ \t])((?:#|//) [^\n]*)", re.MULTILINE)
_GUESSED = re.compile(
    r"\b(?:assum(?:e|es|ed|ing|ptions?)|estimate[sd]?|approximat(?:e|es|ed|ely|ions?)|placeholder|"
    r"mock(?:ed)?|simulated|hypothetical|typical(?:ly)?|dummy|fake|synthetic|made[- ]up)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\[\]{}<>=\"]")


class Guess(NamedTuple):
    """The words that say of amounts that they were not found but taken, and whose they are."""

    whose: str = ""
    words: str = ""

    def beside(self, line: str) -> str:
        """What a step's line has to add; nothing where the words stand in it."""
        return f'{self.whose} says: "{self.words}"' if self.words not in line else ""


NO_GUESS = Guess()
"""Most steps count what they tell."""


@of_step
def guessed_in(member: Interaction) -> Guess:
    """What a comment in the call, or a heading of its output, says of the amounts."""
    seen = [payload.text for payload in parts_of(member).payloads]
    if not any(map(str.isdigit, "".join(seen))):
        return NO_GUESS
    sent = [argument_text(call.arguments) for call in member.calls]
    program = "\n".join(sent or FENCED.findall(member.said)[-1:])
    comment = _first(_comments(program))
    # What comes back is a file that was read or written, and no result of the program.
    if comment and not any(comment.removesuffix(CUT) in text for text in seen):
        return Guess("its call", comment)
    heading = _first(line for text in seen for line in _headings(text))
    # Whoever wrote the output may have written it for its reader.
    heading = "" if orders(heading) or ADDRESSED.search(heading) else heading
    return Guess("its output", heading) if heading else NO_GUESS


def _comments(program: str) -> Iterator[str]:
    return (one_line(found[1]) for found in _COMMENT.finditer(program))


def _headings(text: str) -> Iterator[str]:
    lines = (line for line in text.split("\n") if len(line) <= QUOTED)
    return (one_line(line) for line in lines if line.endswith(":") and not _MARKUP.search(line))


def _first(lines: Iterator[str]) -> str:
    told = (f"{x[:QUOTED].rpartition(' ')[0]}{CUT}" if len(x) > QUOTED else x for x in lines)
    return next((x for x in told if _GUESSED.search(x) and not framelike(x)), "")
