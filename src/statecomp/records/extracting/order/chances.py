"""How likely each unit is needed later, by itself and against the others, and their order by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Sequence

from statecomp.history.situation import Situation
from statecomp.records.extracting.elsewhere import lines_elsewhere, stands_elsewhere
from statecomp.records.extracting.order.ranking import Setting, likelihood, taken_up
from statecomp.records.extracting.pieces import Form, Owner
from statecomp.records.extracting.steps import KnownStep
from statecomp.records.extracting.units import WORDS, Place, Unit

ENTRY_TOKENS = 4.0
"""What choosing a unit costs besides its text; keeps crumbs from crowding out sentences."""
LIKE = 4.0
"""So many things of a kind in one answer are as likely as they look; of a list of fifty the
fortieth is seldom the one."""
FADE = 0.7
"""How fast one step's further units lose: later steps need something of most steps."""
ROW_NEED, ROWS = 0.08, 6
"""How often a thing of a list of so many is needed again, at least: of 1,300 rows of recorded
runs 4 to 18 in a hundred were, whatever else was seen of them."""
FAINT = 0.01
"""What a thing of a list is worth of which nothing is known to matter."""
HEARD = 0.7
"""What the parts of an answer are needed still, against others, where the agent said what it made
of it: with 0.4 as many of the strings that later steps use were kept as with all, in less."""


def likeliest(
    units: Sequence[Unit], chances: Sequence[float], answers: Container[tuple[int, int]]
) -> list[int]:
    """The unit of each of these answers, by step and call, that is needed most likely."""
    best: dict[tuple[int, int], int] = {}
    for place, unit in enumerate(units):
        answer = (unit.step, unit.answer)
        if unit.place is not Place.OBSERVED or unit.form is Form.LIST or answer not in answers:
            continue
        if answer not in best or chances[place] > chances[best[answer]]:
            best[answer] = place
    return list(best.values())


def _came_to_nothing(unit: Unit, steps: Sequence[KnownStep]) -> bool:
    """Whether it is of a program that failed, or of a text that was sent in vain."""
    written = unit.place is Place.CALL and unit.form is not Form.FIELD
    step = steps[unit.step]
    return written and step.ending.failed and not step.below  # of several calls some went well


def faint(chances: Sequence[float], idle: Container[int]) -> list[float]:
    """The chances, where what stands in idle lists comes behind everything else."""
    return [chance * FAINT if place in idle else chance for place, chance in enumerate(chances)]


def with_rows(chances: Sequence[float], units: Sequence[Unit], steps: int) -> list[float]:
    """The chances, with no list of things below what the things of such lists are needed."""
    least = ROW_NEED * sum(chances) / steps
    tables: dict[Owner | None, list[float]] = {}
    for unit, chance in zip(units, chances, strict=True):
        if chance and _tabled(unit):
            tables.setdefault(unit.owner, []).append(chance)
    alike = Counter(_columns(owner) for owner in tables)
    raised = {
        owner: max(1.0, least * len(rows) / sum(rows))
        for owner, rows in tables.items()
        # What each of many things has a table of says little of any.
        if len(rows) >= ROWS and alike[_columns(owner)] < ROWS
    }
    return [
        max(least, chance * raised[unit.owner])
        if chance and _tabled(unit) and unit.owner in raised
        else chance
        for unit, chance in zip(units, chances, strict=True)
    ]


def _columns(owner: Owner | None) -> str:
    return owner.label.rpartition("; ")[2] if owner else ""


def _tabled(unit: Unit) -> bool:
    return unit.form is Form.ROW and unit.place is Place.OBSERVED and " | " in unit.label


def chances_of(
    units: Sequence[Unit],
    steps: Sequence[KnownStep],
    situation: Situation,
    setting: Setting,
    first: Container[int],
    wanted: Container[int],
) -> list[float]:
    """How likely each unit is needed later; nothing that came to nothing is.

    Of what stands elsewhere only what is `wanted` of every step is needed, and of lines that differ
    in figures alone some stand for the others, unless these come `first`.
    """
    held = lines_elsewhere(situation)
    return [
        0.0
        if unit.place in WORDS
        or (place not in wanted and stands_elsewhere(unit.text, held))
        or _came_to_nothing(unit, steps)
        or (unit.alike and place not in first and _is_counted(unit, setting))
        else likelihood(unit, setting)
        for place, unit in enumerate(units)
    ]


def _is_counted(unit: Unit, setting: Setting) -> bool:
    """Whether the ends of the run it stands in say it with a count: of equal lines the first does.

    A line amid the run that the agent took a value of is shown.
    """
    run = unit.alike
    if setting.seen[unit.text] >= len(run):
        return unit.index > run.start
    amid = run.start < unit.index < run.stop - 1
    return amid and not taken_up(unit, setting.last_use, setting.rest)


def levelled(chances: Sequence[float], groups: Sequence[Sequence[int]]) -> list[float]:
    """The chances, those of lines that belong together all the same: all are kept, or none."""
    level = list(chances)
    for group in groups:
        mean = sum(chances[place] for place in group) / len(group)
        for place in group:
            level[place] = mean
    return level


def needed(chances: Sequence[float], steps: int) -> list[float]:
    """How often each unit will be needed: about one thing of each step is."""
    whole = sum(chances) or 1.0
    return [chance / whole * steps for chance in chances]


def heard(needs: Sequence[float], units: Sequence[Unit], steps: Sequence[KnownStep]) -> list[float]:
    """The needs, less of what an answer holds of which the agent said what it made of it."""
    return [
        need * HEARD if unit.place is Place.OBSERVED and steps[unit.step].view else need
        for need, unit in zip(needs, units, strict=True)
    ]


def waning(
    needs: Sequence[float], units: Sequence[Unit], density: float, kin: Container[int] = ()
) -> list[float]:
    """The needs, where each further thing of a kind in an answer is less likely the one.

    Not of lines that belong together (`kin`): of those all are kept, or none.
    """
    left = list(needs)
    kinds: dict[Hashable, list[int]] = {}
    for place, (unit, need) in enumerate(zip(units, needs, strict=True)):
        if need and place not in kin:
            kinds.setdefault(_kind_of(unit), []).append(place)
    for kind in kinds.values():
        kind.sort(key=lambda place: -_worth_of(units[place], needs[place], density))
        for rank, place in enumerate(kind, start=1):
            left[place] /= max(1.0, rank / LIKE)
    return left


def _kind_of(unit: Unit) -> Hashable:
    """Where it stands, and with what: fields of like things in one answer are of a kind."""
    of = unit.label.partition(": ")[0] if unit.form is Form.FIELD else unit.owner
    return unit.step, unit.place, unit.answer, unit.form, of


def _worth_of(unit: Unit, chance: float, density: float) -> float:
    return chance / (len(unit.text) * density + 1.0 + ENTRY_TOKENS)


def ordered(units: Sequence[Unit], chances: Sequence[float], density: float) -> list[int]:
    """Places of the units that have a chance, the worthiest first."""
    worth = {
        place: _worth_of(units[place], chance, density)
        for place, chance in enumerate(chances)
        if chance
    }
    return _faded(worth, units)


def _faded(worth: dict[int, float], units: Sequence[Unit]) -> list[int]:
    taken: dict[int, int] = {}
    for place in sorted(worth, key=lambda place: -worth[place]):
        step = units[place].step
        taken[step] = taken.get(step, 0) + 1
        worth[place] /= taken[step] ** FADE
    return sorted(worth, key=lambda place: -worth[place])
