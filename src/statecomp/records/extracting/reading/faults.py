"""Where a program failed and why, and what it had printed besides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from statecomp.records.extracting.pieces import cut_off, one_line
from statecomp.records.extracting.reading.noise import telling
from statecomp.records.extracting.reading.programs import inner_of

SOURCE, MESSAGE = 120, 200
"""Characters of the line at which a program failed, and of what it said of that."""
PRINTED = 200
"""Characters of what a program printed that are told beside its failure."""

_TRACE = re.compile(r"Traceback \(most recent call last\):\s*\Z")
_FRAME = re.compile(r'\s*File "(.{1,400})", line (\d{1,7})(?:, in .*)?\Z')
_CHAINED = re.compile(
    r"\s*(?:During handling of the above exception|The above exception was the direct cause)"
)
_RAISED = re.compile(
    r"(?!KeyboardInterrupt)(?:[A-Za-z_]\w{0,80}\.){0,8}(?:[A-Z]|(?<=\.))\w{0,80}(?::\s|:?\s*\Z)"
)
"""What a program raised; who broke it off raised nothing."""
_MARKS = re.compile(r"[\s|]*[\^~][\s^~]*\Z")
_GUTTER = re.compile(r"\s*\d{1,7} \|")
_FOREIGN = re.compile(r"site-packages|dist-packages|/lib/python\d|\A<frozen |\Anode:|node_modules/")
_UNNAMED = re.compile(r"<.*>\Z|[\da-f-]{16,}\.\w{1,5}\Z|ipykernel_|tmp\w{8}\.\w{1,5}\Z")
"""A program without a name of its own: it was sent."""
_TOLD_ON = re.compile(r"\b(?:print|format)_exc\w*\(|\.exception\(")
"""How a program tells of an error and goes on."""


class ProgramFault(NamedTuple):
    """Why a program failed, and where, `shortly` without the line itself.

    What it `printed` is told if it is short.  It `ended` the program that was sent where it was
    raised there and nothing caught it.
    """

    why: str
    shortly: str = ""
    printed: str = ""
    ended: bool = False


class _Raised(NamedTuple):
    """One exception: what it says, and the file, the line and the text of each frame."""

    message: str
    frames: Sequence[tuple[str, int, str]]


def fault_in(text: str, program: str) -> ProgramFault | None:
    """The last fault that an answer tells of, as the cause of it was told first.

    `program` is what was sent, of which an interpreter may know no more than the number of a line.
    """
    if '", line ' not in text:
        return None
    chain, rest = _chain(text.split("\n"))
    if not chain:
        return None
    inner = inner_of(program)
    # One that begins with an empty line may have been sent on without it.
    sent = [] if inner is program and program.startswith("\n") else inner.split("\n")
    whole, bare = ("; then ".join(_told(one, lines) for one in chain) for lines in (sent, None))
    # What a program says of the error as well, and how a terminal shows what was typed.
    messages = tuple(one.message.partition(": ")[2] or one.message for one in chain)
    news = [
        line
        for line in map(one_line, telling(rest))
        if line and not line.endswith(messages) and not line.startswith(("$", ">"))
    ]
    printed = "; ".join(news)
    unnamed = _UNNAMED.search(_name(chain[-1].frames[0][0])) is not None
    return ProgramFault(
        whole,
        bare,
        printed if len(printed) <= PRINTED else "",
        ended=unnamed and not _TOLD_ON.search(program),
    )


def _chain(lines: Sequence[str]) -> tuple[list[_Raised], list[str]]:
    """The last exception with those it came of, first the first, and the lines of none."""
    chain: list[_Raised] = []
    rest: list[str] = []
    chained = False
    place = 0
    while place < len(lines):
        line = lines[place]
        trace = _TRACE.search(line)
        raised, stop = None, place + 1
        if chain and _CHAINED.match(line):
            chained = True
        elif trace or _FRAME.match(line):
            raised, stop = _raised(lines, place + bool(trace))
            if raised:
                chain = [*(chain[:1] if chained else ()), raised]
                chained = False
            else:
                rest.extend(lines[place:stop])
        else:
            rest.append(line)
        place = stop
    return chain, rest


def _raised(lines: Sequence[str], place: int) -> tuple[_Raised | None, int]:
    """The exception whose frames begin at a place, if any was raised, and the place behind it."""
    frames: list[tuple[str, int, str]] = []
    margin = 0
    for at in range(place, len(lines)):
        line = lines[at]
        bare = line.strip()
        if frame := _FRAME.match(line):
            margin = len(line) - len(line.lstrip())
            frames.append((frame[1], int(frame[2]), ""))
        elif bare and (not frames or len(line) - len(line.lstrip()) < max(1, margin)):
            raised = _Raised(bare, frames) if frames and _RAISED.match(bare) else None
            return raised, at + bool(raised)
        elif bare and not frames[-1][2] and not _MARKS.match(line):
            frames[-1] = (*frames[-1][:2], bare)
    return None, len(lines)


def _told(raised: _Raised, sent: Sequence[str] | None) -> str:
    """The last line of its own at which a program failed, if lines are told, and what it said."""
    message = cut_off(one_line(raised.message), MESSAGE)
    own = [frame for frame in raised.frames if not _FOREIGN.search(frame[0])]
    if not own:
        return message
    path, number, source = own[-1]
    named = "" if _UNNAMED.search(_name(path)) else f" of {_name(path)}"
    if sent is None:
        return f"at line {number}{named}: {message}"
    if not source and not named and 0 < number <= len(sent):
        source = sent[number - 1].strip()
    line = f", `{cut_off(one_line(source), SOURCE)}`" if source else ""
    return f"at line {number}{named}{line}: {message}"


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def pointed_at(lines: Sequence[str], cause: str) -> Iterator[str]:
    """The line below a cause that marks point into: `LINE 3: SELECT ...` above a `^`."""
    place = next((n for n, line in enumerate(lines) if line.strip() == cause), len(lines))
    for line, below in zip(
        lines[place + 1 : place + 5], lines[place + 2 : place + 6], strict=False
    ):
        if _MARKS.match(below) and line.strip() and not _MARKS.match(line):
            yield cut_off(one_line(_GUTTER.sub("", line)), SOURCE)
            return
