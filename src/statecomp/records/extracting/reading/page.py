"""Pages as agents are shown them, each element with a mark to click on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from statecomp.history.guarded import Guarded
from statecomp.records.extracting.pieces import one_line, shortened, wordless

MARKS = 5
"""Marked elements that make a page."""
FIRST = 3
"""Elements below one that holds them, of which one is the first with words."""
LINES = 16
"""Lines of one element."""

_MARKED = re.compile(r"\s*(?:- )?\[\d+\]\s?<")
_TAGGED = re.compile(r"\s*(?:_|[A-Z]\d{1,4})\[:\]")
"""The mark of another kind of page, before each element and each text."""
_TAGS_END = re.compile(r"\s*(?:\Z|\.\.\. |\[|#)")
_TAG = re.compile(r"<[^<>]*>")
_SHOWN = re.compile(r'(?:aria_label|placeholder|alt|value|title)="([^"]{2,200})"')
_LEADS = re.compile(r'<a\b[^<>]*?href="([^"]{1,300})"')
_OPENS = re.compile(r"\s*(?:- )?\[\d+\]\s?<\w+ ?(?!.*>\s*\Z)")


def is_page(lines: Sequence[str]) -> bool:
    """Whether the lines are those of a page with its elements marked."""
    marked = (line for line in lines if "[" in line)  # quickly seen; few lines are asked further
    return sum(1 for line in marked if _MARKED.match(line[:40]) or _TAGGED.match(line)) >= MARKS


def elements(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with an element of several on one: an offer with its place, grade and price.

    Its mark holds for the next click only, and is left out.
    """
    told = list(_labelled(list(_enumerated(list(_elements(_named(lines)))))))
    for place, line in enumerate(told):
        inside = told[place + 1 : place + 1 + FIRST]
        # What holds others is told by them.
        if not any(len(part) > 3 and part in line and part != line for part in inside):
            yield line


_INLINE = re.compile(r"\s*(?:\[\d+\]\s?<\w+ (?P<marked>[^<>=]+)/>|(?P<plain>[^\[\]<>]{1,80}))\s*\Z")


def _enumerated(told: Sequence[str]) -> Iterator[str]:
    """The elements, those with commas between them as one: the first of them is not all."""
    run: list[str] = []
    for place, line in enumerate(told):
        if run and line.strip() == ",":
            continue
        found = _INLINE.match(line)
        words = (found["marked"] or found["plain"]).strip() if found else ""
        goes_on = place > 0 and told[place - 1].strip() == "," and bool(run)
        if run and not (goes_on and words):
            yield ", ".join(run)
            run = []
        if words and (goes_on or (place + 1 < len(told) and told[place + 1].strip() == ",")):
            run.append(words)
        else:
            yield line
    if run:
        yield ", ".join(run)


def _labelled(told: Sequence[str]) -> Iterator[str]:
    """The elements, a label with what stands behind it: of a flat page it holds for no more."""
    label = ""
    for line in told:
        if label and line.strip():
            yield f"{label} {line.strip()}"
            label = ""
        elif _LABEL.match(line):
            label = line.strip()
        else:
            yield line
    if label:
        yield label


_LABEL = re.compile(r"[A-Z][\w ,-]{2,60}:\s*\Z")


_TEXT = re.compile(r"(?:\s*_\[:\])?(?P<words>[^\[\]<>]{2,60})\Z")
"""A text of a page, which is no element to click on."""
NAME_WORDS, VALUE_WORDS = 2, 4
"""Words of a text that may name the one behind it, and of one that may be its value."""


def _named(lines: Sequence[str]) -> list[str]:
    """The lines, a short text with a number behind the word or two it stood behind."""
    told: list[str] = []
    name = ""
    inside = False
    for line in lines:
        inside = bool(_OPENS.match(line)) or inside
        found = None if inside else _TEXT.match(line)
        inside = inside and not line.rstrip().endswith("/>")
        words = found["words"].strip() if found else ""
        valued = any(map(str.isdigit, words))
        if name and valued and len(words.split()) <= VALUE_WORDS:
            told[-1] = f"{told[-1].rstrip().rstrip(':')}: {words}"
            name = ""
            continue
        told.append(line)
        names = words[:1].isupper() and not valued and len(words.split()) <= NAME_WORDS
        name = words if names and not words.endswith((".", "!", "?", ",")) else ""
    return told


