"""What stands in what: a line with all that is deeper below it, up to its bracket, is a thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from statecomp.records.extracting.pieces import wordless

DEEPEST = 40
"""Things inside things; what is deeper stands in the last of them."""
FLAT = 60
"""Lines that are looked through for the bracket that ends a thing as deep as its head."""

CLOSES = re.compile(r"\s*(?:[)}\]]+[;,)]*|\*/|(?:end|fi|done|esac)(?:\s*[;,|<].*)?)\s*\Z")
_GOES_ON = re.compile(r"\s*(?:[)}\]]|(?:else|elif|elsif|except|catch|finally)\b)")
_OPENS = re.compile(r".*(?:[{\[(]|\{[\w:./+-]{1,80},)\Z")
_SECTION = re.compile(r"\s*\[{1,2}[A-Za-z][\w .:/\"'-]{0,60}\]{1,2}\Z")
_SETS = re.compile(r"\s*[\w.\"'-]{1,60} ?= ?\S")
BRACKETS = frozenset("{[(")
_PREPROCESSOR = re.compile(r"#(?:if|ifdef|ifndef|else|elif|endif|define|undef|pragma|line)\b")
"""It stands at the margin wherever it is."""
_IDENTIFIES = re.compile(
    r"\s*(?:[-*] )?[\"']?(?:[\w ]{1,30}[ _-])?(?:id|name|title|key|label|subject)[\"']?\s*[:=]",
    re.IGNORECASE,
)
_NAMELESS = re.compile(r"\W*(?:else|try|finally|do|begin|then)?\W*\Z")
"""What names nothing as the head of others."""
_HEADS_NOTHING = re.compile(
    r"(?!.*:\Z)\W*(?:0x)?(?=\w*\d)[0-9a-f]{4,16}(?!\w)|.*[a-z][.!?]\Z|\s*(?:#\s|//|/?\*)|"
    r"[^\w\[({<]*\Z"
)
"""An address, a sentence, a comment, a rule: what stands deeper below is not of it."""


Depth = TypeVar("Depth", int, tuple[int, int])
Held = TypeVar("Held")


def ended(held: list[tuple[Depth, Held]], depth: Depth) -> list[Held]:
    """Take off what has ended where something stands so deep: all that is not less deep.

    The deepest comes first; what is left holds what stands there.
    """
    found = []
    while held and held[-1][0] >= depth:
        found.append(held.pop()[1])
    return found


@dataclass(frozen=True, slots=True)
class Nest:
    """The lines of a text that say something, by their places, and what each of them stands in.

    `apart` are those below an empty line; of each line `parent` is the head it stands below, -1 at
    the top, `last` the last line of what it is the head of, and `members` what stands in that.
    """

    lines: Sequence[str]
    apart: Sequence[bool]
    parent: Sequence[int]
    last: Sequence[int]
    members: Sequence[Sequence[int]]

    @classmethod
    def of(cls, written: Sequence[str]) -> Nest:
        lines, apart = list[str](), list[bool]()
        gap = False
        for line in written:
            empty = not line.strip(" \t>")
            if not empty:
                lines.append(line.rstrip())
                apart.append(gap)
            gap = empty
        parent = _parents(lines, apart)
        members: list[list[int]] = [[] for _ in range(len(lines) + 1)]
        last = list(range(len(lines)))
        for place in reversed(range(len(lines))):
            above = parent[place]
            members[above].append(place)
            if above >= 0:
                last[above] = max(last[above], last[place])
        for inner in members:
            inner.reverse()
        return cls(lines, apart, parent, last, members)

    def name(self, place: int) -> str:
        """What a thing is called by: its head, or the line in it that tells it from others."""
        line = self.lines[place]
        if not _NAMELESS.match(line):
            return line.strip()
        if not wordless(line):
            return ""
        inner = [self.lines[one] for one in self.members[place] if not wordless(self.lines[one])]
        telling = next(filter(_IDENTIFIES.match, inner), next(iter(inner), ""))
        return telling.strip().rstrip(",")

    def above(self, place: int) -> Iterator[int]:
        """The heads a line stands below, the nearest first."""
        while (place := self.parent[place]) >= 0:
            yield place


def inside(heads: Sequence[str]) -> str:
    """What is said above lines that stand in a thing, of which the heads are not shown."""
    return f"in {', '.join(f'`{head}`' for head in heads)}" if heads else ""


@lru_cache(maxsize=4096)
def heads_in(label: str) -> tuple[str, ...]:
    """The heads that a label names."""
    _, told, heads = f" {label}".partition(" in `")
    return tuple(heads.removesuffix("`").split("`, `")) if told else ()


def margin_of(line: str) -> int:
    """How deep a line stands; what a mark sets off as of somebody else is deeper than the mark."""
    bare = line.lstrip()
    if bare[:1] == ">" and bare[1:2] in ("", " "):
        bare = bare[1:].lstrip()
    return len(line) - len(bare)


def _parents(lines: Sequence[str], apart: Sequence[bool]) -> list[int]:
    """The head that each line stands below."""
    found: list[int] = []
    heads: list[tuple[int, int]] = []  # how deep they stand, and their places
    for place, (line, deep) in enumerate(zip(lines, _depths(lines, apart), strict=True)):
        if deep is None:
            found.append(found[-1])
            continue
        if heads and heads[-1] == (deep, place - 1) and line.strip() in BRACKETS:
            found.append(place - 1)  # of the line above it, which names what it opens
            continue
        ends = CLOSES.match(line) is not None
        goes_on = ends or _GOES_ON.match(line) is not None
        ended(heads, deep + goes_on)
        if goes_on:
            # What goes on where a thing stood is of that thing, not of what it went on with before.
            while len(heads) > 1 and heads[-2][0] == deep:
                heads.pop()
        found.append(heads[-1][1] if heads else -1)
        if len(heads) < DEEPEST and not (ends or _HEADS_NOTHING.match(line)):
            heads.append((deep, place))
    return found


def _depths(lines: Sequence[str], apart: Sequence[bool]) -> Iterator[int | None]:
    """How deep each line stands; nothing for one that stands wherever the line above it does.

    What is as deep as its head counts as deeper: up to the bracket, or below a title in brackets.
    """
    flat = section = 0
    comment = False
    for place, line in enumerate(lines):
        deep = margin_of(line)
        if comment or (
            place and not deep and _PREPROCESSOR.match(line) and margin_of(lines[place - 1])
        ):
            comment = comment and "*/" not in line
            yield None
            continue
        comment = line.lstrip()[:2] == "/*" and "*/" not in line
        if _SECTION.match(line) and place + 1 < len(lines) and _SETS.match(lines[place + 1]):
            section = 1
            yield deep
            continue
        yield deep + section + (place < flat)
        if place >= flat and _OPENS.match(line):
            flat = _flat_end(lines, apart, place)


def _flat_end(lines: Sequence[str], apart: Sequence[bool], start: int) -> int:
    """Where the bracket stands that ends what is as deep as its head; -1 where nothing is."""
    margin = margin_of(lines[start])
    if start + 1 >= len(lines) or margin_of(lines[start + 1]) > margin or wordless(lines[start]):
        return -1
    for place in range(start + 1, min(len(lines), start + FLAT)):
        if apart[place] or margin_of(lines[place]) < margin:
            return -1
        if CLOSES.match(lines[place]):
            return place if place > start + 1 else -1
    return -1


def brackets_end(lines: Sequence[str], start: int) -> int:
    """Behind the bracket that ends what a line opens, and behind all that open where one ended.

    It is `start` where none does; what goes on to the end of the text was broken off there.
    """
    stop = start
    while stop < len(lines) and _opens(lines[stop].rstrip()):
        end = _bracket_end(lines, stop)
        if end == stop:
            break
        stop = end
    return stop


def _opens(line: str) -> bool:
    """Whether it opens something among sentences, which may end in a bracket that says no more."""
    return line[-1:] in ("{", "[", ",") and _OPENS.match(line) is not None


def _bracket_end(lines: Sequence[str], start: int) -> int:
    margin, flat, named = margin_of(lines[start]), False, not wordless(lines[start])
    for place in range(start + 1, len(lines)):
        line = lines[place]
        if not line.strip():
            if flat or place == start + 1:
                return start
        elif (deep := margin_of(line)) <= margin:
            if deep == margin and CLOSES.match(line):
                return place + 1
            flat = named and deep == margin and (flat or place == start + 1)
            if not flat or place - start > FLAT:
                return start
    return start if flat else len(lines)
