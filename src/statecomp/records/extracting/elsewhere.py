"""Lines that the rest of the history holds already: a record does not repeat them."""

from __future__ import annotations

import re

from statecomp.history.interaction import Interaction, Segment
from statecomp.history.situation import Situation
from statecomp.recent import Weighed
from statecomp.records.extracting.pieces import one_line

REMEMBERED = 4096
SHORTEST = 16
"""Characters of a line that is more than a word or a number."""

_HEAD = re.compile(r"\A\s*(?:- )?(?:\d+[.:] )?")
_memory: Weighed[tuple[str, int], frozenset[int]] = Weighed(
    REMEMBERED, lambda lines: 300 + 100 * len(lines)
)


def lines_elsewhere(situation: Situation) -> frozenset[int]:
    """The lines of all other segments, as hashes; each segment is read once."""
    segments = (*situation.before, *situation.after)
    return frozenset().union(*map(_lines, segments))


def stands_elsewhere(text: str, held: frozenset[int]) -> bool:
    """Whether another segment has this very line."""
    return len(text) >= SHORTEST and hash(text) in held


def _lines(segment: Segment) -> frozenset[int]:
    text = segment.observed if isinstance(segment, Interaction) else segment.text
    key = (segment.id, hash(text))
    return _memory.get(key) or _memory.put(key, _read(text))


def _read(text: str) -> frozenset[int]:
    lines = (one_line(_HEAD.sub("", line)) for line in text.split("\n"))
    return frozenset(hash(line) for line in lines if len(line) >= SHORTEST)
