"""What some text says, in the forms in which a faithful record may repeat it.

Writers join lists (`L1/L2/L3`), end folders with a slash, put a folder before a file that was named
without it, name many things by one pattern (`test_*.py`), and write numbers and dates as they are
used to.  None of that is invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from statecomp.history.facts import facts_of
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.text import COMMON, Kind, argument_text, identifier_set
from statecomp.history.windows import found as found_in
from statecomp.history.windows import substituted
from statecomp.records.extracting.unwrap import COLOUR

_SPACES = re.compile(r"\s+")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014\u00a0", "''\"\"-- ")
_CODE_POINT = re.compile(r"\\u([0-9a-fA-F]{4})")
_NOT_DIGITS = re.compile(r"[^\d.]")
_WILD = re.compile(r"\.?[*+?]+|\.\.\.|\u2026")
_CHOICE = re.compile(r"\\\{([^{}\\]{1,60})\\\}")
LEAST_LITERAL, BETWEEN = 3, 80
"""Characters a pattern must spell, and those that one of its gaps may stand for."""
_WORD = re.compile(r"\w+")
_SEPARATOR = re.compile(r"(?<=\d)[,_ ](?=\d{3})")
_NUMBER = re.compile(r"\d(?:[\d,_]*\d)?(?:\.\d+)?")
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
_SCALED = re.compile(r"(\d(?:[\d,_]*\d)?(?:\.\d+)?)([kmb])\Z", re.IGNORECASE)

_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        start=1,
    )
}
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DATES = (
    (re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)"), "ymd"),
    (re.compile(r"(?<!\d)(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)"), "either"),
    (re.compile(rf"\b{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?(?!\d)"), "Mdy"),
    (re.compile(rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)?\.? {_MONTH}\.?(?:,? (\d{{4}}))?"), "dMy"),
)


class SourceText:
    """The text of some segments, asked whether it contains what a record names."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments

    @cached_property
    def names(self) -> frozenset[str]:
        known = (facts_of(segment) for segment in self._segments)
        return COMMON.union(*(facts.own | facts.observed for facts in known))

    @cached_property
    def measures(self) -> frozenset[str]:
        """Numbers that are true of the steps though they do not spell them."""
        steps = [segment for segment in self._segments if isinstance(segment, Interaction)]
        counted = (line_count(step.observed) for step in steps)
        return frozenset(map(str, (*(step.number for step in steps), *counted)))

    @cached_property
    def text(self) -> str:
        parts: list[str] = []
        for segment in self._segments:
            parts.append(segment.text)
            if isinstance(segment, Interaction):
                parts.extend(argument_text(call.arguments) for call in segment.calls)
        joined = "\n".join(parts)
        decoded = _decoded(joined)
        # A name that is coloured letter by letter is still the name.
        bare = COLOUR.sub("", decoded) if "\x1b" in decoded else decoded
        return plain(f"{joined}\n{bare}")

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(found_in(_WORD, self.text))

    @cached_property
    def endings(self) -> frozenset[str]:
        """What follows an underscore: `le24` of `mem_get_le24`."""
        joined = (word for word in self.words if "_" in word)
        return frozenset(word[place + 1 :] for word in joined for place in _underscores(word))

    @cached_property
    def digits(self) -> str:
        """The text with the thousands separators gone."""
        return substituted(_SEPARATOR, lambda separator: "", self.text)

    @cached_property
    def numbers(self) -> frozenset[float]:
        return frozenset(map(_value, found_in(_NUMBER, self.text)))

    @cached_property
    def dates(self) -> frozenset[tuple[int, int, int]]:
        """(year, month, day); the year is 0 where none is named."""
        return frozenset(_dates(self.text))

    def holds(self, name: str, kind: Kind) -> bool:
        """Whether the text contains it, as a name, in other form, or in parts that stand there."""
        if name in self.names:
            return True
        wanted = plain(name)
        bare = wanted.removesuffix("()").rstrip("/").removeprefix("./")
        if wanted in self.text or (bare and bare in self.text):
            return True
        if kind is Kind.NUMBER:
            return self._counts(wanted)
        if kind in (Kind.SYMBOL, Kind.QUOTED) and self._says(wanted):
            # `Class.method`, or a quotation with its spacing changed: every word must be there.
            return True
        if kind is Kind.QUOTED and self._matches(wanted):
            return True
        return "/" in bare and "://" not in bare and (self._leads_to(bare) or self._lists(bare))

    def _says(self, text: str) -> bool:
        return all(word in self.words for word in _WORD.findall(text))

    def _matches(self, wanted: str) -> bool:
        """Whether it is a pattern, and something in the text is what it spells."""
        pieces = _WILD.split(wanted)
        if sum(map(len, pieces)) < LEAST_LITERAL or (len(pieces) == 1 and "{" not in wanted):
            return False
        spelled = rf"\S{{0,{BETWEEN}}}".join(map(re.escape, pieces))
        choices = _CHOICE.sub(lambda found: f"(?:{found[1].replace(',', '|')})", spelled)
        return re.search(choices, self.text) is not None

    def _counts(self, wanted: str) -> bool:
        """Whether the number stands there: written otherwise, or as another form of the date."""
        if any(self._is_dated(date) for date in _dates(wanted)):
            return True
        digits = _NOT_DIGITS.sub("", wanted)
        if digits and digits in self.digits:
            return True
        scaled = _SCALED.search(wanted)
        found = [*map(_value, _NUMBER.findall(wanted))] if digits.count(".") <= 1 else []
        if scaled:
            found = [_value(scaled[1]) * _SCALES[scaled[2].lower()]]
        return len(found) == 1 and found[0] in self.numbers

    def _is_dated(self, date: tuple[int, int, int]) -> bool:
        return date in self.dates or (0, *date[1:]) in self.dates

    def _leads_to(self, path: str) -> bool:
        """A folder that is named, and behind it a path that is named."""
        places = [place for place, letter in enumerate(path) if letter == "/"]
        return any(path[:place] in self.text and path[place + 1 :] in self.text for place in places)

    def _lists(self, joined: str) -> bool:
        """Names that a slash joins, and no absolute path."""
        if joined.startswith(("/", "~")):
            return False
        parts = joined.split("/")
        return all(part in self.endings or (bool(part) and self._says(part)) for part in parts)


