"""What a model that writes records may cost, and when it is better left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from math import inf
from threading import Lock
from time import monotonic

from statecomp.history.interaction import Interaction
from statecomp.recent import LruCache

REFUSED_SHARE = 0.25
"""Of what was spent, the most that may go into records that could not be used."""
FREE_REFUSALS = 2
"""The first ones prove nothing yet: what so many questions may cost may be lost in any case."""
REST_S = 3600.0
"""So long after a refusal one more record may be asked for, whatever the share."""
FAILURES = 2
"""After so many in a row the model is left alone; after one that would come again, at once."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 60.0, 3600.0
DOUBLED = 2
"""A span whose record was refused is asked for again when it is so many times as long."""


def today() -> date:
    return datetime.now(UTC).date()


def midnight_s(day: date) -> float:
    """When a day begins: budgets are of days in UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _money(dollars: float) -> str:
    """What one record costs is a fraction of a cent."""
    return f"${dollars:.2f}" if dollars >= 1 or round(dollars, 2) == dollars else f"${dollars:.4f}"


@dataclass
class Purse:
    """Dollars for one conversation; what was spent on refused records is told apart.

    It is known to this process alone: after a restart the share begins anew.
    What is being asked for is `held`, at the most that it may cost, so that two who ask at the same
    time cannot spend the same dollars.  `written_down` tells what was spent since a moment, also by
    other processes and before this one began.
    """

    limit_dollars: float
    written_down: Callable[[float], float] = lambda since_s: 0.0
    spent: float = 0.0
    held: float = 0.0
    refused: float = 0.0
    refusals: int = 0
    clock: Callable[[], float] = monotonic
    _dearest: float = 0.0
    _refused_at_s: float = -inf
    _lock: Lock = field(default_factory=Lock, repr=False)

    def take(self, dollars: float) -> str:
        """Hold so much, or why it is too much."""
        known = self.written_down(self._since_s)
        with self._lock:
            self.spent = max(self.spent, known)
            self._dearest = max(self._dearest, dollars)
            if why := self._denies(dollars):
                return why
            self.held += dollars
            return ""

    def lacks(self, dollars: float) -> bool:
        """Whether so much would be denied, by what is known here."""
        with self._lock:
            return bool(self._denies(dollars))

    def give_back(self, dollars: float) -> None:
        with self._lock:
            self.held = max(0.0, self.held - dollars)

    def pay(self, dollars: float) -> None:
        with self._lock:
            self.spent += dollars

    def waste(self, dollars: float) -> None:
        """So much of what was paid was for a record that could not be used."""
        with self._lock:
            if dollars > 0:
                self.refused += dollars
                self.refusals += 1
                self._refused_at_s = self.clock()

    @property
    def _since_s(self) -> float:
        return 0.0

    def _denies(self, dollars: float) -> str:
        return self._overdrawn(dollars) or self._wasted(dollars)

    def _overdrawn(self, dollars: float) -> str:
        if self.spent + self.held + dollars > self.limit_dollars:
            told = f"{_money(self.spent)} of {_money(self.limit_dollars)} for records is spent"
            return f"{told}, and this may cost up to {_money(dollars)}"
        return ""

    def _wasted(self, dollars: float) -> str:
        """Whatever is being asked for may have to be refused too, and be as dear as the others."""
        most, may_add = REFUSED_SHARE * self.spent, dollars
        if self.refusals < FREE_REFUSALS:
            most = max(most, FREE_REFUSALS * max(self._dearest, dollars))
        else:
            may_add = min(dollars, self.refused / self.refusals)
        rested = not self.held and self.clock() - self._refused_at_s >= REST_S
        if rested or self.refused + self.held + may_add <= most:
            return ""
        told = f"{_money(self.refused)} went into records that could not be used"
        return f"{told}, and more than {REFUSED_SHARE:.0%} of {_money(self.spent)} shall not"


@dataclass
class DayPurse(Purse):
    """Dollars for one day, then for the next, that all conversations share.

    What was refused to one of them is not held against the others.
    """

    today: Callable[[], date] = today
    _day: date = date.min

    def take(self, dollars: float) -> str:
        self._turn_over()
        return super().take(dollars)

    def lacks(self, dollars: float) -> bool:
        self._turn_over()
        return super().lacks(dollars)

    def pay(self, dollars: float) -> None:
        self._turn_over()
        super().pay(dollars)

    @property
    def _since_s(self) -> float:
        return midnight_s(self._day)

    def _denies(self, dollars: float) -> str:
        return self._overdrawn(dollars)

    def _turn_over(self) -> None:
        with self._lock:
            if (today := self.today()) != self._day:
                self._day, self.spent = today, 0.0


@dataclass
class Breaker:
    """Leaves a model alone that fails, longer each time; one good answer makes up for all."""

    clock: Callable[[], float] = monotonic
    _failures: int = 0
    _until: float = 0.0
    _silent_until: float = 0.0
    _pause_s: float = FIRST_PAUSE_S
    _why: str = ""

    def failed(self, why: str, *, passing: bool) -> None:
        """`passing` says that the same question may fare better in a moment."""
        self._failures += 1
        self._why = why
        self._silent_until = self.clock() + self._pause_s
        if self._failures >= FAILURES or not passing:
            self._until = self.clock() + self._pause_s
            self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s)

    def answered(self) -> None:
        self._failures, self._until, self._pause_s = 0, 0.0, FIRST_PAUSE_S
        self._silent_until = 0.0

    @property
    def silent(self) -> bool:
        """Whether it gave no answer when it was last asked, not long ago; it may be asked again."""
        return self.clock() < self._silent_until

    @property
    def open(self) -> str:
        """Why nothing is asked now, or nothing."""
        waits = self.clock() < self._until
        return f"the writer is left alone for a while: {self._why}" if waits else ""


@dataclass
class Credit:
    """What one conversation may spend on records, out of purses it may share with others."""

    purses: Sequence[Purse] = ()
    breaker: Breaker = field(default_factory=Breaker)
    _refused: LruCache[str, int] = field(default_factory=lambda: LruCache(4096), repr=False)

    def take(self, span: Sequence[Interaction], dollars: float) -> str:
        """Hold so much of every purse, or why no record of this span is asked for."""
        if why := self.breaker.open:
            return why
        if self.refused(span):
            return "a record of part of it was refused before"
        for place, purse in enumerate(self.purses):
            if why := purse.take(dollars):
                for earlier in self.purses[:place]:
                    earlier.give_back(dollars)
                return why
        return ""

    def lacks(self, dollars: float) -> bool:
        """Whether some purse has not so much left for any record."""
        return any(purse.lacks(dollars) for purse in self.purses)

    def refused(self, span: Sequence[Interaction]) -> bool:
        """Whether a record of it was refused, and it has not doubled since."""
        tokens = sum(member.tokens for member in span)
        most = max((self._refused.get(member.id) or 0 for member in span), default=0)
        return tokens < DOUBLED * most

    def give_back(self, dollars: float) -> None:
        for purse in self.purses:
            purse.give_back(dollars)

    def pay(self, dollars: float) -> None:
        for purse in self.purses:
            purse.pay(dollars)

    def waste(self, dollars: float) -> None:
        for purse in self.purses:
            purse.waste(dollars)

    def refuse(self, span: Sequence[Interaction]) -> None:
        tokens = sum(member.tokens for member in span)
        for member in span:
            self._refused.put(member.id, tokens)