def _elements(lines: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        if tagged := _TAGGED.match(lines[place]):
            stop = _tag_end(lines, place + 1)
            yield _worded(" ".join((lines[place][tagged.end() :], *lines[place + 1 : stop])))
            place = stop
            continue
        opening = _OPENS.match(lines[place])
        stop = _end(lines, place + 1) if opening else 0
        if opening and stop:
            # What stands before the last bracket is what kind of element it is.
            words = lines[place][opening.end() :].rpartition(">")[2]
            parts = (words, *lines[place + 1 : stop])
            told = (one_line(part).removesuffix("/>").strip() for part in parts)
            yield ", ".join(dict.fromkeys(part for part in told if not wordless(part)))
            place = stop
        else:
            yield _undressed(lines[place])
            place += 1


_ONE_LINE = re.compile(
    r"\s*(?:- )?\[\d+\]\s?<\w+(?P<marks>[^>]*)>(?P<words>.*?)(?:/>|</\w+>)?\s*\Z"
)


def _undressed(line: str) -> str:
    """An element of one line without its mark and its tags; as it is where it has no words."""
    found = _ONE_LINE.match(line[:4000])
    words = found["words"].strip() if found else ""
    return words if len(words.split()) > 1 else line


def _end(lines: Sequence[str], start: int) -> int:
    """Behind the line that closes an element; 0 where another begins before."""
    for stop in range(start, min(start + LINES, len(lines))):
        if _MARKED.match(lines[stop]):
            return 0
        if lines[stop].rstrip().endswith("/>"):
            return stop + 1
    return 0


def _tag_end(lines: Sequence[str], start: int) -> int:
    """Behind the lines an element goes on in."""
    stop = start
    while stop < min(start + LINES, len(lines)) and not (
        _TAGGED.match(lines[stop]) or _TAGS_END.match(lines[stop])
    ):
        stop += 1
    return stop


def _worded(element: str) -> str:
    """What an element says, and where it leads if that is told in full."""
    words = one_line(_TAG.sub(" ", element))
    if not words and (shown := _SHOWN.search(element)):
        words = shown[1]
    link = _LEADS.search(element)
    whole = words and link and not link[1].endswith(("...", "…"))
    return f"{words}, link: {link[1]}" if link and whole else words


_ACTED = re.compile(r"^Action result: \W*(.*?)[\s:]*$", re.M)
ACTED = 160
"""Characters of what came of the actions on a page."""


def acted_on(text: str) -> str:
    """What came of the actions on a page: of several in one call some may not have been done."""
    if "Action result: " not in text:
        return ""
    return shortened("; ".join(dict.fromkeys(filter(None, _ACTED.findall(text)))), ACTED)


_AT = Guarded(
    r"^[-* ]{0,3}(?:Page URL|Current (?:page )?url|URL): (\S+)\s*$", needs="url: ", flags=re.M
)
_TITLED = re.compile(r"^[-* ]{0,3}(?:Page Title|Current page title): (\S.*?)\s*$", re.I | re.M)
ADDRESS, ASKED = 120, 24
"""Characters of an address, and of one thing it asks for: longer ones are marks of a visit."""
_TAB = re.compile(r"title='([^'\n]{1,200})'")


def place_of(text: str, action: str) -> str:
    """Which page an answer shows: its title, and its address where the call does not say it."""
    at = _AT.search(text)
    if not at:
        return ""
    tabs = _TAB.findall(text)
    titled = _TITLED.search(text)
    title = titled[1] if titled else tabs[0] if len(tabs) == 1 else ""
    url = "" if at[1].rstrip("/") in action else f"at {told_briefly(at[1])}"
    return ", ".join(filter(None, (f'page "{title}"' if title else "", url)))


def told_briefly(address: str) -> str:
    """An address without the long things it asks for: which page of a list it is stands last."""
    if len(address) <= ADDRESS:
        return address
    page, mark, asked = address.partition("?")
    parts = [part for part in asked.split("&") if part]
    first = list(takewhile(_is_short, parts))
    last = list(takewhile(_is_short, reversed(parts[len(first) :])))[::-1]
    told = f"{page}{mark}{'&'.join(first)}"[:ADDRESS]
    tail = f" ... &{'&'.join(last)}" if last else "..."
    if len(told) + len(tail) > ADDRESS and last:
        # Half a value reads like a whole one.
        tail = f"{tail[: max(0, ADDRESS - len(told))].rpartition('&')[0]} ..."
    return f"{told}{tail}"


def _is_short(asked: str) -> bool:
    return len(asked) <= ASKED
