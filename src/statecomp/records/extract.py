"""The summariser that asks no model: it keeps, of each span, the units a later step may need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from statecomp.errors import BadInput
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.situation import Situation
from statecomp.history.text import Kind
from statecomp.records.extracting.draft import Draft
from statecomp.records.extracting.elsewhere import lines_elsewhere, stands_elsewhere
from statecomp.records.extracting.headings import headings_of
from statecomp.records.extracting.order.foremost import (
    beside_kin,
    foremost,
    kin_across,
)
from statecomp.records.extracting.order.ranking import Setting, likelihood, read_alone, taken_up
from statecomp.records.extracting.order.unsaid import unsaid
from statecomp.records.extracting.order.valued import later_values, outdated
from statecomp.records.extracting.pieces import Form, Owner
from statecomp.records.extracting.reading.again import answered_again
from statecomp.records.extracting.reading.calls import words_of_call
from statecomp.records.extracting.reading.lasting import lasting, overwritten
from statecomp.records.extracting.reading.misleading import binding, misleads
from statecomp.records.extracting.reading.short import whole_answers
from statecomp.records.extracting.showing.totals import UnitTotals
from statecomp.records.extracting.steps import KnownStep, outline, steps_of
from statecomp.records.extracting.units import Place, Unit, parts_of, units_of
from statecomp.records.extracting.unread import unread
from statecomp.records.inventory import Name, inventory, read_names, worth
from statecomp.records.record import Record
from statecomp.records.verify import leads, owed
from statecomp.tokens import ESTIMATE

ENTRY_TOKENS = 4.0
"""What choosing a unit costs besides its text; keeps crumbs from crowding out sentences."""
STEP_TOKENS = 15
"""What one more step adds to the least a summary may have."""
LINE_TOKENS = 45
"""What one step's own line may take whatever the room: it is what readers find their way by."""
LIKE = 4.0
"""So many things of a kind in one answer are as likely as they look; of a list of fifty the
fortieth is seldom the one."""
FADE = 0.7
"""How fast one step's further units lose: later steps need something of most steps."""
NAMED = 150_000
"""What a missing name counts against its odds, which are understated, in tokens carried."""
EXTRA_SHARE, EXTRA_TOKENS = 0.225, 210
"""The share of its source, and the tokens besides, that a record may have with all its extras."""
STEPS, STEP_SHARE, MOST_SHARE = 12, 0.06, 0.6
"""Of so many steps on each further one adds to that share, up to the most: where steps are many and
short, much is needed and little is said twice."""
INDEX_SHARE = 0.06
"""The share of its source that an index of names may take on top: without, steps break."""
ROW_NEED, ROWS = 0.08, 6
"""How often a thing of a list of so many is needed again, at least: of 1,300 rows of recorded
runs 4 to 18 in a hundred were, whatever else was seen of them."""
FINISHED_BUDGET, FINISHED_WORTH = 0.6, 0.05
"""What a record of a finished task has of the usual budget, and of the worth of a name."""
CARRIED = 15.0
"""How many requests a token of a record is expected to be carried through."""


