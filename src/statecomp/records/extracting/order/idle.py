"""Long lists of which nothing is known to matter: they are told by their first things alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from statecomp.history.text import COMMON
from statecomp.records.extracting.order.ranking import RARE, Setting
from statecomp.records.extracting.order.worded import spoken_in, template
from statecomp.records.extracting.pieces import Form
from statecomp.records.extracting.units import Place, Unit

LONG = 25
"""Things of a list that nobody can tell the needed ones of; a shorter list is told as it is."""
SAMPLE = 2
"""Things that say what it is a list of."""


def idle(units: Sequence[Unit], setting: Setting) -> set[int]:
    """Places of what stands in long lists from which the agent took up nothing.

    Their first things stay, and those that the user's own words lead to.
    """
    lists: dict[Hashable, dict[Hashable, list[int]]] = {}
    for place, unit in enumerate(units):
        if unit.place is Place.OBSERVED and (kind := _list_of(unit)):
            thing = unit.owner if unit.form is Form.FIELD else place
            lists.setdefault(kind, {}).setdefault(thing, []).append(place)
    return {
        place
        for things in lists.values()
        if len(things) >= LONG and not _taken_up(things, units, setting)
        for places in list(things.values())[SAMPLE:]
        for place in places
        if not _asked_for(units[place], setting)
    }


def _list_of(unit: Unit) -> Hashable:
    """The list a unit is of: a table, things that are called alike, lines of one form."""
    where = unit.step, unit.answer, unit.form
    if unit.form is Form.FIELD and unit.owner:
        return *where, unit.label.rpartition("; ")[2].partition(": ")[0]
    if unit.form is Form.LINE:
        return *where, unit.owner, template(unit.text)
    return (*where, unit.owner) if unit.form is Form.ROW else None


def _taken_up(
    things: Mapping[Hashable, Sequence[int]], units: Sequence[Unit], setting: Setting
) -> bool:
    """Whether the agent named anything of a list since, here or in what stays."""
    return any(
        setting.last_use.get(name, -1) >= units[place].step or setting.rest.agent_used(name)
        for places in things.values()
        for place in places
        for name in units[place].names
        if name not in COMMON
    )


def _asked_for(unit: Unit, setting: Setting) -> bool:
    """Whether it has a word of the user's that few others have."""
    asked = setting.rest.asked_words
    return any(word in asked and setting.common[word] <= RARE for word in spoken_in(unit.text))
