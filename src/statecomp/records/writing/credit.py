"""What a model that writes records may cost, and when it is better left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from threading import Lock
from time import monotonic

from statecomp.history.interaction import Interaction
from statecomp.recent import LruCache

REFUSED_SHARE = 0.25
"""Of what was spent, the most that may have gone into records that could not be used."""
FREE_REFUSALS = 2
"""The first ones prove nothing yet."""
FAILURES = 2
"""After so many in a row the model is left alone; after one that would come again, at once."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 60.0, 3600.0
DOUBLED = 2
"""A span whose record was refused is asked for again when it is so many times as long."""


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass
class Purse:
    """Dollars for one conversation; what was spent on refused records is told apart."""

    limit_dollars: float
    spent: float = 0.0
    refused: float = 0.0
    refusals: int = 0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def pay(self, dollars: float, *, in_vain: bool = False) -> None:
        with self._lock:
            self.spent += dollars
            if in_vain:
                self.refused += dollars
                self.refusals += 1

    def denies(self, dollars: float) -> str:
        """Why so much more is too much, or nothing."""
        with self._lock:
            return self._overdrawn(dollars) or self._wasted()

    def _overdrawn(self, dollars: float) -> str:
        if self.spent + dollars > self.limit_dollars:
            return f"${self.spent:.2f} of ${self.limit_dollars:.2f} for records is spent"
        return ""

    def _wasted(self) -> str:
        wasted = self.refused > REFUSED_SHARE * self.spent
        if wasted and self.refusals > FREE_REFUSALS:
            return f"{self.refusals} records could not be used (${self.refused:.2f})"
        return ""


@dataclass
class DayPurse(Purse):
    """Dollars for one day, then for the next, that all conversations share.

    What was refused to one of them is not held against the others.
    """

    today: Callable[[], date] = _today
    _day: date | None = None

    def pay(self, dollars: float, *, in_vain: bool = False) -> None:
        self._turn_over()
        super().pay(dollars, in_vain=in_vain)

    def denies(self, dollars: float) -> str:
        self._turn_over()
        with self._lock:
            return self._overdrawn(dollars)

    def _turn_over(self) -> None:
        with self._lock:
            if (today := self.today()) != self._day:
                self._day, self.spent, self.refused, self.refusals = today, 0.0, 0.0, 0


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
        return f"the writer is left alone for a while: {self._why}" if self._waits else ""

    @property
    def _waits(self) -> bool:
        return self.clock() < self._until


@dataclass
class Credit:
    """What one conversation may spend on records, out of purses it may share with others."""

    purses: Sequence[Purse] = ()
    breaker: Breaker = field(default_factory=Breaker)
    _refused: LruCache[str, int] = field(default_factory=lambda: LruCache(4096), repr=False)

    def denies(self, span: Sequence[Interaction], dollars: float) -> str:
        """Why no record of this span is asked for, or nothing."""
        for why in (self.breaker.open, *(purse.denies(dollars) for purse in self.purses)):
            if why:
                return why
        tokens = sum(member.tokens for member in span)
        most = max((self._refused.get(member.id) or 0 for member in span), default=0)
        return "a record of part of it was refused before" if tokens < DOUBLED * most else ""

    def pay(self, dollars: float, *, in_vain: bool = False) -> None:
        for purse in self.purses:
            purse.pay(dollars, in_vain=in_vain)

    def refuse(self, span: Sequence[Interaction]) -> None:
        tokens = sum(member.tokens for member in span)
        for member in span:
            self._refused.put(member.id, tokens)
