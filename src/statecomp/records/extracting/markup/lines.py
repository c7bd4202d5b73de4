"""What elements become: lines in the forms that a plain text has for them.

A line is the smallest element that holds a thing whole, so a price stays with what it is of.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import takewhile, zip_longest
from typing import NamedTuple

from statecomp.records.extracting.pieces import LONGEST, clipped

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
    FIELD = auto()  # of a form
    ITEM = auto()
    ROW = auto()
    TITLE = auto()
    VERBATIM = auto()
    TERM = auto()
    CHOICE = auto()
    CHOSEN = auto()
    END = auto()  # of what a title is of


JOINED = frozenset({Sort.WORDS, Sort.PARAGRAPH, Sort.THING, Sort.FIELD})
"""Lines that one line may hold several of."""
_ENTRIES = frozenset({Sort.WORDS, Sort.THING, Sort.FIELD, Sort.ITEM})
MARKED = re.compile(r"\s*(?:- |\d{1,3}\. )")


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


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell of a table, and the columns and rows it takes."""

    text: str
    header: bool = False
    columns: int = 1
    rows: int = 1


# --- several lines as one ---


def joined(lines: Sequence[PageLine]) -> PageLine:
    """Lines as one; a short name and the value behind it as such."""
    links = {link.address: link for line in lines for link in line.links}
    if len(links) == 1 and not all(line.links for line in lines):
        lines, links = [PageLine(with_link(line), line.sort) for line in lines], {}
    if len(lines) == 2 and _names(lines[0].text, lines[1].text):
        text = f"{lines[0].text.rstrip(':')}: {lines[1].text}"
    else:
        text = in_a_line(line.text for line in lines)
    return PageLine(text, lines[0].sort, tuple(links.values()))


def in_a_line(texts: Iterable[str]) -> str:
    """Texts apart from each other, but for what a colon ends, which is of the next."""
    return "; ".join(filter(None, texts)).replace(":; ", ": ")


def with_link(line: PageLine) -> str:
    """A line with the place it leads to; of several nobody could tell which is whose."""
    addresses = {link.address: 0 for link in line.links}
    return f"{line.text}, link: {next(iter(addresses))}" if len(addresses) == 1 else line.text


def _names(name: str, value: str) -> bool:
    short = len(name.split()) <= NAME and len(value.split()) <= NAME
    return short and not any(map(str.isdigit, name)) and any(map(str.isdigit, value))


def as_thing(inside: Sequence[PageLine]) -> Sequence[PageLine]:
    """The lines of an element as one, where it holds one thing and a line holds it."""
    sorts = [line.sort for line in inside]
    whole = sum(len(line.text) for line in inside) <= LONGEST
    if whole and sorts.count(Sort.THING) < 2 and {*sorts} <= {Sort.WORDS, Sort.THING}:
        return [joined(inside)._replace(sort=Sort.THING)]
    return inside


def without_entries(inside: Sequence[PageLine]) -> list[PageLine]:
    """The lines of a menu without its entries: a word or two, or words that only lead elsewhere."""
    return [line for line in inside if line.sort not in _ENTRIES or not _is_entry(line)]


def _is_entry(line: PageLine) -> bool:
    text = MARKED.sub("", line.text, count=1)
    leading = sum(len(link.words) for link in line.links)
    return len(text.split()) < ENTRY or leading * 5 > len(text) * 4


def headed(lines: list[PageLine], things: Sequence[tuple[int, int]], above: dict[int, str]) -> None:
    """Make titles of the first lines of things side by side, where each leads to its own place."""
    firsts = [lines[start] for start, _ in things]
    if len({line.text for line in firsts}) < len(things) or not all(map(_names_itself, firsts)):
        return
    for start, _ in things:
        title = titled(lines[start].text, DEEPER, dict(above))
        lines[start] = lines[start]._replace(sort=Sort.TITLE, title=title)
    lines.insert(things[-1][1], PageLine("", Sort.END))


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
    """Cells of a table that places things on a page."""
    text = in_a_line(cell.text for cell in cells)
    return [PageLine(text, Sort.THING)] if text else []


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
        row += [PageCell(cell.text, cell.header), *[further] * (cell.columns - 1)]
        if cell.rows > 1:
            above[first] = PageCell(cell.text, cell.header, cell.columns, cell.rows - 1)
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
        yield from (PageLine(_named(row), Sort.THING) for row in filled)


def _bars(row: Sequence[str], columns: int) -> str:
    texts = [text.replace("|", "/") for text in row]
    texts = [*texts[: columns - 1], in_a_line(texts[columns - 1 :])]
    return f"| {' | '.join((*texts, *[''] * (columns - len(texts))))} |"


def _named(row: Sequence[PageCell]) -> str:
    """A row without a header, its first cell as the name of the second where it says so."""
    texts = [cell.text for cell in row if cell.text]
    if len(texts) == 2 and row[0].header:
        texts[0] = f"{texts[0].rstrip(':')}:"
    return in_a_line(texts)


# --- as text ---


def titled(title: str, level: int, above: dict[int, str]) -> str:
    """A title with the one it stands below, but for that of the page; noted in `above`."""
    for deeper in [known for known in above if known >= level]:
        del above[deeper]
    outer = above[max(above)] if max(above, default=1) > 1 else ""
    above[level] = title = clipped(title, TITLE)
    return f"{outer}; {title}" if outer and len(outer) + len(title) < TITLE else title


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
            yield from (f"link: {address}" for address in {link.address: 0 for link in line.links})
        elif line.sort is Sort.VERBATIM and "\n" in line.text:
            yield from ("```", *line.text.split("\n"), "```")
        elif not ended:
            yield from _leading(line)


def _leading(line: PageLine) -> Iterator[str]:
    """A line, behind it where it leads; or below it, where each of several words of it lead."""
    known = {link.address: link for link in line.links if link.address not in line.text}
    links = list(known.values())
    linked = sum(len(link.words) for link in links)
    if len(links) == 1 and (len(line.text) <= SHORT or linked * 2 > len(line.text)):
        yield f"{line.text.rstrip('.')}, link: {links[0].address}"
        return
    if linked * 5 < len(line.text) * 4:
        yield line.text
    yield from (f"{link.words}, link: {link.address}" for link in links)
