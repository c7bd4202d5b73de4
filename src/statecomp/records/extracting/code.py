"""Source code and diffs: cut into runs of lines that belong together, each under its definition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from statecomp.records.extracting.lengthy import briefly
from statecomp.records.extracting.pieces import (
    Data,
    Form,
    Owner,
    Piece,
    clipped,
    labelled,
    no_data,
    shortened,
    wordless,
)
from statecomp.records.extracting.reading.nesting import BRACKETS, CLOSES, Nest, inside, margin_of

BLOCK, WHOLE = (8, 420), (12, 560)
"""Lines and characters up to which what stands side by side is kept together, and a thing without
an empty line in it."""
HEAD = 100
"""Characters of the head of a thing where what stands in it is shown without it."""
WIDEST = 400
"""Characters of a line of code; a wider one is minified or data."""

_DEFINES = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|final|abstract|async|pub(?:\(\w+\))?|"
    r"unsafe|inline|virtual)\s+)*(?:def|class|function|func|fn|interface|struct|enum|impl|trait|"
    r"module|namespace|type)\s+\w|"
    r"\s*(?:public|private|protected|static)\s[\w<>\[\], .?]{1,80}\w\s*\(|"
    r"\w[\w *]{0,40}\s\**\w+\([^;]{0,200}\)\s*\{\s*\Z"
)
_CODE = re.compile(
    r"\s*(?:(?:def|class|import|from|return|if|for|while|try|except|else|elif|with|public|private|"
    r"protected|static|const|let|var|function|func|fn|use|package|struct|enum|impl|match|case|"
    r"switch|raise|throw|yield|async|await|export|print|echo|#include|#define)\b|@\w|//|/\*|\*/|"
    r"#!|(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|WHERE|GROUP BY|ORDER BY|JOIN|LEFT|INNER|"
    r"WHEN|END|CASE|FROM|WITH|UNION|LIMIT|ELSE|AND|OR|VALUES|HAVING|SET|ON|--)\b|[}\])]+[;,]?\s*\Z)|"
    r"(?:\t|  )* \*\s|"  # the stars of a comment, not of a list
    # One instruction of a disassembly means little without its neighbours.
    r"\s*(?:\.\w{1,12}:)?(?:0x)?[0-9a-f]{5,16}:?(?:\s+<\+\d+>:)?\s+[0-9a-f]{2}|"
    r"(?:=>)?\s*0x[0-9a-f]{4,16}(?: <[^>]{1,80}>)?:\s+[a-z]{2,8}\b|"
    r"\s*[0-9a-f]{1,5}:\s+[0-9a-f]{2}(?: |\t|\Z)|[0-9a-f]{16} <.*>:\s*\Z|"
    r"\s*[\w.\[\]\"']{1,60} [-+*/|]?= \S|"
    r"\s*[\w.]{1,80}\(.*\)\s*\Z"
)
_ENDS, _LISTS = (";", "{", "):", "=>"), re.compile(r"[\w\])\"'],")
"""How a line of code ends; a pattern that looked for it would go through all of the line."""
_MATCH = re.compile(r"(?:Line \d+|[\w./-]{1,200}:\d+):")  # what a search found stands line by line
_HUNK = re.compile(r"@@ ")
_FILE = re.compile(r"(?:diff --git |--- |\+\+\+ |index [0-9a-f]{6})")


def is_code(lines: Sequence[str]) -> bool:
    """Whether most of the lines read like a program."""
    told = [line for line in lines if line.strip()][:400]
    if len(told) < 3 or sum(1 for line in told if _MATCH.match(line)) * 2 > len(told):
        return False
    marked = sum(1 for line in told if len(line) < WIDEST and _reads_like_code(line))
    indented = sum(1 for line in told if line[:1] in " \t")
    return marked * 2 > len(told) or (marked * 3 > len(told) and indented * 3 > len(told))


def _reads_like_code(line: str) -> bool:
    bare = line.rstrip()
    return bool(bare.endswith(_ENDS) or _LISTS.match(bare[-2:]) or _CODE.match(line))


_ASSIGNS = re.compile(
    r"\s*[\w.\[\]\"']{1,60} [-+*/|]?= \S|\s*#\s|.*[;{]\s*\Z|\s*[\w.]{1,80}\(.*\)\s*\Z"
)


def is_line_of_code(line: str) -> bool:
    """Whether a line among sentences is one of a program, or a comment in it."""
    return len(line) < WIDEST and bool(_ASSIGNS.match(line))


_COMMENT = re.compile(r"\s*(?:#(?!\w)|//|--\s|@\w)")
_NAMED = re.compile(
    r"(?:(?:export|const|let|var|final|static|public|private|self\.)\s*)*"
    r"(?P<name>[\w.$]{1,60}|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}')"
    r"(?:\s*:\s*[\w.\[\], |]{1,60})?\s*[=:]\s*(?=[\[{(])"
)


def _defines(line: str) -> bool:
    return len(line) < WIDEST and _DEFINES.match(line.lstrip("> ")) is not None


def literal(lines: Sequence[str]) -> tuple[str, str]:
    """The name and the text of a value that is spelled out; nothing where the lines are none."""
    first = lines[0].lstrip()
    if lines[1:] and lines[1].strip() in BRACKETS and margin_of(lines[0]) == margin_of(lines[1]):
        return first.rstrip(" :="), "\n".join(lines[1:])
    named = _NAMED.match(first)
    if not named and first[0] not in "[{":
        return "", ""
    name = named["name"].strip("\"'") if named else ""
    return name, "\n".join((first[named.end() if named else 0 :], *lines[1:]))


def blocks(lines: Sequence[str], title: str = "", data: Data = no_data) -> Iterator[Piece]:
    """Whole things where they are short, else runs of what stands in one, each owned by its heads.

    All keep their margin: how deep a line stands is what it is of.
    """
    yield from _Blocks(Nest.of(lines), title, data).pieces()


class _Blocks:
    """Cuts a nest into runs of lines that are kept or dropped together."""

    def __init__(self, nest: Nest, title: str, data: Data) -> None:
        self._nest = nest
        self._title = title
        self._data = data
        self._base = min((len(line) - len(line.lstrip()) for line in nest.lines), default=0)
        self._owners: dict[int, Owner] = {-1: Owner(title)}

    def pieces(self) -> Iterator[Piece]:
        yield from self._runs(self._nest.members[-1], ())

    def _runs(self, members: Sequence[int], heads: Sequence[int]) -> Iterator[Piece]:
        """Runs of what stands in one thing; the first has the `heads` above it."""
        nest = self._nest
        held, bare = list(heads), True
        for before, place in self._with_comments(members):
            if CLOSES.match(nest.lines[place]):
                # The bracket at its end ends nothing that is not shown with it.
                held += [place] if nest.parent[place] in held else []
                continue
            whole = [*before, *range(place, nest.last[place] + 1)]
            defines = _defines(nest.lines[place])
            apart = nest.apart[whole[0]] or defines
            if not bare and (apart or not self._fit([*held, *whole])):
                yield from self._run(held)
                held, bare = [], True
            if not nest.members[place] or self._fit(whole, whole=True):
                held, bare = [*held, *whole], False
                if defines:
                    yield from self._run(held)
                    held, bare = [], True
            else:
                yield from self._inside(place, [*held, *before, place])
                held, bare = [], True
        yield from self._run(held)

    def _inside(self, place: int, heads: Sequence[int]) -> Iterator[Piece]:
        """What a long thing is made of: its objects if it is data, else its lines."""
        nest = self._nest
        name, text = literal(nest.lines[place : nest.last[place] + 1])
        if text and (found := self._data(labelled(self._title, name), text)):
            yield from self._run(heads[:-1])
            yield from found
            return
        yield from self._runs(nest.members[place], heads)

    def _with_comments(self, members: Sequence[int]) -> Iterator[tuple[list[int], int]]:
        """Each member with the comments that stand right above it."""
        nest = self._nest
        held: list[int] = []
        for place, following in zip_longest(members, members[1:], fillvalue=-1):
            goes_on = following >= 0 and not nest.apart[following]
            if goes_on and not nest.members[place] and _COMMENT.match(nest.lines[place]):
                held.append(place)
            else:
                yield held, place
                held = []

    def _fit(self, places: Sequence[int], *, whole: bool = False) -> bool:
        """Whether lines are few enough to be kept together; parts of a thing are not always."""
        closed = whole and not any(self._nest.apart[place] for place in places[1:])
        most_lines, most_chars = WHOLE if closed else BLOCK
        if len(places) > most_lines:
            return False
        return sum(len(self._nest.lines[place].lstrip()) for place in places) <= most_chars

    def _run(self, places: Sequence[int]) -> Iterator[Piece]:
        if not places:
            return
        lines = [self._nest.lines[place] for place in places]
        text = "\n".join(clipped(briefly(line[self._base :], WIDEST), WIDEST) for line in lines)
        if not wordless(text):
            owner = self._owner(self._nest.parent[places[0]])
            yield Piece(text, Form.CODE, owner if owner.label else None)

    def _owner(self, place: int) -> Owner:
        """Who owns what stands in a thing: its heads, the definition it is in and the nearest."""
        if place not in self._owners:
            above = (place, *self._nest.above(place))
            heads = [name for name in map(self._nest.name, above) if name]
            outer = next(filter(_defines, heads), heads[-1] if heads else "")
            named = dict.fromkeys(filter(None, (outer, *heads[:1])))
            told = inside([shortened(name, HEAD) for name in named])
            self._owners[place] = Owner(f"{self._title} {told}".strip())
        return self._owners[place]


def is_diff(lines: Sequence[str]) -> bool:
    return any(_HUNK.match(line) for line in lines[:40]) and any(
        line[:1] in "+-" for line in lines[:200]
    )


def hunks(lines: Sequence[str]) -> Iterator[Piece]:
    """What was taken out and put in, hunk by hunk, under the file it is of."""
    owner, held = Owner(""), list[str]()
    for line in lines:
        begins = _HUNK.match(line) or _FILE.match(line)
        if held and (begins or len(held) >= 2 * BLOCK[0]):
            yield from _hunk(held, owner)
            held = []
        if _FILE.match(line):
            if line.startswith("+++ ") or not owner.label:
                owner = Owner(line.removeprefix("+++ ").strip())
        elif not begins:
            held.append(clipped(briefly(line.rstrip(), WIDEST), WIDEST))
    yield from _hunk(held, owner)


def _hunk(held: Sequence[str], owner: Owner) -> Iterator[Piece]:
    """The changed lines; what stands around them unchanged is in the file."""
    changed = [line for line in held if line[:1] in ("+", "-")]
    if not wordless("".join(changed)):
        yield Piece("\n".join(changed), Form.DIFF, owner if owner.label else None)
