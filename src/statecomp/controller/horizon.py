"""How long a session still goes on: expected requests, from a prior and from sessions seen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Horizon:
    """Requests to expect when request `number` is made, this one counted.

    Before anything is known they are `start` and a share `growth` of what has passed: the longer a
    session has lasted, the longer it will.  Sessions seen before pull that towards the mean of what
    those that reached this number still had before them; the prior counts as `weight` of them.
    """

    start: float = 10.0
    growth: float = 0.2
    weight: float = 5.0
    lengths: tuple[int, ...] = ()  # requests of sessions that have ended, rising
    _longer: tuple[int, ...] = ()  # of each length and all above it, the sum

    @classmethod
    def of(cls, lengths: Iterable[int]) -> Horizon:
        """What sessions of one client show; one of a single request is no session."""
        known = sorted(length for length in lengths if length > 1)
        sums = tuple(accumulate(reversed(known)))[::-1]
        return cls(lengths=tuple(known), _longer=sums)

    def remaining(self, number: int) -> float:
        expected = self.weight * (self.start + self.growth * number)
        place = bisect_left(self.lengths, number)
        seen = len(self.lengths) - place
        if seen:
            expected += self._longer[place] - seen * (number - 1)
        return expected / (self.weight + seen)
