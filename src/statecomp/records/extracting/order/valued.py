"""Values under labels, as a text of any kind holds them: to see that one was corrected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from statecomp.history.interaction import Interaction, Segment
from statecomp.history.situation import Situation
from statecomp.recent import Weighed
from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.units import Place, Unit, alone

WORDS = 3
"""Words of a label, the last ones: before them it may be introduced in any way."""
LONGEST = 40
"""Characters of a value; what is longer is a sentence."""
_MARKS = "-*•#>\"'`([{ "

_memory: Weighed[tuple[str, int], Mapping[str, str]] = Weighed(
    4096, lambda values: 300 + 250 * len(values)
)


def values_before(situation: Situation) -> dict[str, str]:
    """The last value that each label had before the span."""
    return _merged(situation.before)


def later_values(situation: Situation) -> dict[str, str]:
    """The last value that each label has behind the span."""
    return _merged(situation.after)


@alone
def label_of(unit: Unit) -> tuple[str, str] | None:
    """The label of a unit and its value; a row's is its first cell, below its header."""
    if unit.form is Form.ROW:
        mark = " | " if " | " in unit.text else ","
        first, _, rest = unit.text.strip("| ").partition(mark)
        return (f"{unit.label}\n{first}", rest) if rest else None
    if unit.form not in (Form.FIELD, Form.LINE):
        return None
    owned = unit.form is Form.FIELD and unit.owner and not unit.label.endswith(unit.text)
    text = f"{unit.label} {unit.text}" if owned else unit.text
    return next(_values(text), None)


def outdated(units: Sequence[Unit], situation: Situation) -> frozenset[int]:
    """Places of what the agent said of a label that an answer gave another value since."""
    after = later_values(situation)
    newest: dict[str, tuple[int, str]] = {}
    for unit in units:
        if unit.place is Place.OBSERVED and (pair := label_of(unit)):
            newest[pair[0]] = unit.step, pair[1]
    found = set()
    for place, unit in enumerate(units):
        for label, value in _values_said(unit) if unit.place is Place.SAID else ():
            step, last = newest.get(label, (-1, value))
            since = after.get(label, last if step >= unit.step else value)
            if since != value:
                found.add(place)
    return frozenset(found)


@alone
def _values_said(unit: Unit) -> list[tuple[str, str]]:
    return list(_values(unit.text))


def _merged(segments: Iterable[Segment]) -> dict[str, str]:
    found: dict[str, str] = {}
    for segment in segments:
        found.update(_values_in(segment))
    return found


def _values_in(segment: Segment) -> Mapping[str, str]:
    """The labels of a segment that have one value in it, read once."""
    text = segment.text if not isinstance(segment, Interaction) else ""
    if isinstance(segment, Interaction):
        text = f"{segment.said}\n{segment.observed}"
    key = (segment.id, hash(text))
    return _memory.get(key) or _memory.put(key, _read(text))


def _read(text: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    twice: set[str] = set()
    for line in text.split("\n"):
        for label, value in _values(line) if ": " in line else ():
            if found.setdefault(label, value) != value:
                twice.add(label)
    return {label: value for label, value in found.items() if label not in twice}


def _values(line: str) -> Iterator[tuple[str, str]]:
    """The labels of a line with their values, the last first: it is the nearest to its value."""
    parts = line.split(": ")
    for place in range(len(parts) - 1, 0, -1):
        label, value = _label(parts[place - 1]), _value(parts[place])
        if label and value:
            yield label, value


def _label(text: str) -> str:
    """The last words before a colon that tell what is meant; nothing where they are too few."""
    words: list[str] = []
    for word in text[-100:].rsplit(None, WORDS)[-WORDS:]:
        words = [] if words and words[-1].endswith((",", ";", ".")) else words
        words.append(word.strip(_MARKS).lower())
    known = [word for word in words if word]
    if len(known) == 1 and not ("_" in known[0] or any(map(str.isdigit, known[0]))):
        return ""  # `From`, `Total`: everything has one
    return " ".join(known)


def _value(text: str) -> str:
    """What stands up to the next break, where that is no sentence."""
    for mark in (", ", "; ", " | "):
        text = text.partition(mark)[0]
    text = text.strip(" \"'`.,;)]}")
    return text if len(text) <= LONGEST and text.count(" ") < WORDS else ""
