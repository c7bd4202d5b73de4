"""What elements become: lines in the forms that a plain text has for them.

A line is the smallest element that holds a thing whole, so a price stays with what it is of.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import takewhile, zip_longest
from typing import NamedTuple, TypeAlias

from statecomp.records.extracting.pieces import LONGEST
from statecomp.records.extracting.reading.nesting import ended

PARTS = 6
"""Elements that a thing is told on one line of."""
NAME = 4
"""Words of what may be the name of the value behind it."""
ENTRY = 4
"""Words that an entry of a menu has fewer of."""
CHOICES = 8
"""Choices of a list that are told; of more nobody reads all."""
SHORT = 120
"""Characters of a line that an address may stand behind, though few of its words lead there."""
DEEPER = 7
"""The level of the title of a thing, which stands below all others."""
TITLE, CUT, RULE = 140, " ...", "-" * 12
"""Characters of a title, what ends one that is longer, and what ends the part that it is of."""


class Sort(Enum):
    """What a line is, which says what may stand on one line with it."""

    WORDS = auto()
    PARAGRAPH = auto()
    THING = auto()  # several words of one element
    PAIR = auto()  # a name and its value
    FIELD = auto()  # of a form
    ITEM = auto()
    ROW = auto()
    TITLE = auto()
    VERBATIM = auto()
    TERM = auto()
    CHOICE = auto()
    CHOSEN = auto()
    END = auto()  # of what a title is of


_THINGS = frozenset({Sort.THING, Sort.PAIR})
JOINED = _THINGS | {Sort.WORDS, Sort.PARAGRAPH, Sort.FIELD}
"""Lines that one line may hold several of."""
_ENTRIES = _THINGS | {Sort.WORDS, Sort.FIELD, Sort.ITEM}
MARKED = re.compile(r"\s*(?:- |\d{1,3}\. )")


Titles: TypeAlias = list[tuple[int, str]]
"""The titles that a line stands below, each with its level."""


class Link(NamedTuple):
    """Words of a line, and where they lead."""

    words: str
    address: str


class PageLine(NamedTuple):
    """A line of a page; `title` is what a title is told as, below the one it stands under."""

    text: str
    sort: Sort = Sort.WORDS
    links: tuple[Link, ...] = ()
    title: str = ""


END = PageLine("", Sort.END)


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell of a table, and the columns and rows it takes."""

    text: str
    header: bool = False
    columns: int = 1
    rows: int = 1
    lines: tuple[PageLine, ...] = ()


# --- several lines as one ---


def joined(lines: Sequence[PageLine]) -> PageLine:
    """Lines as one; a short name and the value behind it as such."""
    links = leading(lines)
    if len(links) == 1 and not all(line.links for line in lines):
        lines, links = [PageLine(with_link(line), line.sort) for line in lines], {}
    if len(lines) == 2 and _names(lines[0].text, lines[1].text):
        text, sort = f"{lines[0].text.rstrip(':')}: {lines[1].text}", Sort.PAIR
    else:
        text, sort = in_a_line(line.text for line in lines), Sort.THING
    return PageLine(text, sort if len(lines) > 1 else lines[0].sort, tuple(links.values()))


def leading(lines: Iterable[PageLine]) -> dict[str, Link]:
    """Where the words of some lines lead, by address."""
    found: dict[str, list[str]] = {}
    for link in (link for line in lines for link in line.links):
        found.setdefault(link.address, []).append(link.words)
    return {address: Link("; ".join(words), address) for address, words in found.items()}


def in_a_line(texts: Iterable[str]) -> str:
    """Texts apart from each other, but for what a colon ends, which is of the next."""
    return "; ".join(filter(None, texts)).replace(":; ", ": ")


def with_link(line: PageLine) -> str:
    """A line with the place it leads to; of several nobody could tell which is whose."""
    addresses = list(leading([line]))
    return f"{line.text}, link: {addresses[0]}" if len(addresses) == 1 else line.text


