"""What some text says, in the forms in which a faithful record may repeat it.

Writers join lists (`L1/L2/L3`), end folders with a slash, put a folder before a file that was named
without it, name many things by one pattern (`test_*.py`) or by the first and the last of them, and
write numbers, addresses and dates as they are used to.  None of that is invented.  A file that was
only ever named in another folder is, and so is a piece of a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote

from statecomp.history.facts import facts_of
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.text import COMMON, Kind, argument_text, identifier_set
from statecomp.history.windows import found as found_in
from statecomp.history.windows import substituted
from statecomp.records.extracting.markup.tags import undressed, unescaped
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
_CLOCK = re.compile(r"\d\d?:\d\d(?::\d\d)?")
_CELLS = re.compile(r"([a-z]{1,3}\d+)[:-]([a-z]{1,3}\d+)\Z")
"""The first and the last of some cells, or of the marks of a page."""
_HOST = re.compile(r"([a-z\d][\w.-]{1,200}):(\d{2,5})\Z")
_HEX = re.compile(r"(?<![0-9a-z])(?:0x)?0*([0-9a-f]{3,16})(?![0-9a-z])")
_RANGE = re.compile(r"(?<![\d.])(\d{3,})(?: ?- ?| to | through | ?\.\. ?)(\d{3,})(?![\d.])")
LONGEST_RANGE = 100
"""Numbers that the first and the last of them may stand for."""
LEAST_PREFIX = 7
"""Characters by which a longer id is known, as commits are."""
LEAST_ROUNDED = 4
"""Digits that a rounded number keeps: of 0.6 nobody knows what it was."""
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
_SCALED = re.compile(r"(\d(?:[\d,_]*\d)?(?:\.\d+)?)([kmb])\Z", re.IGNORECASE)

_YEAR = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTHS = {name: number for number, name in enumerate(_YEAR, start=1)}
_MONTH = f"({'|'.join(_YEAR)})[a-z]{{0,6}}"
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
        self._bare: dict[str, bool] = {}

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
        return plain(f"{joined}\n{unescaped(bare)}\n{undressed(bare)}")

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
    def addresses(self) -> frozenset[str]:
        """Hexadecimal numbers, without the zeros before them."""
        return frozenset(found_in(_HEX, self.spaced))

    @cached_property
    def spaced(self) -> str:
        """The text with what underscores join apart: `CE85L_HUMAN` names CE85L."""
        return self.text.replace("_", " ")

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
        if kind is Kind.NUMBER:
            return self._counts(wanted)
        if kind is Kind.ID:
            return self._identifies(wanted)
        if wanted in self.text or (bare and bare in self.text):
            return True
        if kind in (Kind.SYMBOL, Kind.QUOTED) and self._says(wanted):
            # `Class.method`, or a quotation with its spacing changed: every word must be there.
            return True
        if kind is Kind.QUOTED and self._matches(wanted):
            return True
        if host := _HOST.match(bare):
            beside = (
                rf"(?<!\w){re.escape(host[1])}\W{{1,3}}(?:on )?(?:port\W{{1,3}})?{host[2]}(?!\d)"
            )
            return host[1] in self.text and re.search(beside, self.text) is not None
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

    def _identifies(self, wanted: str) -> bool:
        """Whether the id stands there: whole or by its beginning, or as another form of it."""
        if stands(wanted.replace("_", " "), self.spaced):
            return True
        if cells := _CELLS.match(wanted):
            return all(stands(cell, self.text) for cell in cells.groups())
        if wanted.startswith("#"):
            return _is_number_of(wanted[1:], self.text)
        if (address := _HEX.fullmatch(wanted)) and address[1] in self.addresses:
            return True
        return len(wanted) >= LEAST_PREFIX and wanted in self.text

    def _counts(self, wanted: str) -> bool:
        """Whether the number stands there: written otherwise, or as another form of the date."""
        clock = _CLOCK.search(wanted)
        if any(map(self._is_dated, _dates(wanted))) and (not clock or clock[0] in self.text):
            return True
        digits = _NOT_DIGITS.sub("", wanted)
        if _is_number_of(wanted, self.text) or (digits and _is_number_of(digits, self.digits)):
            return True
        scaled = _SCALED.search(wanted)
        found = [*map(_value, _NUMBER.findall(wanted))] if digits.count(".") <= 1 else []
        if scaled:
            found = [_value(scaled[1]) * _SCALES[scaled[2].lower()]]
        return len(found) == 1 and (found[0] in self.numbers or self._rounds_to(digits, found[0]))

    def _rounds_to(self, digits: str, value: float) -> bool:
        """Whether it is a longer number that was cut or rounded, behind its point alone."""
        decimals = len(digits.partition(".")[2])
        if not decimals or len(digits) <= LEAST_ROUNDED:
            return False
        return any(abs(number - value) < 10.0**-decimals for number in self.numbers)

    def _is_dated(self, date: tuple[int, int, int]) -> bool:
        return date in self.dates or (0, *date[1:]) in self.dates

    def _leads_to(self, path: str) -> bool:
        """A folder that is named, and behind it a path that is named without another folder.

        At once, as a diff names it, or one by one, as the branches of a tree are.
        """
        places = [place for place, letter in enumerate(path) if letter == "/"]
        ends = (path[place + 1 :] for place in places if path[:place] in self.text)
        return any(
            self._stands_bare(end) or all(map(self._stands_bare, end.split("/"))) for end in ends
        )

    def _lists(self, joined: str) -> bool:
        """Names that a slash joins, and no path to a file of another folder."""
        parts = joined.split("/")
        is_path = "." in parts[-1] and "." not in parts[0]
        if joined.startswith(("/", "~")) or (is_path and not self._stands_bare(parts[-1])):
            return False
        return all(part in self.endings or (bool(part) and self._says(part)) for part in parts)

    def _stands_bare(self, path: str) -> bool:
        """Whether it is named with no folder before it."""
        if path not in self._bare:
            bare = rf"(?<![\w./~-])(?:\./|[ab]/)?{re.escape(path)}(?![\w-])"
            self._bare[path] = path in self.text and bool(re.search(bare, self.text))
        return self._bare[path]


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
        if name in self.names or stands(bare, self.text):
            return True
        folder, _, end = bare.rpartition("/")
        if kind is Kind.PATH and folder:
            lines = (plain(line) for line in self._said.split("\n"))
            return any(stands(folder, line) and stands(end, line) for line in lines)
        if kind is not Kind.NUMBER:
            return False
        return any(map(self._is_dated, _dates(name))) or name in self.between

    @cached_property
    def between(self) -> frozenset[str]:
        """Numbers of which the first and the last are told: `ports 1300 to 1312`."""
        ends = ((int(a), int(b)) for a, b in _RANGE.findall(self.text) if len(a) == len(b))
        near = (range(a, b + 1) for a, b in ends if b - a <= LONGEST_RANGE)
        return frozenset(str(number) for numbers in near for number in numbers)


def whole(name: str) -> re.Pattern[str]:
    """A name as no part of another."""
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def stands(name: str, text: str) -> bool:
    """Whether a text has it as a whole."""
    return name in text and bool(whole(name).search(text))


def _is_number_of(number: str, text: str) -> bool:
    """Whether a text has it as no piece of a longer number."""
    whole = rf"(?<!\d)(?<!\d\.)0*{re.escape(number)}(?!\d)"
    return number in text and bool(re.search(whole, text))


def plain(text: str) -> str:
    """In small letters, with one space for each gap and one kind of quotation mark."""
    return _SPACES.sub(" ", text.translate(_QUOTES)).casefold()


def line_count(text: str) -> int:
    return text.count("\n") + 1 if text else 0


def _decoded(text: str) -> str:
    text = _CODE_POINT.sub(lambda code: chr(int(code[1], 16)), text)
    text = unquote(text) if "%" in text else text
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
