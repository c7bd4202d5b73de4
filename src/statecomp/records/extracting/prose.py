"""Documents, pages and other lines: list items whole, sentences whole, below their heading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter

from statecomp.records.extracting.code import blocks
from statecomp.records.extracting.listing.alike import alike_end
from statecomp.records.extracting.listing.blocks import (
    EMPTY_KEY,
    ENDS_IN_DATA,
    KEY_VALUE,
    NUMBERED,
    Block,
    Placed,
    cells_of,
    counted_blocks,
    fields_end,
    rows_and_fields,
    things_in,
    undressed,
)
from statecomp.records.extracting.listing.cards import cards, cards_end
from statecomp.records.extracting.listing.columns import Path, table_of
from statecomp.records.extracting.listing.tables import is_row, rows, table_end
from statecomp.records.extracting.pieces import (
    LONGEST,
    Data,
    Form,
    Owner,
    Piece,
    fitted,
    labelled,
    one_line,
    wordless,
)
from statecomp.records.extracting.reading.layout import (
    ITEM,
    Titles,
    capitals,
    fence_end,
    fenced,
    found_in,
    is_program,
    opens,
    wide,
    width_of,
)
from statecomp.records.extracting.reading.nesting import brackets_end, ended, margin_of

_HEADING = re.compile(
    r"\s{0,3}#{1,6}\s+\S|\s*(?:={2,} .* ={2,}\s*\Z|\*\*[^*]{2,80}\*\*:?\s*\Z|</?h\d|\$ \S)"
)
_TITLE = re.compile(r"\s*(?!.*: .*:)[\w(][^.!?;]{2,78}:\s*\Z")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,})\s*\Z")
_BULLETS = ("- ", "* ", "+ ")
_RULED = re.compile(r"\s*(?:={12,}|-{12,}|\*{12,}|_{12,}|#{12,})\s*\Z")
_FENCE = re.compile(r"\s*(?:```\w*|</?[a-zA-Z_]+>|[-=*_#~.\s]+)\s*\Z")
_ENDS = re.compile(r"[.!?:;|>\]})\"。！？：；]\s*\Z")
_DOCUMENT = re.compile(r"^\s{0,3}#{1,6} \S", re.MULTILINE)
TITLE_WORDS = 4
WIDEST, WIDEST_MARKED = 100, 150
"""Characters of a line that may be a title, and of one that is marked as such on both sides."""
WRAPPED, WRAPPED_PLAIN = 55, 72
"""A line this long that does not end a sentence goes on in the next: in a document, elsewhere."""
TAIL_WORDS, SENTENCE_WORDS = 2, 6
"""Words that may stand alone in that next line, behind a sentence of so many."""
TOP = 1
"""The level of a document's own title, which need not stand before each of its parts."""


def pieces_of(lines: Sequence[str], data: Data, *, wrapped: bool = True) -> Iterator[Piece]:
    """The lines by what they are: rows of tables, list items, blocks of `key: value`, sentences.

    They come in the order they stood in, though blocks of one kind are first seen together.  Where
    they are not `wrapped`, no line goes on in the next.
    """
    document = any(_DOCUMENT.match(line) for line in lines)
    width = (WRAPPED if document else WRAPPED_PLAIN) if wrapped else 0
    fields: list[Block] = []
    told = [*_read(lines, data, document, width, fields), *counted_blocks(fields)]
    if document:
        told.append((len(lines), _sections(lines)))
    told += rows_and_fields(fields, data)
    return chain.from_iterable(pieces for _, pieces in sorted(told, key=itemgetter(0)))