def _names(name: str, value: str) -> bool:
    short = len(name.split()) <= NAME and len(value.split()) <= NAME
    return short and not any(map(str.isdigit, name)) and any(map(str.isdigit, value))


def as_thing(inside: Sequence[PageLine]) -> Sequence[PageLine]:
    """The lines of an element as one, where it holds one thing and a line holds it."""
    things = [line.sort in _THINGS for line in inside]
    if sum(things) < 2 and {line.sort for line in inside} <= _THINGS | {Sort.WORDS}:
        whole = joined(inside)
        return [whole] if len(whole.text) < LONGEST else inside
    return inside


def without_entries(inside: Sequence[PageLine]) -> list[PageLine]:
    """The lines of a menu without its entries: a word or two, or words that only lead elsewhere."""
    left = (line for line in inside if line.sort not in _ENTRIES or not _is_entry(line))
    return [line._replace(text=line.text.lstrip()) for line in left]


def _is_entry(line: PageLine) -> bool:
    text = MARKED.sub("", line.text, count=1)
    linked = sum(len(link.words) for link in line.links)
    return len(text.split()) < ENTRY or linked * 5 > len(text) * 4


def headed(lines: list[PageLine], things: Sequence[tuple[int, int]], above: Titles) -> None:
    """Make titles of the first lines of things side by side, where each leads to its own place."""
    firsts = [lines[start] for start, _ in things]
    if len({line.text for line in firsts}) < len(things) or not all(map(_names_itself, firsts)):
        return
    for start, _ in things:
        title = titled(lines[start].text, DEEPER, list(above))
        lines[start] = lines[start]._replace(sort=Sort.TITLE, title=title)
    lines.insert(things[-1][1], END)


def _names_itself(line: PageLine) -> bool:
    linked = sum(len(link.words) for link in line.links[:1])
    return line.sort in JOINED and len(line.text) <= LONGEST and linked * 5 >= len(line.text) * 4


def choice(inside: Sequence[PageLine], name: str) -> list[PageLine]:
    """A list to choose from: what is chosen, and what else there is where that is little."""
    chosen = next((line.text for line in inside if line.sort is Sort.CHOSEN), "")
    several = len(inside) > CHOICES
    told = f"{len(inside)} choices" if several else ", ".join(line.text for line in inside)
    text = f"{chosen} (of {told})" if chosen else f"none chosen of {told}"
    return [PageLine(f"{f'choice {name}'.strip()}: {text}", Sort.FIELD)] if inside else []


# --- tables ---


def run(cells: Iterable[PageCell]) -> list[PageLine]:
    """Cells without a header as one thing."""
    lines = [line for cell in cells for line in cell.lines]
    return as_item(lines, "") if lines else []


def as_item(lines: Sequence[PageLine], mark: str) -> list[PageLine]:
    """Lines as one thing behind its mark; below what begins them where a line is too short."""
    whole, first = joined(lines), lines[0]
    if len(whole.text) >= LONGEST and len(lines) > 1 and len(first.text) <= TITLE:
        return [first._replace(sort=Sort.TITLE, title=first.text), *lines[1:], END]
    text, sort = (f"{mark}{whole.text}", Sort.ITEM) if mark else (whole.text, Sort.THING)
    return [whole._replace(text=text, sort=sort)]


def placed(cells: Sequence[PageCell], above: dict[int, PageCell]) -> list[PageCell]:
    """A row with each cell in its column; those that reach on stay in `above`, by column."""
    row: list[PageCell] = []
    waiting = deque(cells)
    while waiting or len(row) in above:
        reaches = above.pop(len(row), None)
        cell = reaches or waiting.popleft()
        first = len(row)
        # A header is that of all columns it takes; a value stands in the first.
        further = PageCell(cell.text if cell.header else "", cell.header)
        row += [cell, *[further] * (cell.columns - 1)]
        if cell.rows > 1:
            above[first] = replace(cell, rows=cell.rows - 1)
    return row


