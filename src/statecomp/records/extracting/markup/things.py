"""Documents of things, as objects; and words with tags among the values of data."""

from __future__ import annotations

from collections.abc import Mapping

from statecomp.records.extracting.decode import Json
from statecomp.records.extracting.markup.hypertext import page_of
from statecomp.records.extracting.markup.kinds import SHORT, is_dressed
from statecomp.records.extracting.markup.lines import in_a_line
from statecomp.records.extracting.markup.tags import COMMENT, tags_of

DEEPEST = 100
"""Elements inside elements; what is deeper is read as part of the one around it."""
_DECLARES = ("xmlns", "xsi:schemalocation")


class _Thing:
    """An element while it is read: its parts by name, and its words."""

    __slots__ = ("inside", "name", "words")

    def __init__(self, name: str, given: Mapping[str, str]) -> None:
        self.name = name
        self.inside: dict[str, list[Json]] = {}
        self.words: list[str] = []
        for key, value in given.items():
            if value and not key.startswith(_DECLARES):
                self.holds(key, value)

    def holds(self, name: str, value: Json) -> None:
        if value != "":
            self.inside.setdefault(name.rpartition(":")[2], []).append(value)

    def value(self) -> Json:
        """Its words, or its parts by name: those that come again as a list."""
        text = " ".join("".join(self.words).split())
        if not self.inside:
            return text
        self.holds("text", text)
        return {key: one[0] if len(one) == 1 else one for key, one in self.inside.items()}


def things_of(text: str) -> Json:
    """What a document of things holds; what was cut off at its end is as if it ended there."""
    open_ones = [_Thing("", {})]
    for tag in tags_of(text):
        if not tag.name:
            open_ones[-1].words.append(tag.text)
        elif tag.ends:
            names = [thing.name for thing in open_ones[1:]]
            if tag.name in names:
                _close(open_ones, len(names) - names[::-1].index(tag.name))
        elif tag.name != COMMENT and len(open_ones) <= DEEPEST:
            open_ones.append(_Thing(tag.name, tag.asked()))
            if tag.alone:
                _close(open_ones, len(open_ones) - 1)
    _close(open_ones, 1)
    return open_ones[0].value()


def _close(open_ones: list[_Thing], place: int) -> None:
    """Ends the elements from a place on."""
    while len(open_ones) > place:
        thing = open_ones.pop()
        open_ones[-1].holds(thing.name, thing.value())


def in_values(data: Json, depth: int = DEEPEST) -> Json:
    """Data whose values with tags among their words are told as what they say."""
    if isinstance(data, str):
        if not is_dressed(data):
            return data
        if len(data) > SHORT:
            return page_of(data, folded=False).text
        # Where the words of a name lead, other values say.
        return in_a_line(page_of(data, folded=False, linked=False).text.split("\n"))
    if depth and isinstance(data, dict):
        return {key: in_values(value, depth - 1) for key, value in data.items()}
    if depth and isinstance(data, list):
        return [in_values(value, depth - 1) for value in data]
    return data