class SaidText(SourceText):
    """What a record says, asked whether it carries a name as a whole: 162 is not in 1162."""

    def __init__(self, said: str) -> None:
        super().__init__(())
        self._said = said

    @cached_property
    def names(self) -> frozenset[str]:
        return identifier_set(self._said)

    @cached_property
    def text(self) -> str:
        return plain(self._said)

    def carries(self, name: str, kind: Kind) -> bool:
        """Whether it says the name, spelled otherwise too; a path also by folder and end."""
        bare = plain(name).removesuffix("()").removeprefix("./").rstrip("/")
        if name in self.names or _stands(bare, self.text):
            return True
        folder, _, end = bare.rpartition("/")
        if kind is Kind.PATH and folder:
            lines = (plain(line) for line in self._said.split("\n"))
            return any(_stands(folder, line) and _stands(end, line) for line in lines)
        return kind is Kind.NUMBER and any(map(self._is_dated, _dates(name)))


def _stands(name: str, text: str) -> bool:
    """Whether a text has it as a whole."""
    return name in text and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


def plain(text: str) -> str:
    """In small letters, with one space for each gap and one kind of quotation mark."""
    return _SPACES.sub(" ", text.translate(_QUOTES)).casefold()


def line_count(text: str) -> int:
    return text.count("\n") + 1 if text else 0


def _decoded(text: str) -> str:
    text = _CODE_POINT.sub(lambda code: chr(int(code[1], 16)), text)
    text = text.replace('\\"', '"').replace("\\/", "/")
    return text.replace("\\r", "\n").replace("\\n", "\n").replace("\\t", " ")


def _underscores(word: str) -> Iterable[int]:
    return (place for place, letter in enumerate(word) if letter == "_")


def _value(number: str) -> float:
    # Of a run of digits that overflows nothing is compared but that it does.
    return float(number.replace(",", "").replace("_", ""))


def _dates(text: str) -> Iterator[tuple[int, int, int]]:
    for pattern, order in _DATES:
        for first, second, third in pattern.findall(text):
            if order == "ymd":
                yield int(first), int(second), int(third)
            elif order == "either":
                for day, month in ((first, second), (second, first)):
                    yield int(third), int(month), int(day)
            else:
                month, day = (first, second) if order == "Mdy" else (second, first)
                yield int(third or 0), _MONTHS[month], int(day)
