"""What of a span comes before everything else: what the user named, and what was corrected.

The fitted chances know neither: one row of sixty, and a known label with a new value, look like
their neighbours.  Places are collected once a span, so ranking stays as quick as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache

from statecomp.history.interaction import Pinned
from statecomp.history.situation import Situation
from statecomp.history.text import Kind, identifiers
from statecomp.recent import Weighed
from statecomp.records.extracting.order.valued import label_of, later_values, values_before
from statecomp.records.extracting.order.worded import spoken_in, template, value_free
from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.reading.calls import CallWords
from statecomp.records.extracting.units import Place, Unit, alone

LISTED = 6
"""So many things of a kind are a list, of which a few may be named."""
TELLING = 4
"""Of so many things at most one may share a cell, or a correction, that tells it from others."""
FIELDS = 8
"""Fields of a named thing that are shown whatever else was seen."""
WORDS = 3
"""Words of the longest name that is looked for in what the user wrote."""
VALUES = 3
"""Values that a label has had at most: what has more of them is measured again and again."""
FORM = 6
"""Words of a line from which on those in its middle may differ too."""
KIN = range(2, 7)
"""How many lines of one form belong together; more of them are a list."""
ACROSS = range(3, 31)
"""How many like calls are looked through for lines that belong together."""
LINED = 12
"""Words of the longest line that is looked for in the answers of like calls."""

_CELL = re.compile(r"\s*[|,;:\t]\s*|\s{2,}|\A[-*]\s+")
_EDGE = ".,;:!?()[]{}<>\"'`*"
_KEY = re.compile(r"[A-Za-z_$][\w$.-]*(?=\s*[:=]|\Z)")
_keys: Weighed[tuple[str, int], frozenset[str]] = Weighed(64, lambda names: 100 * len(names))
_asked: Weighed[tuple[str, int], frozenset[str]] = Weighed(64, lambda names: 100 * len(names))


def foremost(units: Sequence[Unit], situation: Situation) -> set[int]:
    """Places of the units that come first."""
    return {*named(units, situation), *corrections(units, situation)}


# --- what the user named ---


def named(units: Sequence[Unit], situation: Situation) -> Iterator[int]:
    """Things of a list, row or object, that the user calls by a name of theirs."""
    asked = _names_asked(situation)
    lists: dict[Hashable, dict[Hashable, list[int]]] = {}
    for place, unit in enumerate(units if asked else ()):
        if unit.place is Place.OBSERVED and (found := _listed(unit, place)):
            lists.setdefault(found[0], {}).setdefault(found[1], []).append(place)
    for things in lists.values():
        if len(things) >= LISTED:
            yield from _named_of(things, units, asked)


def _listed(unit: Unit, place: int) -> tuple[Hashable, Hashable] | None:
    """The list a unit is of, and the thing of it."""
    if unit.form is Form.ROW:
        return (unit.step, unit.owner), place
    if unit.form is Form.FIELD and unit.owner:
        return (unit.step, unit.label.partition(": ")[0]), unit.owner
    return ((unit.step, template(unit.text)), place) if unit.form is Form.LINE else None


def _named_of(
    things: Mapping[Hashable, Sequence[int]], units: Sequence[Unit], asked: frozenset[str]
) -> Iterator[int]:
    hits = {thing: _cells(units[places[0]]) & asked for thing, places in things.items()}
    shared = Counter(cell for cells in hits.values() for cell in cells)
    most = max(2, len(things) // TELLING)
    for thing, cells in hits.items():
        if any(shared[cell] <= most for cell in cells) and len(things[thing]) <= FIELDS:
            yield from things[thing]


def _cells(unit: Unit) -> set[str]:
    text = unit.label if unit.form is Form.FIELD else unit.text
    return {*_CELL.split(text.lower()), *map(str.lower, unit.names)}


def _names_asked(situation: Situation) -> frozenset[str]:
    users = ((message.id, message.text) for message in _users(situation))
    read = ((step.id, step.observed) for step in situation.documents.values())
    return frozenset().union(*(_names_in(*told) for told in (*users, *read)))


def _users(situation: Situation) -> Iterator[Pinned]:
    for segment in (*situation.before, *situation.after):
        if isinstance(segment, Pinned) and segment.role == "user":
            yield segment


def _names_in(source: str, text: str) -> frozenset[str]:
    """Every word and run of words that may be the name of a thing, in lower case."""
    key = (source, hash(text))
    return _asked.get(key) or _asked.put(key, frozenset(_runs(text)))


def _runs(text: str) -> Iterator[str]:
    words = [word.strip(_EDGE) for word in text.lower().split()]
    for length in range(1, WORDS + 1):
        for start in range(len(words) - length + 1):
            run = " ".join(words[start : start + length])
            if len(run) > 2 and any(map(str.isalpha, run)):
                yield run


# --- what the user called by its key ---


def keyed(units: Sequence[Unit], situation: Situation) -> set[int]:
    """Values whose key the user wrote word for word, wherever they are shown: also an older value,
    and one that another step has as well.
    """
    asked, words = frozenset().union(*map(_keys_in, _users(situation))), _names_asked(situation)
    found: dict[Hashable, list[int]] = {}
    for place, unit in enumerate(units):
        key = _key_of(unit) if unit.place is Place.OBSERVED else ""
        if key.rpartition(" ")[2] in asked or (" " in key and key.lower() in words):
            found.setdefault((unit.step, key), []).append(place)
    return {place for places in found.values() if len(places) <= TELLING for place in places}


def _key_of(unit: Unit) -> str:
    """What stands before the value of a field."""
    key, _, value = unit.text.partition(": ")
    return key if value and unit.form is Form.FIELD else ""


def _keys_in(message: Pinned) -> frozenset[str]:
    """The names that look like no word of a sentence, and those in quotation marks."""
    key = (message.id, hash(message.text))
    named = (
        found[0]
        for name, kind in identifiers(message.text).items()
        if kind in (Kind.SYMBOL, Kind.QUOTED) and (found := _KEY.match(name))
    )
    return _keys.get(key) or _keys.put(key, frozenset(named))


# --- what was corrected ---


def corrections(units: Sequence[Unit], situation: Situation) -> Iterator[int]:
    """Units that give a label another value than it had before, where no later one does."""
    before, after = values_before(situation), later_values(situation)
    found: dict[str, list[tuple[int, str]]] = {}
    for place, unit in enumerate(units):
        if unit.place is Place.OBSERVED and (pair := label_of(unit)):
            found.setdefault(pair[0], []).append((place, pair[1]))
    changed = [
        seen[-1][0]
        for label, seen in found.items()
        if _corrected(seen, units, before.get(label))
        and after.get(label, seen[-1][1]) == seen[-1][1]
    ]
    often = Counter(units[place].step for place in changed)
    for place in changed:
        # Where all is new, a thing was measured again; nothing of it was put right.
        if often[units[place].step] <= max(TELLING, units[place].count // TELLING):
            yield place


def _corrected(seen: Sequence[tuple[int, str]], units: Sequence[Unit], before: str | None) -> bool:
    """Whether the last value is another than the one before; not where a step has two."""
    values = {value for _, value in seen} | ({before} if before else set())
    if not 1 < len(values) <= VALUES:
        return False
    last, value = seen[-1]
    steps = Counter(units[place].step for place, _ in seen)
    older = [other for place, other in seen if units[place].step < units[last].step]
    return max(steps.values()) == 1 and (older[-1] if older else before) != value


# --- lines of one form ---


def beside_kin(
    order: Sequence[int], units: Sequence[Unit], across: Sequence[Sequence[int]] = ()
) -> tuple[list[int], set[int]]:
    """The order with lines of one form behind the best of them, and the places of all these.

    Lines `across` like calls are such lines too.
    """
    forms: dict[Hashable, list[int]] = {}
    known = {place: number for number, group in enumerate(across) for place in group}
    for place in order:
        unit = units[place]
        if place in known:
            forms.setdefault(known[place], []).append(place)
        elif _is_lined(unit) and (form := form_of_line(unit.text)):
            forms.setdefault((unit.step, form), []).append(place)
    kin = {
        group[0]: group
        for form, group in forms.items()
        if isinstance(form, int) or len(group) in KIN
    }
    alike = {place for group in kin.values() for place in group}
    moved = [
        follower
        for place in order
        for follower in (kin.get(place, ()) if place in alike else (place,))
    ]
    return moved, alike


def _is_lined(unit: Unit) -> bool:
    return unit.place is Place.OBSERVED and unit.form in (Form.LINE, Form.FIELD)


def kin_across(
    units: Sequence[Unit], chances: Sequence[float], asked: Sequence[CallWords | None]
) -> list[list[int]]:
    """Places of the lines that like calls answered once each, alike but for what the call names.

    Nobody can tell which of them is needed: some of ten offers look like all there were.
    """
    times = Counter(call.kind for call in asked if call)
    forms: dict[Hashable, list[int]] = {}
    for place, (unit, chance) in enumerate(zip(units, chances, strict=True)):
        call = asked[unit.step]
        if not chance or not call or times[call.kind] < min(ACROSS) or not _is_lined(unit):
            continue
        if words := _worded(unit):
            named = call.words
            form = tuple("#" if word.strip(_EDGE).lower() in named else word for word in words)
            forms.setdefault((call.kind, form), []).append(place)
    return [
        group
        for group in forms.values()
        if len(group) in ACROSS and len({units[place].step for place in group}) == len(group)
    ]


@alone
def _worded(unit: Unit) -> tuple[str, ...]:
    """The words of a line that ends in a value, with a mark for each name and number."""
    words = value_free(unit.text).split()
    told = 2 < len(words) <= LINED and "#" in "".join(words[-2:]) and len(unit.text) < 160
    return tuple(words) if told and any(map(str.isdigit, unit.text)) else ()


@lru_cache(maxsize=16_384)
def form_of_line(text: str) -> tuple[Hashable, ...]:
    """The words around names and numbers; of a long line those at its ends, and how many."""
    words = value_free(text).split()
    if len(spoken_in(text)) < 3 or "#" not in "".join(words[-2:]):
        return ()
    return (len(words), *words[:3], *words[-2:]) if len(words) >= FORM else tuple(words)
