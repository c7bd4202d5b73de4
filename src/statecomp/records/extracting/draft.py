"""A record being filled: first what is likely, then what is worth its tokens, then names."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, zip_longest
from math import ceil
from operator import neg
from typing import Any

from statecomp.history.text import words_of
from statecomp.records.extracting.compose import TellsUnits, composed, label_cost
from statecomp.records.extracting.pieces import Form, Owner, shortened
from statecomp.records.extracting.showing.headings import headings_of
from statecomp.records.extracting.showing.totals import UnitTotals
from statecomp.records.extracting.steps import Outline
from statecomp.records.extracting.units import Place, Unit
from statecomp.records.inventory import Name, listing_cost, rows_of, worth
from statecomp.records.record import Record, entry

UNDERSTATED = 15.0
"""How many times rarer the odds of a name are than the chance of its unit; fitted apart."""
_BARE = re.compile(
    r"https?://|\.\w{1,5}\Z|@\w+\Z|(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{6,}\Z|0x[0-9a-f]+\Z|"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z|\d+(?:[.:]\d+)*[-+~/]\S*\Z|"
    r"[a-z][\w-]*/v?\d[\d.]*\Z|.*[\u3000-\u9fff].{6}",
    re.IGNORECASE,
)
"""What says nothing in a list: a link, the ending of files, a mark of a comment, a hash, an id, a
version or a ratio, a program with its version, a sentence without blanks."""


TOGETHER, TOGETHER_CHARS = 6, 240
"""Fields of an object, or lines that one of several commands answered, that stay together."""


def _stays_whole(unit: Unit) -> bool:
    """Whether it is of an object, or of what a command of several answered."""
    return unit.form is Form.FIELD or unit.label.startswith("$ ")


def _together(units: Sequence[Unit], totals: UnitTotals) -> dict[int, list[int]]:
    """The units that are taken with each unit: a short answer is shown as it is, or not at all."""
    groups: dict[object, list[int]] = {}
    for place, unit in enumerate(units):
        if unit.place is Place.OBSERVED and unit.step in totals.whole:
            groups.setdefault(unit.step, []).append(place)
        elif unit.place is Place.OBSERVED and unit.owner and _stays_whole(unit):
            groups.setdefault(unit.owner, []).append(place)
    found: dict[int, list[int]] = {}
    for key, group in groups.items():
        chars = sum(len(units[place].text) for place in group)
        if isinstance(key, int) or (len(group) <= TOGETHER and chars <= TOGETHER_CHARS):
            found.update((place, group) for place in group)
    return found


MORE = "some more names in its output:"
ALIKE_CHARS = 60
"""Characters of a line that says which lines of other steps are left out."""


class Draft:
    """A record being filled: the outline of every step, then units, best first."""

    def __init__(
        self,
        outline: Outline,
        units: Sequence[Unit],
        numbers: Sequence[int],
        density: float,
        totals: UnitTotals,
        kin: Sequence[Sequence[int]] = (),
        binding: Container[int] = (),
        everywhere: Container[int] = (),
    ) -> None:
        self.outline = outline
        self._units = units
        # How deep lines stand costs next to nothing.
        self._lengths = [
            sum(len(line.lstrip()) for line in unit.text.split("\n"))
            if unit.form is Form.CODE
            else len(unit.text)
            for unit in units
        ]
        self._numbers = numbers
        self._density = density
        self._headings = headings_of(units, binding)
        self._totals = totals
        self._kin = kin
        self._everywhere = everywhere
        self._tells = TellsUnits(totals)
        self._chosen: list[int] = []
        self._names: list[Name] = []
        self._opened: dict[tuple[int, Owner], bool] = {}
        self._together = _together(units, totals)
        self._written: dict[object, Record] = {}
        self._counted: dict[object, int] = {}

    def cost(self, place: int) -> float:
        together = self._together.get(place)
        return sum(map(self._cost, together)) if together else self._cost(place)

    def _cost(self, place: int) -> float:
        label = label_cost(self._units[place], self._opened)
        return (self._lengths[place] + label) * self._density + 1.0

    def _fitting(self, place: int, left: float) -> float:
        """What a unit costs; an answer that does not fit as a whole is cut after all."""
        if self.cost(place) > left and len(others := self._with(place)) > 1:
            for other in others:
                del self._together[other]
            step = self._units[place].step
            whole = {kept: text for kept, text in self._totals.whole.items() if kept != step}
            self._totals = replace(self._totals, whole=whole)
            self._tells = TellsUnits(self._totals)
        return self.cost(place)

    def _with(self, place: int) -> Sequence[int]:
        """What is taken with a unit: an answer that is short is shown as it is."""
        return self._together.get(place, (place,))

    def fill(
        self,
        order: Sequence[int],
        room: int,
        count: Callable[[str], int],
        always: Container[int] = (),
        *,
        last: bool = False,
    ) -> None:
        """Take units in order while they fit: first what is new, then what repeats words.

        Those of `always` wait for no room to be left: another number may be all that is new.  When
        it is filled for the `last` time, what does not fit as a whole is cut.
        """
        body = self.record().body
        said = set(words_of(body))
        left = float(room - self.tokens(count))
        texts = set(map(self._saying, self._chosen))
        for only_new in (True, False):
            for place in order:
                unit = self._units[place]
                cost = self._fitting(place, left) if last else self.cost(place)
                if cost > left or self._saying(place) in texts:
                    continue
                words = words_of(unit.text)
                if only_new and place not in always and said.issuperset(words):
                    continue
                self._take(place)
                texts.update(map(self._saying, self._with(place)))
                said.update(words)
                left -= cost

    def _saying(self, place: int) -> tuple[str, int]:
        """What a unit says, said once; once at each step what is wanted `everywhere`."""
        unit = self._units[place]
        return unit.text, unit.step if place in self._everywhere else -1

    def complete(self, room: int, count: Callable[[str], int]) -> None:
        """Take all rules of a document that binds the work, where they fit: one is none."""
        rules: dict[int, list[int]] = {}
        for place, (unit, heading) in enumerate(zip(self._units, self._headings, strict=True)):
            if heading == "constraints" and place not in self._chosen:
                rules.setdefault(unit.step, []).append(place)
        for missing in rules.values():
            left = room - self.tokens(count)
            if sum(map(self.cost, missing)) <= left:
                for place in missing:
                    self._take(place)

    def untold(self) -> set[tuple[int, int]]:
        """The answers, by step and call, of which neither a line nor a unit says what came."""
        chosen = (self._units[place] for place in self._chosen)
        shown = {(unit.step, unit.answer) for unit in chosen if unit.place is Place.OBSERVED}
        return {*self.outline.bare} - shown

    def tell(self, places: Sequence[int], room: int, count: Callable[[str], int]) -> None:
        """Take these units where they fit, also those that are shown of another step."""
        left = room - self.tokens(count) if places else 0.0
        for place in places:
            if (cost := self._fitting(place, left)) <= left:
                self._take(place)
                left -= cost

    def shorten(self, room: int, count: Callable[[str], int]) -> None:
        """Give up the last names, and then the last units, where labels made it too long."""
        names, chosen = reversed(self._names.copy()), reversed(self._chosen.copy())
        self._give_up(self._names, map(_cost_of_name, names), room, count)
        self._give_up(self._chosen, map(self._cost, chosen), room, count)

    def _give_up(
        self,
        taken: list[Any],
        costs: Iterator[float],  # of the last first
        room: int,
        count: Callable[[str], int],
    ) -> None:
        """Keep so many of what was taken as fit: nearly as many as their costs say.

        Composing and counting a record takes long, so it is tried where it is about to fit only.
        """
        over = self.tokens(count) - room
        if not taken or over <= 0:
            return
        every, lengths = list(taken), _lengths(len(taken))
        freed = accumulate(costs)
        spare = next((n for n, tokens in enumerate(freed, 1) if tokens >= over), len(every))
        # With the first many of them it is too long, with the second many it is not.
        long, short = 0, len(lengths) - 1
        place = bisect_left(lengths, spare - len(every), key=neg)
        while short - long > 1:
            place = min(max(place, long + 1), short - 1)
            taken[:] = every[: lengths[place]]
            left = self.tokens(count) - room
            long, short = (place, short) if left > 0 else (long, place)
            place = ceil(place * over / max(1, over - left))
        taken[:] = every[: lengths[short]]

    def tokens(self, count: Callable[[str], int]) -> int:
        """What is chosen so far, counted again only after something changed."""
        state = self._state()
        if (known := self._counted.get(state)) is None:
            known = self._counted[state] = count(self.record().body)
        return known

    def index(
        self,
        names: Sequence[Name],
        needs: Sequence[float],
        room: int,
        count: Callable[[str], int],
    ) -> None:
        """Identifiers worth their tokens that no unit says yet, the worthiest first.

        What belongs to an object or a row is shown with it, or not at all; what stands alone is
        listed under the step that showed it.
        """
        body = self.record().body
        left = float(room - self.tokens(count))
        listed: set[tuple[int, str]] = set()
        for _, place, name in self._wanted([n for n in names if n.text not in body], needs):
            cost = self._fitting(place, left) if name is None else listing_cost(name, listed)
            if cost > left:
                continue
            left -= cost
            if name is None:
                self._take(place)
            else:
                self._names.append(name)
                listed.add((name.step, name.key))

    def _wanted(
        self, missing: Sequence[Name], needs: Sequence[float]
    ) -> list[tuple[float, int, Name | None]]:
        """Units that hold a missing name, and names without one, each with what a token buys."""
        free, owned = named_in(self._units)
        odds: dict[int, float] = {}
        for name in missing:
            if (place := owned.get(name.text)) is not None:
                odds[place] = odds.get(place, needs[place] / UNDERSTATED) + name.odds
        texts = {self._units[place].text for place in self._chosen}
        found: list[tuple[float, int, Name | None]] = [
            (value / self.cost(place), place, None)
            for place, value in odds.items()
            if self._units[place].text not in texts
        ]
        found += [
            (worth(name), -1, name)
            for name in missing
            if (name.step, name.text) in free and not _BARE.match(name.text)
        ]
        return sorted(found, key=lambda entry: -entry[0])

    def _take(self, place: int) -> None:
        for taken in self._with(place):
            unit = self._units[taken]
            if taken not in self._chosen:
                self._chosen.append(taken)
            if unit.owner:
                self._opened[unit.step, unit.owner] = True

    def record(self) -> Record:
        """What is chosen so far; written again only after something changed."""
        state = self._state()
        if (known := self._written.get(state)) is None:
            known = self._written[state] = self._composed()
        return known

    def _state(self) -> object:
        return tuple(self._chosen), tuple(self._names), self._tells

    def _whole_rules(self) -> set[int]:
        """The chosen units, without rules of which only some are: a part of them binds nobody."""
        rules = Counter(
            self._units[place].owner
            for place in self._chosen
            if self._headings[place] == "constraints"
        )
        return {
            place
            for place in self._chosen
            if self._headings[place] != "constraints"
            or rules[owner := self._units[place].owner] >= self._totals.below.get(owner, 0)
        }

    def _left_out(self) -> Iterator[str]:
        """Which like calls answered a line too that is shown of others: some look like all."""
        chosen = set(self._chosen)
        for group in self._kin:
            shown = [place for place in group if place in chosen]
            left = [place for place in group if place not in chosen]
            if left and len(shown) > 1:
                numbers = ", ".join(str(self._numbers[self._units[place].step]) for place in left)
                told = shortened(self._units[shown[0]].text, ALIKE_CHARS)
                yield f"steps {numbers} answered a line like `{told}` as well, left out here"

    def _composed(self) -> Record:
        whole = self._whole_rules()
        units = [
            (self._units[place], self._headings[place] if place in whole else "facts")
            for place in sorted(self._chosen)
        ]
        record = composed(self.outline, units, self._numbers, self._tells)
        facts = (*self._with_names(record.facts), *self._left_out())
        return replace(record, facts=facts)

    def _with_names(self, facts: Sequence[str]) -> Iterator[str]:
        """The facts, below those of a step the names that are listed of its output."""
        by_step: dict[int, list[Name]] = {}
        for name in self._names:
            by_step.setdefault(name.step, []).append(name)
        # The steps' own lines come first, and in their order.
        places = [place for place, _ in self.outline.lines]
        for fact, place in zip_longest(facts, places, fillvalue=-1):
            rows = rows_of(by_step.pop(place, ()))
            below = (f"{MORE} {rows[0]}",) if len(rows) == 1 else (MORE, *(f"  {r}" for r in rows))
            yield "\n  ".join((str(fact), *(below if rows else ())))
        for step, names in sorted(by_step.items()):
            yield entry(f"{self._numbers[step]}, {MORE}", rows_of(names))


def _lengths(count: int) -> list[int]:
    """How many there are after each time that a fiftieth, or one, is given up."""
    lengths = [count]
    while count:
        count -= max(1, count // 50)
        lengths.append(count)
    return lengths


def _cost_of_name(name: Name) -> float:
    return listing_cost(name, {(name.step, name.key)})


def named_in(units: Sequence[Unit]) -> tuple[set[tuple[int, str]], dict[str, int]]:
    """The names that stand alone in a step's answer, and those of things with a unit."""
    owned, free = dict[str, int](), set[tuple[int, str]]()
    for place, unit in enumerate(units):
        if unit.place is not Place.OBSERVED:
            continue
        if unit.owner and unit.form in (Form.FIELD, Form.ROW):
            owned.update((name, place) for name in unit.names if name not in owned)
        else:
            free.update((unit.step, name) for name in unit.names)
    return {(step, name) for step, name in free if name not in owned}, owned
