"""Cutting interactions into fragments: short verbatim pieces that can be kept or dropped alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from statecomp.history.interaction import Interaction
from statecomp.history.text import Kind, argument_text, identifiers

LONGEST_FRAGMENT = 180
"""Characters; a longer line is cut where a clause or a JSON field ends."""


FIELDS_ROOM = 50
"""Neighbouring JSON fields stay together up to this length: a value needs its name."""


class Place(StrEnum):
    """Whose words a fragment is, and where they stood."""

    SAID = "said"
    CALL = "call"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Fragment:
    """One line of an interaction, verbatim; `step` is the interaction's place in the span."""

    text: str
    step: int
    place: Place
    index: int
    count: int
    names: Mapping[str, Kind]
    failed: bool = False


_ESCAPED_BREAK = re.compile(r"\\r\\n|\\n|\\r")
_EMPTY_FIELD = re.compile(
    r"""[\s{\["']*[\w.-]+["']?\s*:\s*(?:null|""|\[\]?|\{\}?|None|'')[\s,}\]]*\Z"""
)
# The envelope of a tool's answer; what it wraps is the answer.
_WRAPPER = re.compile(r"""\A\s*\{?"(?:stdout|output|result|text|content)":\s*"(?=.{20})""")
_JSON = re.compile(r"""\s*[\[{]+\s*(?:\\?["']\w|\{)""")
_FIELD_END = re.compile(r"(?<=,)\s*(?=[\"'{\[])|(?<=[{\[])\s*(?=[\"'{])")
_CLAUSE_END = re.compile(r"(?<=[.!?;])\s+|\s[|•]\s|(?<=,)\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'`*(\[])|\n+")
_HAS_WORD = re.compile(r"\w")
_SPACES = re.compile(r"\s+")
_LINE_NUMBER = re.compile(r"\A\s*(\d{1,7})(?:\t|  |: ?| ?[|→] ?|$)")
# Not possessive: Python 3.11 before 3.11.5 matches possessive groups wrongly (gh-106052).
FENCED = re.compile(r"```[^\n`]*\n([^`]*(?:`{1,2}(?!`)[^`]*)*)(?:```|\Z)")
# Tag soup and markdown fences carry nothing that a reader of a record needs.
_FENCE = re.compile(r"\s*(?:```\w*|</?[a-zA-Z_]+>|[-=*_#~.\s]+)\s*\Z")


def fragments_of(span: Sequence[Interaction]) -> list[Fragment]:
    """Every fragment of the span, in order."""
    return [piece for step, member in enumerate(span) for piece in _cut(step, member)]


def _cut(step: int, member: Interaction) -> Iterator[Fragment]:
    # Reasoning is left out: a summary never contains thinking.
    yield from _numbered(step, Place.SAID, _sentences(member.said))
    for call in member.calls:
        yield from _numbered(step, Place.CALL, _lines(argument_text(call.arguments)))
    for observation in member.observations:
        pieces = _lines(observation.text)
        yield from _numbered(step, Place.OBSERVED, pieces, failed=observation.is_error)


def _numbered(
    step: int, place: Place, pieces: Sequence[str], *, failed: bool = False
) -> Iterator[Fragment]:
    for index, text in enumerate(pieces):
        yield Fragment(text, step, place, index, len(pieces), identifiers(text), failed)


def one_line(text: str) -> str:
    """The text without line breaks, runs of blanks or control characters."""
    return _SPACES.sub(" ", text.replace("\x00", " ")).strip()


def unescaped(text: str) -> str:
    """Text whose line breaks were escaped by a JSON or repr wrapper, as lines again."""
    if text.count("\\n") <= text.count("\n"):
        return text
    return _ESCAPED_BREAK.sub("\n", text).replace('\\"', '"').replace("\\t", " ")


def _lines(text: str) -> list[str]:
    lines = _unnumbered(unescaped(text).split("\n"))
    return _kept(piece for line in lines for piece in _shortened(line))


def _unnumbered(lines: Sequence[str]) -> Sequence[str]:
    """The lines of a listing without their numbers, which the next edit makes untrue."""
    counted = [match[1] for line in lines if (match := _LINE_NUMBER.match(line))]
    if len(counted) < 4 or len(counted) * 5 < sum(map(bool, lines)) * 4:
        return lines
    numbers = [int(number) for number in counted]
    if any(later - earlier != 1 for earlier, later in pairwise(numbers)):
        return lines
    return [_LINE_NUMBER.sub("", line) for line in lines]


def _sentences(text: str) -> list[str]:
    return _kept(piece for part in _SENTENCE_END.split(text) for piece in _shortened(part))


def _kept(pieces: Iterator[str]) -> list[str]:
    clean = (one_line(piece).rstrip(",") for piece in pieces)
    return [
        piece
        for piece in clean
        if _HAS_WORD.search(piece) and not _EMPTY_FIELD.match(piece) and not _FENCE.match(piece)
    ]


def _shortened(line: str) -> Iterator[str]:
    """The line, or the fields of a JSON line, or the clauses of a line that is too long."""
    if len(line) > FIELDS_ROOM and _JSON.match(line):
        fields = (_WRAPPER.sub("", field) for field in _FIELD_END.split(line))
        yield from _joined([field for field in fields if not _is_empty(field)], FIELDS_ROOM)
    elif len(line) > LONGEST_FRAGMENT:
        many = len(_FIELD_END.findall(line)) * LONGEST_FRAGMENT > len(line)
        cuts = _FIELD_END if many else _CLAUSE_END
        yield from _joined(cuts.split(line), FIELDS_ROOM if many else LONGEST_FRAGMENT)
    else:
        yield line


def _is_empty(field: str) -> bool:
    return not _HAS_WORD.search(field) or bool(_EMPTY_FIELD.match(field))


def _joined(parts: Sequence[str], room: int) -> Iterator[str]:
    """Neighbouring parts together while they fit; a part that never fits is cut hard."""
    blank = " " if room > FIELDS_ROOM else ""
    held = ""
    for part in parts:
        if held and len(held) + len(part) >= room:
            yield from _pieces(held)
            held = ""
        held = f"{held}{blank}{part}" if held else part
    yield from _pieces(held)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > LONGEST_FRAGMENT:
        stop = start + LONGEST_FRAGMENT
        blank = text.rfind(" ", start + LONGEST_FRAGMENT // 2, stop)
        stop = blank if blank > 0 else stop
        yield text[start:stop]
        start = stop
    yield text[start:]
