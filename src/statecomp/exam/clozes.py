"""Lines with a blank: rules of documents without their number, and identifiers taken over later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from statecomp.exam.spans import Exam
from statecomp.exam.text import folded, stands, unescaped
from statecomp.history.facts import facts_of
from statecomp.history.interaction import Interaction, Segment
from statecomp.records.markers import CONSTRAINT

LONGEST_LINE, FEWEST_WORDS, SHORTEST_NAME = 240, 3, 5
SHORTEST, LONGEST, MOST = 30, 260, 200
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9*-])")
_GUTTER = re.compile(r"\A\s*(?:\d+(?:[:|]\s?|\t|\s{2,}))?(?:[-*•#>]+\s+|\d+[.)]\s+)*")
_NUMBER = re.compile(r"(?<![\w.,/#-])[$€£]?\d+(?:[.,]\d+)*(?:\s?%)?(?![\w/-]|[.,:]\d)")
_WRAPPING = re.compile(r"characters are shown|end with newline|\A(?:Snippet|Abstract|text):")
"""What a client says of its own output."""
_CODE = re.compile(r"[;{}=<>\\]|\(\)|\w\(|//|\bassert\b|\bdef\b|\breturn\b|://|\"\s*:")
_WORD = re.compile(r"[a-z]{3,}")
NEAR = 0.4
"""The share of a line's other words beside which an identifier of it is known again."""


@dataclass(frozen=True)
class ClozeRule:
    """A binding sentence, the number asked for, and where in the sentence it stands."""

    step: int
    sentence: str
    number: str
    start: int

    @property
    def cloze(self) -> str:
        stop = self.start + len(self.number)
        return f"{self.sentence[: self.start]}____{self.sentence[stop:]}"


def rules_of(span: Iterable[Interaction]) -> Iterator[ClozeRule]:
    """Each once, though a document be read twice."""
    seen: set[str] = set()
    for member in span:
        for sentence in _sentences(member.observed):
            if folded(sentence) in seen or not CONSTRAINT.search(sentence):
                continue
            if _WRAPPING.search(sentence):
                continue
            seen.add(folded(sentence))
            number = _NUMBER.search(sentence)
            if number and len(number[0]) >= 2:
                yield ClozeRule(member.number, sentence, number[0].strip(), number.start())


def _sentences(text: str) -> Iterator[str]:
    found = 0
    for line in unescaped(text).splitlines():
        if len(line) < SHORTEST or _CODE.search(line[:LONGEST]):
            continue
        for sentence in _SENTENCE.split(_GUTTER.sub("", line)):
            if SHORTEST <= len(sentence) <= LONGEST and len(words_of(sentence)) >= 5:
                yield sentence.strip()
                found += 1
                if found >= MOST:
                    return


@dataclass(frozen=True)
class Mention:
    """A line of a step and the identifier in it that a later step wrote."""

    step: int
    line: str
    name: str

    @property
    def cloze(self) -> str:
        return self.line.replace(self.name, "____")


def mentions_of(exam: Exam) -> list[Mention]:
    """What later steps wrote that the span showed and nothing else in sight has."""
    seen = set[str]().union(*(facts_of(member).observed for member in exam.span))
    own = set[str]().union(*(facts_of(member).own for member in exam.span))
    known = set[str]().union(*(_names(segment) for segment in exam.rest))
    used = set[str]().union(*(facts_of(member).own for member in exam.later))
    names = (name for name in (seen & used) - own - known if len(name) >= SHORTEST_NAME)
    found = [mention for name in sorted(names) if (mention := _mention(name, exam))]
    blanks = Counter(mention.cloze for mention in found)
    # Where two names fit one blank, nobody can say which is asked for.
    return [mention for mention in found if blanks[mention.cloze] == 1]


def _mention(name: str, exam: Exam) -> Mention | None:
    for member in exam.span:
        if line := _line_with(name, member):
            return Mention(member.number, line, name)
    return None


def _names(segment: Segment) -> frozenset[str]:
    facts = facts_of(segment)
    return facts.own | facts.observed


def _line_with(name: str, member: Interaction) -> str:
    """The first line of some words that names it once, and says more than its name."""
    if name not in member.observed:
        return ""
    for line in unescaped(member.observed).splitlines():
        text = line.strip()
        if name in text and len(text) <= LONGEST_LINE and text.count(name) == 1:
            words = words_of(folded(text.replace(name, " ")))
            if len(words) >= FEWEST_WORDS and stands(folded(name), folded(text)):
                return text
    return ""


def words_of(text: str) -> frozenset[str]:
    """The words by which a line is known again."""
    return frozenset(_WORD.findall(text.casefold()))
