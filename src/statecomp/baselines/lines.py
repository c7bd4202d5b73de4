"""Which lines of a text a question is about, by its words alone: no model, no training.

The local substitute wherever a published method asks a model to read a text with a question in
mind.  It looks for the words of the question, weighs rare ones more, and lets a line's neighbours
and the line it is indented under share in what it scores.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from statecomp.errors import ScoringFailed
from statecomp.tokens import ESTIMATE

LONGEST_PIECE = 240
"""Characters of a line that is shown whole or not at all; a longer one is cut up."""
LONGEST_LINE = 2_000
"""Characters of a line that are read for scoring; minified files have lines of megabytes."""
NEAR, FAR, ABOVE = 0.72, 0.52, 0.8
"""What a line passes on to the next one, the next but one, and the line it is indented under."""

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_COMMON = """
    a about all an and any are as at be been but by can did do does find for from get give had has
    have how i if in into is it its let list make many me much my now of often on or out over see
    should show so some tell than that the their them then there these they this to up was we were
    what when where which who whose why will with would you your
"""
_STOP = frozenset(_COMMON.split())


class LineScorer(Protocol):
    """Says how relevant each line of a text is to a question."""

    @property
    def name(self) -> str: ...

    def score(self, question: str, lines: Sequence[str]) -> Sequence[float]:
        """One number in [0, 1] a line; raises ScoringFailed when there is no answer."""
        ...


@dataclass(frozen=True, slots=True)
class LexicalLines:
    """The relevance of each line, trusted as far as the best line holds the question's words.

    With a threshold of 0.5, a text in which no line holds half of them stays whole.
    """

    name: str = "lexical"

    def score(self, question: str, lines: Sequence[str]) -> Sequence[float]:
        shares, held = relevance(question, lines)
        return [1.0 - held * (1.0 - share) for share in shares]


def relevance(question: str, lines: Sequence[str]) -> tuple[list[float], float]:
    """Each line against the best one, and the share of the question's words the best one holds."""
    wanted = words(question)
    held = [words(line[:LONGEST_LINE]) & wanted for line in lines]
    frequency = Counter(word for found in held for word in found)
    rarity = {w: math.log(1.0 + len(lines) / n) for w, n in frequency.items()}
    # In order of the alphabet: a sum of floats must not depend on the hash seed.
    own = [math.fsum(rarity[word] for word in sorted(found)) for found in held]
    best = max(own, default=0.0)
    if best == 0.0:
        raise ScoringFailed("no word of the question occurs in the text")
    most = len(held[own.index(best)]) / len(wanted)
    return _shared([score / best for score in own], lines), most


LEXICAL = LexicalLines()


def words(text: str) -> frozenset[str]:
    """The parts of words that say something, in one form: `readFiles` and `file` share one."""
    parts = (part.lower() for part in _PART.findall(text))
    return frozenset(_stem(part) for part in parts if len(part) > 1 and part not in _STOP)


def _stem(word: str) -> str:
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word[:-1] if word.endswith(("e", "y")) and len(word) > 3 else word


def _shared(own: Sequence[float], lines: Sequence[str]) -> list[float]:
    scores = list(own)
    for place, score in enumerate(own):
        for distance, part in ((1, NEAR), (2, FAR)):
            for near in (place - distance, place + distance):
                if score and 0 <= near < len(own):
                    scores[near] = max(scores[near], score * part)
    for place, head in enumerate(_heads(lines)):
        if head is not None:
            scores[head] = max(scores[head], own[place] * ABOVE)
    return scores


def _heads(lines: Sequence[str]) -> list[int | None]:
    """For each line, the one it is indented under."""
    heads: list[int | None] = []
    above: list[tuple[int, int]] = []  # indentation and place, the innermost last
    for place, line in enumerate(lines):
        bare = line.lstrip()
        indent = len(line) - len(bare)
        while above and above[-1][0] >= indent and bare:
            above.pop()
        heads.append(above[-1][1] if above and bare else None)
        if bare:
            above.append((indent, place))
    return heads


def telling_lines(
    question: str, text: str, room: int, count: Callable[[str], int] = ESTIMATE
) -> str:
    """The lines of `text` that fit the question best, in order, of about `room` tokens at most.

    Raises ScoringFailed where none fits.
    """
    lines = [piece for line in text.splitlines() for piece in _pieces(line) if piece.strip()]
    scores, _ = relevance(question, lines)
    chosen: list[int] = []
    left = room
    for place in sorted(range(len(lines)), key=lambda place: (-scores[place], place)):
        cost = count(lines[place]) + 1
        if scores[place] < 0.5:
            break
        if cost <= left:
            chosen.append(place)
            left -= cost
    if not chosen:
        raise ScoringFailed("no line that fits the question is short enough")
    return "\n".join(lines[place] for place in sorted(chosen))


def _pieces(line: str) -> Iterator[str]:
    """A line, or, of one that holds a whole document, pieces that end where a word does."""
    start = 0
    while len(line) - start > LONGEST_PIECE:
        room = line[start : start + LONGEST_PIECE]
        cut = max(room.rfind(" "), room.rfind(","), room.rfind(";")) + 1
        stop = start + (cut if cut > LONGEST_PIECE // 2 else LONGEST_PIECE)
        yield line[start:stop]
        start = stop
    yield line[start:]