def _read(
    lines: Sequence[str], data: Data, document: bool, width: int, fields: list[Block]
) -> Iterator[Placed]:
    """All that is told line by line, each with its place; `fields` takes blocks of them.

    A line of that `width` may go on in the next; none does where it is nothing.
    """
    titles = Titles()
    high = capitals(lines)
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            # A line with a colon names what stands below it, up to the next gap.
            if not _goes_below(lines, place):
                titles.part()
            place += 1
            continue
        if _RULED.match(line) and wordless(lines[place - 1] if place else ""):
            titles.close()  # what was shown between two rules has ended
        titles.reach(line)
        owner = titles.owner
        stop, apart = _set_apart(lines, place, owner, data, document)
        if stop > place:
            yield place, apart
            place = stop
        elif inner := _inside(line, data):
            yield place, inner
            titles.part()  # the data is what the line above it names
            place += 1
        elif (stop := cards_end(lines, place)) > place:
            fields += _placed(cards(lines[place:stop]), place, owner)
            place = stop
        elif place in high or _is_heading(lines, place) or _opens(lines, place):
            label = titles.head(lines, place, _below_outer(lines, place, titles.levels))
            told = ": " in line or any(map(str.isdigit, NUMBERED.sub("", line)))
            if told and not line.startswith("$ "):
                # "Found 3 rows:" is news itself, whatever stands below it.
                yield place, (Piece(label, Form.LINE),)
            place += 1
        elif (stop := fields_end(lines, place)) > place + 1:
            first = NUMBERED.sub("", lines[place])
            fields += _placed(things_in((first, *lines[place + 1 : stop])), place, owner)
            place = stop
        else:
            stop = _item_end(lines, place, width) if width else place + 1
            yield place, _told(lines[place:stop], owner, document)
            if _has_items(lines, place, stop):
                titles.head_items(line)
            place = stop


def _has_items(lines: Sequence[str], place: int, stop: int) -> bool:
    """Whether items stand deeper below an item of several lines: they are of it."""
    if stop == len(lines) or not (ITEM.match(lines[place]) and ITEM.match(lines[stop])):
        return False
    return margin_of(lines[stop]) > margin_of(lines[place])


def _set_apart(
    lines: Sequence[str], place: int, owner: Owner | None, data: Data, document: bool
) -> tuple[int, Iterable[Piece]]:
    """Where what begins here ends, and its pieces, if it is a block in fences or brackets, a table
    or a run of lines that are alike.
    """
    if (stop := brackets_end(lines, place)) > place + 1:
        title, inside = owner.label if owner else "", lines[place:stop]
        return stop, data(title, "\n".join(inside)) or blocks(inside, title, data)
    if (stop := fence_end(lines, place)) > place:
        return stop, fenced(lines[place + 1 : stop - 1], owner)
    if (stop := table_end(lines, place)) > place:
        return stop, rows(lines[place:stop], owner)
    stop = alike_end(lines, place)
    each = ((line,) for line in lines[place:stop])
    return stop, chain.from_iterable(_told(line, owner, document) for line in each)


def _placed(
    things: Iterable[tuple[int, Sequence[str]]], place: int, owner: Owner | None
) -> Iterator[Block]:
    return ((place + begun, thing, owner) for begun, thing in things)


def _inside(line: str, data: Data) -> Sequence[Piece]:
    """The pieces of a line that is data, or ends in more data than a sentence holds."""
    text = line.strip()
    if text[0] in "{[":
        return data("", text)
    if len(text) > LONGEST and (found := ENDS_IN_DATA.match(text)):
        return data(found[1], found[2])
    return ()


def _sections(lines: Sequence[str]) -> Iterator[Piece]:
    """Sections that hold the same keys are things: a row for each, its heading first.

    Each value stands below its heading, too, but of ten things found a row each is what fits.
    """
    things: dict[int, list[dict[Path, str]]] = {}
    current: dict[int, dict[Path, str]] = {}
    for line in lines:
        level = len(line) - len(line.lstrip("#"))
        if level and _DOCUMENT.match(line):
            current = {known: cells for known, cells in current.items() if known < level}
            current[level] = {("title",): one_line(line).strip("#=* ")}
            things.setdefault(level, []).append(current[level])
        elif len(line) < LONGEST and KEY_VALUE.match(line):
            for cells in current.values():
                for path, value in cells_of([line]).items():
                    cells.setdefault(path, value)
    for level in sorted(things):
        if table := table_of(things[level], " ".join):
            yield from table.below("")
            return


def _below_outer(lines: Sequence[str], place: int, outer: list[tuple[int, str]]) -> str:
    """A heading with the one it stands below: every paper of a list has an abstract."""
    line = lines[place]
    title = one_line(line).strip("#=* ")
    if line.startswith("$ ") or _heads_fields(lines, place):
        return f"{title}:"  # a command, and below it what it answered; or what fields are of
    level = len(line.lstrip()) - len(line.lstrip().lstrip("#"))
    if not level and _UNDERLINE.match("".join(lines[place + 1 : place + 2])):
        level = TOP if "=" in lines[place + 1] else TOP + 1
    if not level:
        return title
    ended(outer, level)
    above = outer[-1][1] if outer and level > TOP + 1 else ""
    outer.append((level, title))
    return labelled(above, title)


