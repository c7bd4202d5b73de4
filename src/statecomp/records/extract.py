"""The summariser that asks no model: it keeps, of each span, the units a later step may need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from statecomp.errors import BadInput
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.situation import Situation
from statecomp.history.text import Kind
from statecomp.records.extracting.draft import Draft
from statecomp.records.extracting.elsewhere import lines_elsewhere
from statecomp.records.extracting.order.chances import (
    chances_of,
    faint,
    heard,
    levelled,
    likeliest,
    needed,
    ordered,
    waning,
    with_rows,
)
from statecomp.records.extracting.order.foremost import (
    beside_kin,
    foremost,
    keyed,
    kin_across,
)
from statecomp.records.extracting.order.idle import idle
from statecomp.records.extracting.order.ranking import Setting, read_alone
from statecomp.records.extracting.order.unsaid import unsaid
from statecomp.records.extracting.order.valued import later_values, outdated
from statecomp.records.extracting.reading.again import answered_again
from statecomp.records.extracting.reading.calls import words_of_call
from statecomp.records.extracting.reading.lasting import overwritten, superseded
from statecomp.records.extracting.reading.misleading import binding, misleads
from statecomp.records.extracting.reading.short import whole_answers
from statecomp.records.extracting.showing.headings import headings_of
from statecomp.records.extracting.showing.totals import UnitTotals
from statecomp.records.extracting.showing.views import read_views, with_views
from statecomp.records.extracting.steps import KnownStep, outline, steps_of
from statecomp.records.extracting.units import Place, parts_of, units_of
from statecomp.records.extracting.unread import unread
from statecomp.records.inventory import Name, inventory, read_names, worth
from statecomp.records.record import Record
from statecomp.records.still_open import still_open
from statecomp.records.verify import leads, owed
from statecomp.tokens import ESTIMATE

STEP_TOKENS = 15
"""What one more step adds to the least a summary may have."""
LINE_TOKENS = 45
"""What one step's own line may take whatever the room: it is what readers find their way by."""
NAMED = 150_000
"""What a missing name counts against its odds, which are understated, in tokens carried."""
EXTRA_SHARE, EXTRA_TOKENS = 0.225, 210
"""The share of its source, and the tokens besides, that a record may have with all its extras."""
STEPS, STEP_SHARE, MOST_SHARE = 12, 0.06, 0.6
"""Of so many steps on each further one adds to that share, up to the most: where steps are many and
short, much is needed and little is said twice."""
INDEX_SHARE = 0.06
"""The share of its source that an index of names may take on top: without, steps break."""
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
        writer = self._of_finished() if situation.finished else self
        return writer._extracted(span, situation)

    def _extracted(self, span: Sequence[Interaction], situation: Situation) -> Record:
        sizes, told_sizes, characters = zip(*(self._size(member) for member in span), strict=True)
        source = sum(sizes)
        density = sum(told_sizes) / max(1, sum(characters))
        most, room = self._rooms(sizes)
        seen = units_of(span)
        again = answered_again(span, situation)
        units = [unit for unit in seen if not misleads(unit)]
        after = [s for s in situation.after if isinstance(s, Interaction)]
        old = superseded(units) | outdated(units, situation) | overwritten(units, span, after)
        old -= keyed(units, situation)
        units = [unit for place, unit in enumerate(units) if place not in old]
        steps = with_views(steps_of(span, after, units, again), units)
        # What stands at another step as well is said by that step's number.
        units = [u for u in units if u.step not in again or u.place is not Place.OBSERVED]
        wanted = keyed(units, situation)
        first = foremost(units, situation) | wanted
        setting = Setting.of(units, situation)
        chances = chances_of(units, steps, situation, setting, first, wanted)
        chances = faint(with_rows(chances, units, len(span)), idle(units, setting) - first)
        bound = self._bound(room, most, source)
        told = outline(steps, min(most, max(bound, LINE_TOKENS * len(span))), self.count)
        told = replace(
            told, locations=unread(span, situation), unresolved=still_open(span, situation)
        )
        # What was left out because it says nothing, or too much, was there all the same.
        totals = UnitTotals.of(seen, [step.length for step in steps], whole_answers(span))
        fresh = unsaid(chances, units, told, steps)
        across = kin_across(units, fresh, [words_of_call(member) for member in span])
        fresh, chances = levelled(fresh, across), levelled(chances, across)
        numbers = [step.number for step in steps]
        rules = binding(steps, situation)
        draft = Draft(told, units, numbers, density, totals, across, rules, wanted)
        reserve = self._reserve(told.record, owed(span, situation.rest), room)
        order, kin = beside_kin(ordered(units, fresh, density), units, across)
        order = sorted(order, key=lambda place: place not in first)
        room = max(room, self.count(told.record.body))
        draft.fill(order, room - reserve, self.count, first | kin, last=not self.name_worth)
        draft.shorten(room, self.count)
        if self.name_worth:
            needs = heard(needed(chances, len(span)), units, steps)
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
            read_views(units)
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


def _worth_listing(names: Sequence[Name], steps: Sequence[KnownStep]) -> list[Name]:
    """Names that pay for themselves; what a refused call showed came to nothing."""
    return [
        name
        for name in names
        if worth(name) * NAMED >= CARRIED and not steps[name.step].ending.failed
    ]
