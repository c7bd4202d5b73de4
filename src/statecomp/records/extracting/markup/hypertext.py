"""A page as what it says: titles, items, rows, fields with what they hold, words that lead on.

Attributes, programs and styles say nothing, and an entry of a menu little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import starmap
from typing import NamedTuple

from statecomp.history.text import identifiers
from statecomp.records.extracting.markup import elements, lines
from statecomp.records.extracting.markup.lines import Link, PageCell, PageLine, Sort, Titles
from statecomp.records.extracting.markup.tags import COMMENT, DRESS, Tag, tags_of
from statecomp.records.extracting.pieces import LONGEST, one_line, wordless

THINGS = 3
"""Elements side by side that may each begin with what it is called."""
DEEPEST = 100
"""Elements inside elements; what is deeper is read as part of the one around it."""
WHOLE = 2_000
"""Characters of a cell."""
PROGRAMS, REMARKS = 8, 3
"""Programs and comments of a page that are told; of more none says anything."""
TOKEN = 40
"""Characters of what a hidden field holds; a longer one holds for one visit."""
BARE = ("", "")
"""What stands around the words of most elements."""
_GAP = re.compile(r"\n[ \t]*\n")
_CHOSEN = re.compile(r"\bselected\b")


class PageText(str):
    """What a page says: each line stands for itself, and none goes on in the next."""

    __slots__ = ()


class Page(NamedTuple):
    """A page as what it says, and its title."""

    title: str
    text: PageText


@dataclass(slots=True)
class _Frame:
    """An open element: where its lines begin, and what it gathers of its own.

    `things` are the places of elements in it that several lines tell.
    """

    name: str
    start: int
    given: Mapping[str, str]
    above: Titles
    cells: list[PageCell] = field(default_factory=list)
    rows: list[Sequence[PageCell]] = field(default_factory=list)
    reaching: dict[int, PageCell] = field(default_factory=dict)
    things: list[tuple[int, int]] = field(default_factory=list)
    layout: bool = False
    items: int = 0


def page_of(text: str, *, folded: bool = True, linked: bool = True) -> Page:
    """What a page says; not `folded` where lines between its elements stand as they are.

    Where it is not `linked`, its words alone.
    """
    reader = _PageReader(folded, linked)
    for tag in tags_of(text):
        reader.read(tag)
    return reader.page()


class _PageReader:
    """Reads one page from its first tag to its last."""

    def __init__(self, folded: bool, linked: bool) -> None:
        self._folded, self._leads = folded, linked
        self._lines: list[PageLine] = []
        self._frames: list[_Frame] = []
        self._words: list[str] = []
        self._links: list[Link] = []
        self._address, self._linked = "", 0
        self._sort, self._around, self._level = Sort.WORDS, BARE, 0
        self._apart = False
        self._verbatim = 0
        self._unseen, self._inside = "", 0
        self._title = ""
        self._above: Titles = []
        self._programs: dict[str, None] = {}
        self._remarks: dict[str, None] = {}

    def read(self, tag: Tag) -> None:
        if self._unseen:
            self._pass_over(tag)
        elif not tag.name:
            self._say(tag.text)
        elif tag.name == COMMENT:
            self._remark(one_line(tag.text))
        elif tag.ends:
            self._end(tag.name)
        elif tag.name in elements.UNSEEN:
            self._begin_unseen(tag)
        elif tag.name not in elements.NOTHING:
            self._begin(tag)

    def page(self) -> Page:
        self._flush()
        self._close(0)
        if self._above:
            self._lines.append(lines.END)
        several = len(self._remarks) > REMARKS
        told = [f"comment in the page: {words}" for words in self._remarks if not several]
        if 0 < len(self._programs) <= PROGRAMS:
            told.append(f"programs of the page: {', '.join(self._programs)}")
        self._lines += (PageLine(text, Sort.FIELD) for text in told)
        return Page(self._title, PageText("\n".join(lines.written(self._lines)).strip()))

    # --- words ---

    def _say(self, text: str) -> None:
        if self._folded or self._verbatim or "\n" not in text:
            self._add(text)
            return
        first, *others = _GAP.split(text) if self._frames else text.split("\n")
        self._add(first)
        for line in others:
            self._flush()
            self._add(line)

    def _add(self, text: str) -> None:
        """Words that follow; two elements side by side are two, though nothing stands between."""
        if not text:
            return
        before = self._words[-1][-1:] if self._words else ""
        if self._apart and before.isalnum() and (text[0].isalnum() or text[0] in "$€£(#"):
            self._words.append(" ")
        self._apart = False
        self._words.append(text)

    def _flush(self) -> None:
        """Ends the line; what is open goes on in the next."""
        words, self._words = self._words, []
        text = "".join(words)
        text = text.strip("\n") if self._verbatim else one_line(text)
        self._link("".join(words[self._linked :]))
        links, self._links, self._linked, self._apart = tuple(self._links), [], 0, False
        if text.strip():
            title = lines.titled(text, self._level, self._above) if self._sort is Sort.TITLE else ""
            self._lines.append(PageLine(text.join(self._around), self._sort, links, title))

    def _link(self, words: str) -> None:
        told = one_line(words) if self._address else ""
        if not wordless(told):
            self._links.append(Link(told, self._address))

    def _remark(self, words: str) -> None:
        """A comment that names a place or an id: nobody is shown it, and some look for it."""
        told = len(words) <= LONGEST and "<" not in words
        if told and any(starmap(elements.is_place, identifiers(words).items())):
            self._remarks[words] = None

    # --- where elements begin ---

    def _begin_unseen(self, tag: Tag) -> None:
        program = tag.asked().get("src", "") if tag.name == "script" else ""
        if program and "//" not in program:
            self._programs[program] = None
        if tag.name == "script" or not tag.alone:
            self._unseen, self._inside = tag.name, 1

    def _pass_over(self, tag: Tag) -> None:
        if tag.name == self._unseen and not tag.alone:
            self._inside += -1 if tag.ends else 1
            self._unseen = self._unseen if self._inside else ""

    def _begin(self, tag: Tag) -> None:
        name = tag.name
        if name in elements.BLOCKS or name in elements.BREAKS:
            self._flush()
            self._end_implied(name)
        if name in elements.BLOCKS:
            self._begin_block(tag)
        elif name in elements.SORTS:
            self._begin_line(tag)
        elif name == "a":
            self._address = elements.address_of(tag.asked().get("href", "")) if self._leads else ""
            self._linked, self._apart = len(self._words), True
        elif name == "input":
            self._input(tag.asked())
        elif name == "img":
            words = tag.asked().get("alt", "")
            if len(words.split()) >= lines.ENTRY or (
                self._address and len(self._words) == self._linked
            ):
                self._add(f" {words} ")
        elif name not in elements.BREAKS and name not in DRESS:
            self._apart = True

    def _begin_block(self, tag: Tag) -> None:
        if self._sort in (Sort.PARAGRAPH, Sort.TERM):
            self._sort = Sort.WORDS  # what has no end of its own ends here
        given = tag.asked() if tag.name in elements.ASKED or "role=" in tag.given else {}
        if tag.name == "form" and (action := given.get("action")):
            method = given.get("method", "get").upper()
            self._lines.append(PageLine(f"form, sent by {method} to {action}", Sort.FIELD))
        if len(self._frames) < DEEPEST and not tag.alone:
            self._frames.append(_Frame(tag.name, len(self._lines), given, list(self._above)))

    def _begin_line(self, tag: Tag) -> None:
        self._sort, self._around = elements.SORTS[tag.name], BARE
        if self._sort is Sort.TITLE:
            self._level = int(tag.name[1])
        elif self._sort is Sort.VERBATIM:
            self._verbatim += 1
        elif self._sort is Sort.CHOICE and _CHOSEN.search(tag.given):
            self._sort = Sort.CHOSEN
        elif tag.name == "button":
            self._around = 'button "', '"'
        elif tag.name == "textarea":
            self._around = f"textbox {elements.name_of(tag.asked())}: ", ""

    def _input(self, given: Mapping[str, str]) -> None:
        self._flush()
        if told := _field(given):
            told = f"{told} (checked)" if "checked" in given else told
            self._lines.append(PageLine(told, Sort.FIELD))

    # --- where elements end ---

    def _end(self, name: str) -> None:
        if name in elements.BLOCKS:
            places = [place for place, one in enumerate(self._frames) if one.name == name]
            self._flush()
            self._close(places[-1] if places else len(self._frames))
        elif name == "title":
            words, self._words = self._words, []
            self._title = self._title or one_line("".join(words))
        elif name in elements.BREAKS:
            self._flush()
            self._sort, self._around = Sort.WORDS, BARE
            self._verbatim -= name == "pre" and self._verbatim > 0
        elif name == "a":
            self._link("".join(self._words[self._linked :]))
            self._address, self._apart = "", True
        elif name not in DRESS:
            self._apart = True

    def _end_implied(self, name: str) -> None:
        ended, bounds = elements.ENDED.get(name, (frozenset[str](), frozenset[str]()))
        for place in range(len(self._frames) - 1, -1, -1) if ended else ():
            if self._frames[place].name in ended:
                self._close(place)
                return
            if self._frames[place].name in bounds:
                return

    def _close(self, place: int) -> None:
        """Ends the elements from a place on: what each holds becomes a line, or a few."""
        while len(self._frames) > place:
            frame = self._frames.pop()
            self._sort, self._around = Sort.WORDS, BARE
            if frame.name in elements.SECTIONS and frame.above != self._above:
                self._above = list(frame.above)
                self._lines.append(lines.END)
            if len(frame.things) >= THINGS and frame.name not in elements.MENUS:
                lines.headed(self._lines, frame.things, self._above)
            if frame.name == "tr":
                self._row(frame)
            elif frame.name == "table":
                self._lines += lines.table(frame.rows)
            elif frame.name == "dd":
                self._described(frame.start)
            elif frame.name in ("td", "th"):
                self._cell(frame)
            elif made := self._made(frame):
                self._lines[frame.start :] = made(self._lines[frame.start :])
            if self._frames and len(self._lines) > frame.start + 1:
                self._frames[-1].things.append((frame.start, len(self._lines)))

    def _made(self, frame: _Frame) -> Callable[[Sequence[PageLine]], Sequence[PageLine]] | None:
        """What becomes of the lines of an element; nothing where they stay as they are."""
        if frame.name in elements.MENUS or frame.given.get("role") in elements.MENU_ROLES:
            return lines.without_entries
        if frame.name == "li":
            return self._item
        if frame.name == "select":
            return partial(lines.choice, name=elements.name_of(frame.given))
        return lines.as_thing if 1 < len(self._lines) - frame.start <= lines.PARTS else None

    def _item(self, inside: Sequence[PageLine]) -> Sequence[PageLine]:
        """An item of a list, with what stands in it before the next list or table."""
        lists = [frame for frame in self._frames if frame.name in elements.LISTS]
        numbered = bool(lists) and lists[-1].name == "ol"
        if numbered:
            lists[-1].items += 1
        stop = next(
            (n for n, line in enumerate(inside) if line.sort not in lines.JOINED), len(inside)
        )
        if not stop:
            return inside
        mark = f"{lists[-1].items}. " if numbered else "- "
        return [*lines.as_item(inside[:stop], f"{'  ' * (len(lists) - 1)}{mark}"), *inside[stop:]]

    def _described(self, start: int) -> None:
        """What a term of a list of terms means, behind the term."""
        term, *inside = self._lines[max(0, start - 1) :] or [PageLine("")]
        if term.sort is Sort.TERM and inside and all(line.sort in lines.JOINED for line in inside):
            line = lines.joined(inside)
            text = f"{term.text.rstrip(':')}: {line.text}"
            self._lines[start - 1 :] = [PageLine(text, Sort.PAIR, (*term.links, *line.links))]

    def _cell(self, frame: _Frame) -> None:
        row = next((one for one in reversed(self._frames) if one.name in elements.ROWS), None)
        if row is None or row.name != "tr":
            return
        inside = self._lines[frame.start :]
        small = len(inside) <= lines.PARTS and sum(len(line.text) for line in inside) <= WHOLE
        if not small or not {line.sort for line in inside} <= lines.JOINED | {Sort.ITEM}:
            # A table that places things on a page: they stand one below the other.
            row.layout = True
            self._lines[frame.start : frame.start] = lines.run(row.cells)
            row.cells = []
            return
        del self._lines[frame.start :]
        told = [line._replace(text=lines.MARKED.sub("", line.text, count=1)) for line in inside]
        text = lines.with_link(lines.joined(told)) if told else ""
        columns, rows = (
            elements.span_of(frame.given.get(key, "")) for key in ("colspan", "rowspan")
        )
        row.cells.append(PageCell(text, frame.name == "th", columns, rows, tuple(told)))

    def _row(self, frame: _Frame) -> None:
        whole = next((one for one in reversed(self._frames) if one.name == "table"), None)
        if whole is None or frame.layout:
            self._lines += lines.run(frame.cells)
            if whole:
                self._lines[frame.start : frame.start] = lines.table(whole.rows)
                whole.rows = []
        elif frame.cells:
            whole.rows.append(lines.placed(frame.cells, whole.reaching))


def _field(given: Mapping[str, str]) -> str:
    """A field of a form with what it holds; nothing where it has neither name nor value."""
    kind, name, value = (
        given.get("type", "text").lower(),
        elements.name_of(given),
        given.get("value", ""),
    )
    if kind in ("submit", "button", "image", "reset"):
        return f'button "{value}"' if value else ""
    if kind in ("checkbox", "radio"):
        value = "" if name else value  # what is sent where it is chosen
    elif kind not in ("hidden", "file", "password"):
        kind = "textbox"
    if kind == "hidden" and len(value) > TOKEN:
        value = "..."
    return ": ".join(filter(None, (f"{kind} {name}".strip(), value))) if name or value else ""