def _is_heading(lines: Sequence[str], place: int) -> bool:
    line = lines[place]
    if len(line) > (WIDEST_MARKED if line.startswith("== ") else WIDEST):
        return False
    following = lines[place + 1] if place + 1 < len(lines) else ""
    if _HEADING.match(line):
        return True
    if _UNDERLINE.match(following) and len(line.strip()) > 2 and not wordless(line):
        return line.lstrip()[:2] not in _BULLETS  # below an item it ends a list
    deeper = margin_of(following) > margin_of(line)
    if place and KEY_VALUE.match(lines[place - 1]) and not deeper:
        return False  # one of several keys, and it has no value
    # `Results:` names what is below it, if something is; `else:` does not.
    titled = _TITLE.match(line) and not is_program(line)
    before = lines[place - 1] if place else ""
    begins = deeper or ITEM.match(following) or not before.strip() or _HEADING.match(before)
    return bool(titled and following.strip() and begins)


def _opens(lines: Sequence[str], place: int) -> bool:
    return opens(lines, place) or _heads_fields(lines, place)


def _heads_fields(lines: Sequence[str], place: int) -> bool:
    """Whether a line begins a paragraph whose others are fields: it says what they are of."""
    line = lines[place]
    if (place and lines[place - 1].strip()) or KEY_VALUE.match(line) or ITEM.match(line):
        return False
    if wordless(line):
        return False
    fields = fields_end(lines, place + 1) if place + 1 < len(lines) else place
    told = fields > place + 2 and margin_of(lines[place + 1]) == margin_of(line)
    return told and len(line.split()) <= TITLE_WORDS and not _ENDS.search(line)


def _goes_below(lines: Sequence[str], gap: int) -> bool:
    """Whether what follows a gap still belongs to the title above: it opens, or is a list."""
    above = lines[gap - 1] if gap else ""
    if not "".join(lines[gap : gap + 2]).strip():
        return False  # two empty lines part what stands around them
    below = next((line for line in lines[gap : gap + 4] if line.strip()), "")
    return bool(_TITLE.match(above) or ITEM.match(below) or below[:1] in " \t")


def _item_end(lines: Sequence[str], start: int, width: int) -> int:
    """A list item or a wrapped sentence with the lines it goes on in."""
    stop = start + 1
    margin = margin_of(lines[start])
    item = bool(ITEM.match(lines[start]))
    while stop < len(lines) and lines[stop].strip() and not ITEM.match(lines[stop]):
        deeper = item and margin_of(lines[stop]) > margin
        before = lines[stop - 1].rstrip()
        if len(before) > 400 or found_in(lines[stop]):
            break
        if not deeper and not _goes_on(before, lines[stop], width):
            break
        stop += 1
    return stop


def _goes_on(before: str, line: str, width: int) -> bool:
    """Whether a sentence goes on in the next line; its last word or two may stand alone there."""
    first = line.lstrip()[:1]
    begins = first.islower() or first.isdigit() or first in "(\"'€$" or wide(first)
    if not begins or _ENDS.search(before[-3:]) or is_row(before) or _HEADING.match(line):
        return False
    if line.split()[0] == before.split()[0]:
        return False  # the same command once more
    short = len(line.split()) <= TAIL_WORDS and ":" not in line
    tail = short and len(before.split()) >= SENTENCE_WORDS
    return width_of(before) >= (width // 2 if tail else width)


def _told(lines: Sequence[str], owner: Owner | None, document: bool) -> Iterator[Piece]:
    text = undressed(one_line(" ".join(lines)))
    empty = EMPTY_KEY.match(text) and not ITEM.match(text)
    if wordless(text) or _FENCE.match(text) or empty:
        return
    form = Form.RULE if document or (owner and ITEM.match(lines[0])) else Form.LINE
    before = ""
    for part in fitted(text):
        # The rest of an enumeration must not look like all of it.
        torn = before and not _ENDS.search(before[-3:])
        if not wordless(part):
            yield Piece(f"... {part}" if torn else part, form, owner)
        before = part