@dataclass(frozen=True, slots=True)
class ExtractiveSummarizer:
    """Deterministic summaries of about `budget` times the length of their source.

    Long outputs repeat themselves, so the first `dense` tokens of each interaction get twice the
    budget.  A short source may have a summary of `least` tokens and a line a step.  None gets more
    than three quarters of its source, unless `budget` says so.

    What a later step is likely to miss comes on top, if it is worth its tokens: missing it costs
    `name_worth`; then ids, paths and symbols that no unit carries, as an index of where they were
    shown.  With a worth of zero a summary keeps to its budget.
    """

    budget: float = 0.06
    least: int = 90
    name_worth: int = 45_000
    dense: int = 500
    count: Callable[[str], int] = ESTIMATE

    def __post_init__(self) -> None:
        if not 0.0 <= self.budget <= 1.0:  # also false for NaN
            raise BadInput(
                f"is a share of the source, from 0 to 1, not {self.budget}", field="budget"
            )
        for name in ("least", "name_worth", "dense"):
            if (value := getattr(self, name)) < 0:
                raise BadInput(f"must not be negative, not {value}", field=name)

    @property
    def usual_ratio(self) -> float:
        """What a summary takes of its source, on recorded runs, with the index of names.

        The shape was fitted to eleven settings, the height to the shipped ones.
        """
        told = self.budget * (1.0 + self.dense / 5000)
        worthy = max(0.04, 0.00052 * self.name_worth**0.5)
        names = INDEX_SHARE / 2 if self.name_worth else 0.0
        return min(0.75, float((told**1.5 + worthy**1.5) ** (2 / 3)) + names)

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        """What was done and how it ended, step by step, then the likeliest units that fit."""
        if situation.finished:
            return self._of_finished().summarize(span, replace(situation, finished=False))
        sizes, told_sizes, characters = zip(*(self._size(member) for member in span), strict=True)
        source = sum(sizes)
        density = sum(told_sizes) / max(1, sum(characters))
        most, room = self._rooms(sizes)
        seen = units_of(span)
        again = answered_again(span, situation)
        units = lasting([unit for unit in seen if not misleads(unit)])
        after = [s for s in situation.after if isinstance(s, Interaction)]
        old = outdated(units, situation) | overwritten(units, span, after)
        units = [unit for place, unit in enumerate(units) if place not in old]
        steps = steps_of(span, after, units, again)
        # What stands at another step as well is said by that step's number.
        units = [u for u in units if u.step not in again or u.place is not Place.OBSERVED]
        first = foremost(units, situation)
        chances = with_rows(_chances(units, steps, situation, first), units, len(span))
        bound = self._bound(room, most, source)
        told = outline(steps, min(most, max(bound, LINE_TOKENS * len(span))), self.count)
        told = replace(told, locations=unread(span, situation))
        # What was left out because it says nothing, or too much, was there all the same.
        totals = UnitTotals.of(seen, [step.length for step in steps], whole_answers(span))
        fresh = unsaid(chances, units, told, steps)
        across = kin_across(units, fresh, [words_of_call(member) for member in span])
        fresh, chances = levelled(fresh, across), levelled(chances, across)
        numbers = [step.number for step in steps]
        rules = binding(steps, situation)
        draft = Draft(told, units, numbers, density, totals, across, rules)
        reserve = self._reserve(told.record, owed(span, situation.rest), room)
        order, kin = beside_kin(ordered(units, fresh, density), units, across)
        order = sorted(order, key=lambda place: place not in first)
        room = max(room, self.count(told.record.body))
        draft.fill(order, room - reserve, self.count, first | kin, last=not self.name_worth)
        draft.shorten(room, self.count)
        if self.name_worth:
            needs = needed(chances, len(span))
            # A shorter span is held to its share; the index would take what rows leave of it.
            likely = waning(needs, units, density, kin) if len(span) > STEPS else needs
            worthy = [
                place
                for place in order
                if place in first or likely[place] * self.name_worth >= draft.cost(place) * CARRIED
            ]
            bound = max(bound, room)
            draft.complete(bound - reserve, self.count)
            bound = max(bound, self._bound(room, most, source, len(span)))
            draft.fill(worthy, bound - reserve, self.count, first, last=True)
            draft.shorten(bound, self.count)
            draft.tell(likeliest(units, chances, draft.untold()), most - reserve, self.count)
            bound = max(bound, draft.tokens(self.count))
            most = min(most, bound + round(source * INDEX_SHARE))
            names = _worth_listing(inventory(span, situation.rest, draft.record().body), steps)
            draft.index(names, needs, most - reserve, self.count)
        return draft.record()

    def read_ahead(self, segment: Segment) -> None:
        """Read a segment that may be summarised later, or stand beside what is.

        What can be told of it by itself is then remembered: of a step, all that is asked of it for
        a record before anything is chosen.
        """
        lines_elsewhere(Situation(before=(segment,)))
        later_values(Situation(after=(segment,)))
        if isinstance(segment, Interaction):
            self._size(segment)
            span, nothing = (segment,), Situation()
            units = [unit for unit in units_of(span) if not misleads(unit)]
            outdated(units, nothing)
            steps_of(span, (), units, answered_again(span, nothing))
            whole_answers(span)
            words_of_call(segment)
            read_alone(units)
            headings_of(units)
            owed(span, nothing.rest)
            unread(span, nothing)
            read_names(segment)

    def _size(self, member: Interaction) -> tuple[int, int, int]:
        """The tokens of a step, and the tokens and characters that units are cut from.

        Counted once.  Tags take more tokens than the words between them.
        """
        parts = parts_of(member)
        if self.count not in parts.notes:
            text = member.text
            source = told = self.count(text)
            if any(payload.page for payload in parts.payloads):
                text = "\n".join(payload.text for payload in parts.payloads)
                told = self.count(text)
            parts.notes[self.count] = source, told, len(text)
        size: tuple[int, int, int] = parts.notes[self.count]
        return size

    def _of_finished(self) -> ExtractiveSummarizer:
        """How a task is recorded that the user has moved on from: seldom is it needed again."""
        return replace(
            self,
            budget=self.budget * FINISHED_BUDGET,
            name_worth=round(self.name_worth * FINISHED_WORTH),
        )

    def _rooms(self, sizes: Sequence[int]) -> tuple[int, int]:
        """The most tokens a summary of steps of these sizes may have, and those it usually has."""
        source = sum(sizes)
        floor = self.least + STEP_TOKENS * (len(sizes) - 1)
        most = max(source * 3 // 4, round(source * self.budget))
        extra = sum(min(size, self.dense) for size in sizes) * self.budget
        return most, min(most, max(round(source * self.budget + extra), floor))

    def _bound(self, room: int, most: int, source: int, steps: int = 0) -> int:
        """What a summary may have with what is worth its tokens on top, wider for many steps."""
        share = min(MOST_SHARE, EXTRA_SHARE + STEP_SHARE * max(0, steps - STEPS))
        extra = round(source * share) + EXTRA_TOKENS if self.name_worth else 0
        return min(most, max(room, extra))

    def _reserve(self, known: Record, debts: Mapping[str, Kind], room: int) -> int:
        """Room for the identifiers that verification will add, whatever stands beside them."""
        missing = ", ".join(
            name for name, kind in debts.items() if name not in known.body and leads(name, kind)
        )
        return min(self.count(missing), room // 4)


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


def _worth_listing(names: Sequence[Name], steps: Sequence[KnownStep]) -> list[Name]:
    """Names that pay for themselves; what a refused call showed came to nothing."""
    return [
        name
        for name in names
        if worth(name) * NAMED >= CARRIED and not steps[name.step].ending.failed
    ]


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


def _chances(
    units: Sequence[Unit],
    steps: Sequence[KnownStep],
    situation: Situation,
    first: Container[int],
) -> list[float]:
    """How likely each unit is needed later; nothing that stands elsewhere or came to nothing is.

    Of lines that differ in figures alone some stand for the others, unless these come `first`.
    """
    setting, held = Setting.of(units, situation), lines_elsewhere(situation)
    return [
        0.0
        if stands_elsewhere(unit.text, held)
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
    if unit.place is Place.SAID:
        return False
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