def table(rows: Sequence[Sequence[PageCell]]) -> Iterator[PageLine]:
    """The rows below their header; of one row, or without a header, each cell with what it is."""
    filled = [row for row in rows if any(cell.text for cell in row)]
    titles = list(takewhile(lambda row: all(cell.header for cell in row), filled))
    others = filled[len(titles) :]
    columns = list(zip_longest(*titles, fillvalue=PageCell("")))
    header = [" ".join(dict.fromkeys(one.text for one in column)).strip() for column in columns]
    if len(header) > 1 and len(others) > 1:
        yield PageLine(_bars(header, len(header)), Sort.ROW)
        yield PageLine("|" + " --- |" * len(header), Sort.ROW)
        told = ([cell.text for cell in row] for row in others)
        yield from (PageLine(_bars(texts, len(header)), Sort.ROW) for texts in told)
    elif len(header) > 1 and others:
        pairs = zip(header, others[0], strict=False)
        named = (": ".join(filter(None, (a, b.text))) for a, b in pairs if b.text)
        yield PageLine("; ".join(named), Sort.ROW)
    else:
        for row in filled:
            yield from _headless(row)


def _bars(row: Sequence[str], columns: int) -> str:
    texts = [text.replace("|", "/") for text in row]
    texts = [*texts[: columns - 1], in_a_line(texts[columns - 1 :])]
    return f"| {' | '.join((*texts, *[''] * (columns - len(texts))))} |"


def _headless(row: Sequence[PageCell]) -> list[PageLine]:
    """A row without a header, its first cell as the name of the second where it says so."""
    told = [cell for cell in row if cell.text]
    if len(told) == 2 and row[0].header:
        return [PageLine(f"{told[0].text.rstrip(':')}: {told[1].text}", Sort.PAIR)]
    return run(row)


# --- as text ---


def titled(title: str, level: int, above: Titles) -> str:
    """A title with the one it stands below, but for that of the page; noted in `above`."""
    ended(above, level)
    outer_level, outer = above[-1] if above else (0, "")
    title = _cut(title)
    above.append((level, title))
    return f"{outer}; {title}" if outer_level > 1 and len(outer) + len(title) < TITLE else title


def _cut(title: str) -> str:
    """A title, or as many of its words as one has room for."""
    return title if len(title) <= TITLE else f"{title[:TITLE].rpartition(' ')[0]}{CUT}"


def written(lines: Iterable[PageLine]) -> Iterator[str]:
    """The lines as a plain text has them, each with where it leads."""
    ended = False
    for line in lines:
        if ended and line.sort not in (Sort.TITLE, Sort.END):
            yield from ("", RULE)
        ended = line.sort is Sort.END
        if line.sort is Sort.TITLE:
            yield from ("", f"== {line.title} ==")
            if line.title.endswith(CUT):
                yield line.text
            links = leading([line])
            single = (f"link: {address}" for address in links)
            several = (f"{link.words}, link: {link.address}" for link in links.values())
            yield from single if len(links) == 1 else several
        elif line.sort is Sort.VERBATIM and "\n" in line.text:
            yield from ("```", *line.text.split("\n"), "```")
        elif line.sort is Sort.THING:
            yield from _placed_behind(line._replace(text=f"- {line.text}"))
        elif not ended:
            yield from _placed_behind(line)


def _placed_behind(line: PageLine) -> Iterator[str]:
    """A line, behind it where it leads; or below it, where each of several words of it lead."""
    links = [link for link in leading([line]).values() if link.address not in line.text]
    linked = sum(len(link.words) for link in links)
    if len(links) == 1 and (len(line.text) <= SHORT or linked * 2 > len(line.text)):
        yield f"{line.text.rstrip('.')}, link: {links[0].address}"
        return
    if linked * 5 < len(line.text) * 4:
        yield line.text
    yield from (f"{link.words}, link: {link.address}" for link in links)
