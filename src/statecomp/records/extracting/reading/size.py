"""How much an answer is: what a step's line says where it cannot say the answer itself."""

from __future__ import annotations

from collections.abc import Sequence

from statecomp.history.guarded import Guarded
from statecomp.records.extracting.decode import Json
from statecomp.records.extracting.pieces import one_line
from statecomp.records.extracting.reading.noise import unprompted
from statecomp.records.extracting.unwrap import Payload
from statecomp.records.record import framelike

WORDS, LINES = 200, 3
"""Characters and lines of an answer that its own words can stand for."""
WIDE = 200
"""Characters of a line on average, from which on lines say little of the length."""

NOTHING = "no output"
COUNTS, COUNTED = 8, 40
"""Lines of an answer that is counts alone, and characters of each: they are what it came to."""
CUT, ENDS = "cut by the tool", 400
"""What is said of an answer that its tool cut, and where in it that tool tells so."""
_CUT = Guarded(
    r"too long to be displayed|is too (?:long|large)\b|truncated version|"
    r"\[?output (?:was |has been )?truncated|"
    r"\boutput exceeded|\b(?:characters|lines|bytes|tokens) (?:were )?(?:omitted|truncated)\b|"
    r"\[truncated\]|<truncated>",
    needs="too l|truncated|exceeded|omitted",
)
_SAVED = Guarded(
    r"(?:full|whole|complete|entire) (?:output|result|response|content)[^\n]{0,30}? "
    r"(?:saved|written|stored)[^\n]{0,20}? ?(?:to|at|in)(?: the)?(?: file)?:? "
    r"[\"'`]?((?:~|\.{0,2})/[^\s\"'`)<]+)",
    needs="saved|written|stored",
)
"""Where a tool put all of what it cut."""


def words_of_answer(payload: Payload) -> str:
    """A short answer in its own words, without what it tells its reader to do."""
    lines = [line for line in payload.text.split("\n") if line.strip()]
    if len(lines) > LINES and len(payload.text) <= WORDS and not any(map(_spaced, lines)):
        return ", ".join(map(str.strip, lines))  # a listing of names
    if LINES < len(lines) <= COUNTS and all(map(_counts, lines)):
        return "; ".join(map(one_line, lines))
    if payload.window or not 0 < len(lines) <= LINES or len(payload.text) > 2 * WORDS:
        return payload.note
    if any(map(framelike, lines)):
        return ""
    told = unprompted("; ".join(_without_marks(one_line(line)) for line in lines))
    told = f"{payload.note}: {told}" if payload.page and payload.note else told
    return told if len(told) <= WORDS else payload.note if payload.page else ""


def _without_marks(line: str) -> str:
    """A title without the marks on both sides of it."""
    return line[3:-3] if line.startswith("== ") and line.endswith(" ==") else line


def _counts(line: str) -> bool:
    """Whether it is a number with what there are so many of."""
    words = line.split()
    return len(line.strip()) <= COUNTED and len(words) < 4 and any(map(str.isdigit, words))


def _spaced(line: str) -> bool:
    return len(line.split()) != 1


def size_of(payloads: Sequence[Payload]) -> str:
    """Lines, characters or things, or that there was nothing."""
    sizes = [_size(payload) for payload in payloads]
    told = [size for size in sizes if size]
    if not told:
        return NOTHING if payloads else ""
    if len(told) > 1:
        texts = [payload.text for payload in payloads if payload.text]
        return _counted(sum(map(_lines, texts)), "line") if len(texts) == len(told) else ""
    return told[0]


def length_of(payloads: Sequence[Payload]) -> int:
    """Characters of the answers, without blanks at the ends of their lines."""
    return sum(len(one_line(payload.text)) for payload in payloads)


def _size(payload: Payload) -> str:
    if payload.window:
        return payload.window
    if not isinstance(payload.body, str):
        return _things(payload.body)
    lines, characters = _lines(payload.body), len(payload.body)
    if not lines:
        return ""
    size = _counted(lines, "line") if characters < WIDE * lines else f"{characters:,} characters"
    # One who counts what is left of a file must not take it for the file.
    ends = f"{payload.body[:ENDS]}\n{payload.body[-ENDS:]}"
    if saved := _SAVED.search(ends):
        return f"{size}; {CUT}, all of it in {saved[1].rstrip('.')}"
    return f"{size}; {CUT}" if _CUT.search(ends) else size


def _lines(text: str) -> int:
    """As many as the file has: one who counts blank lines too must not find another number."""
    bare = text.strip()
    return bare.count("\n") + 1 if bare else 0


def _things(body: Json) -> str:
    if isinstance(body, dict | list):
        return _counted(len(body), "field" if isinstance(body, dict) else "thing") if body else ""
    return ""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
