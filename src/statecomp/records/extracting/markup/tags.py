"""Tags and the texts between them, from first to last in one go: what is torn ends somewhere."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from statecomp.history.windows import substituted

ATTRIBUTES = 8_000
"""Characters of a tag that are asked for what it gives."""
LINE = 400
"""Characters of a line that a tool may add to what it cut."""
COMMENT = "!"
"""The name of a comment, which nobody is shown."""
_DRESS = (
    "abbr|b|bdi|bdo|big|cite|code|em|font|i|ins|kbd|mark|q|s|samp|small|strong|sub|sup|tt|u|var|wbr"
)
DRESS = frozenset(_DRESS.split("|"))
"""Elements that only dress what stands in them: a word goes on behind their tags."""
_SHOWN = (
    "a|article|blockquote|body|br|button|center|dd|dl|dt|div|figure|footer|form|h[1-6]|hr|iframe|"
    "img|input|label|li|nav|ol|option|p|section|select|span|table|tbody|td|tfoot|th|thead|tr|ul"
)
KNOWN = re.compile(rf"</?({_DRESS}|{_SHOWN})(?=[\s/>])[^<>]*>", re.IGNORECASE)
"""A tag of a page, and of nothing else that stands between such brackets."""

_TAG = re.compile(
    # A quotation or a comment runs to its end or to that of the text: none is ever begun twice.
    r"<!--(?P<comment>.*?)(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<[!?][^>]*(?:>|\Z)|"
    r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]{0,80})(?=[\s/>=]|\Z)"
    r"""(?P<given>[^>=]*(?:=\s*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))?[^>=]*){0,200}[^>]*)(?:>|\Z)""",
    re.DOTALL,
)
TORN = re.compile(r"""[^<>\n]{0,2000}["'/]>""")
"""The end of a tag that a text begins in the middle of."""
_GIVEN = re.compile(
    r"""([A-Za-z@:_][^\s"'<>/=]{0,60})"""
    r"""(?:\s{0,20}=\s{0,20}(?:"([^"]*)"?|'([^']*)'?|([^\s"'>]+)))?"""
)
_ALONE = re.compile(r"""(?:\A|[\s"'])/\Z""")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});?")
_ENDS = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style")}


class Tag(NamedTuple):
    """A tag, or the text between two: then it has no name."""

    name: str = ""
    text: str = ""
    given: str = ""
    ends: bool = False

    @property
    def alone(self) -> bool:
        return _ALONE.search(self.given[-2:]) is not None

    def asked(self) -> Mapping[str, str]:
        """What the tag gives, by name."""
        found = _GIVEN.finditer(self.given[:ATTRIBUTES]) if self.given else ()
        values = ((one[1].lower(), one[2] or one[3] or one[4] or "") for one in found)
        return {name: unescaped(value).strip() for name, value in values}


def tags_of(text: str) -> Iterator[Tag]:
    """Tags and texts in the order they stand in; of programs and styles the tag alone."""
    torn = TORN.match(text)
    place = torn.end() if torn else 0
    while (found := _TAG.search(text, place)) is not None:
        if found.start() > place:
            yield Tag(text=unescaped(text[place : found.start()]))
        place = found.end()
        if found["name"]:
            name = found["name"].lower()
            yield Tag(name, given=found["given"], ends=bool(found["end"]))
            if name in _ENDS and not found["end"]:
                ending = _ENDS[name].search(text, place)
                place = ending.start() if ending else _last_line(text, place)
                if not ending:
                    yield Tag(name, ends=True)
        elif found["data"]:
            yield Tag(text=found["data"])
        elif found["comment"]:
            yield Tag(COMMENT, text=found["comment"])
    if place < len(text):
        yield Tag(text=unescaped(text[place:]))


def _last_line(text: str, place: int) -> int:
    """Where the last line of a program that nothing ends begins: a tool may have added it."""
    begin = text.rfind("\n", place, len(text.rstrip())) + 1
    return begin if begin > place and len(text) - begin <= LINE else len(text)


def unescaped(text: str) -> str:
    """A text with its entities as the characters they stand for."""
    return substituted(_ENTITY, _character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    return html.unescape(entity[0]).replace("\xa0", " ")


def undressed(text: str) -> str:
    """What a text with tags of pages in it says; words of two elements stand apart."""
    if "</" not in text:
        return ""
    return unescaped(substituted(KNOWN, lambda tag: "" if tag[1].lower() in DRESS else " | ", text))
