"""Values and rules in somebody else's words, and how much a record shows of what it stands for.

A language model that reads "Bruno: hotel 412.50, 3 nights" knows the hotel bill of Bruno, whatever
the bill itself had called it.  So a value is understood where an entry holds every telling word of
its label, in any order, and behind them a value of its form that no other label claims with as
much right.
A rule is understood where an entry holds most of its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from statecomp_bench.plan import Fact, Norm, Plan

ENTRY = re.compile(r"; | -> |\n")
WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
EMPTY = frozenset(
    ("the", "and", "for", "are", "was", "with", "that", "this", "into", "from", "its")
)
STEM, NAMED = 4, re.compile(r"[-\d]")
# What may stand between a label and its value.
BETWEEN = re.compile(r"[\s:=()'\"`*|-]*(?:(?:is|was|at|of|to|now|about|EUR|€|\$)[\s:=('\"`*]*)?")
MOST_OF_A_RULE = 0.6
FEWEST_RULE_WORDS = 3
# A form that fits everything says nothing about where a value begins and ends.
ANYTHING = re.compile(r"\.[*+]|\[\^")
# Where any word would do as a value, only one that is no word is taken for it; where any two
# words would, nothing is.
ORDINARY, TELLING = ("with", "The", "a"), re.compile(r"[\d@/_]")
TWO_WORDS = "with the"
STATED_LINES = re.compile(r"\((\d+) lines\)")


@dataclass(frozen=True, slots=True)
class Sought:
    """A fact as a reader looks for it: the words that must stand there, and its value's form."""

    name: str
    words: frozenset[str]
    form: re.Pattern[str]
    plain: bool  # no ordinary word has this form


class Meaning:
    """One plan's labels, understood in other words."""

    def __init__(self, plan: Plan) -> None:
        self._facts = [sought for fact in plan.facts if (sought := _sought(fact)) is not None]
        self._rules = [(rule.name, *_rule_words(rule)) for rule in plan.rules]

    def values(self, text: str) -> dict[str, str]:
        """Values that an entry of the text states in other words; later entries win."""
        found: dict[str, str] = {}
        for entry in entries(text):
            found.update(self._in_entry(entry))
        return found

    def rules(self, text: str) -> frozenset[str]:
        known = [stems(entry) for entry in entries(text)]
        return frozenset(
            name
            for name, label, pattern in self._rules
            if any(_most(label, words) or _most(pattern, words) for words in known)
        )

    def _in_entry(self, entry: str) -> dict[str, str]:
        words = stems(entry)
        fitting = [sought for sought in self._facts if sought.words <= words]
        claims = [(sought, span) for sought in fitting if (span := _nearest(sought, entry))]
        # Of two labels that fit one value the longer is meant; of two equals nobody can tell.
        found = {}
        for sought, span in claims:
            rivals = [other for other, theirs in claims if theirs == span and other != sought]
            if all(len(other.words) < len(sought.words) for other in rivals):
                found[sought.name] = entry[slice(*span)]
        return found


def entries(text: str) -> Iterator[str]:
    """What stands together: a line, or a part of it between semicolons and arrows."""
    return (entry for entry in ENTRY.split(text) if entry.strip())


def stems(text: str) -> frozenset[str]:
    """Telling words by their beginnings, so that "closes" is "closed"."""
    words = (word.lower() for word in WORD.findall(text))
    return frozenset(_stem(word) for word in words if _tells(word))


def _stem(word: str) -> str:
    """A name is whole: "saddle-codec" is not "saddle-tools", nor is "orchid53" "orchid"."""
    return word if NAMED.search(word) else word[:STEM]


def _tells(word: str) -> bool:
    return (len(word) > 2 or word.isdigit()) and word not in EMPTY


def _sought(fact: Fact) -> Sought | None:
    form, words = form_of(fact.pattern), stems(fact.label)
    if ANYTHING.search(form) or len(words) < 2:
        return None
    whole = re.compile(rf"(?<![\w.,-])(?:{form})(?![\w-])")
    if whole.fullmatch(TWO_WORDS):
        return None
    return Sought(fact.name, words, whole, not any(map(whole.fullmatch, ORDINARY)))


def form_of(pattern: str) -> str:
    """What stands inside the one capturing group of a pattern."""
    start = next(m.end() for m in re.finditer(r"(?<!\\)\((?!\?)", pattern))
    depth, place = 1, start
    while depth:
        if pattern[place] == "\\":
            place += 1
        else:
            depth += {"(": 1, ")": -1}.get(pattern[place], 0)
        place += 1
    return pattern[start : place - 1]


def _nearest(sought: Sought, entry: str) -> tuple[int, int] | None:
    """The value that stands directly behind the label's last word, and no other among its words."""
    stemmed = ((_stem(m[0].lower()), m.end()) for m in WORD.finditer(entry))
    newest = {stem: end for stem, end in stemmed if stem in sought.words}
    start, stop = min(newest.values()), max(newest.values())
    match = next(_fitting(sought, entry, stop, len(entry)), None)
    if match is None or any(_fitting(sought, entry, start, stop)):
        return None
    return match.span() if BETWEEN.fullmatch(entry, stop, match.start()) else None


def _fitting(sought: Sought, entry: str, start: int, stop: int) -> Iterator[re.Match[str]]:
    found = sought.form.finditer(entry, start, stop)
    return (m for m in found if sought.plain or TELLING.search(m[0]))


def _rule_words(rule: Norm) -> tuple[frozenset[str], frozenset[str]]:
    plain = re.sub(r"\\.|[\[\](){}|^$*+?]", " ", rule.pattern)
    return stems(rule.label), stems(plain)


def _most(wanted: frozenset[str], words: frozenset[str]) -> bool:
    if len(wanted) < FEWEST_RULE_WORDS:
        return False
    return len(wanted & words) >= MOST_OF_A_RULE * len(wanted)


def thinness(records: Sequence[str], piece: str) -> float:
    """How little the records show of the document that `piece` names: 1 where they do not name it.

    A record says how many lines a reading had; what stands under it is what is left.
    """
    shown = [_left(record, match.start()) for record in records for match in _named(record, piece)]
    return min((1 - share for share in shown), default=1.0)


def _named(record: str, piece: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"^[ \t]*[-*] .*{re.escape(piece)}", record, re.MULTILINE)


def _left(record: str, start: int) -> float:
    """The share of its lines that stands in the entry which begins here."""
    first, *rest = record[start:].splitlines()
    stop = next(
        (n for n, line in enumerate(rest) if re.match(r"[-*\[]|\w[\w ]*:$", line)), len(rest)
    )
    stated = STATED_LINES.search(first)
    if stated is None:
        # Nobody says how long it was: a short entry looks thin.
        return min(1.0, len("\n".join((first, *rest[:stop]))) / 600)
    return min(1.0, stop / max(1, int(stated[1])))
