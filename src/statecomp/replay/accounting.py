"""What a sequence of requests costs: tokens, cache reads, dollars (appendix F.1)."""

from __future__ import annotations

from dataclasses import dataclass

from statecomp.controller.economics import Prices
from statecomp.history.history import History


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens of one or more requests.  `cached` is part of `input`; side calls stand apart."""

    input: int = 0
    cached: int = 0
    output: int = 0
    side_input: int = 0
    side_output: int = 0
    side_calls: int = 0

    @property
    def agent(self) -> int:
        return self.input + self.output

    @property
    def side(self) -> int:
        return self.side_input + self.side_output

    @property
    def total(self) -> int:
        return self.agent + self.side

    def __add__(self, other: Bill) -> Bill:
        return Bill(
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.side_input + other.side_input,
            self.side_output + other.side_output,
            self.side_calls + other.side_calls,
        )

    def dollars(self, prices: Prices) -> float:
        agent = prices.dollars(
            fresh=self.input - self.cached, cached=self.cached, output=self.output
        )
        return agent + prices.side_dollars(self.side_input, self.side_output)


def common_prefix(before: History, after: History) -> tuple[int, int]:
    """How many leading segments two requests share, and their tokens: what a cache would hold.

    Providers cache the longest unchanged prefix; everything from the first changed position on is
    read, and billed, again.
    """
    tokens = 0
    for place, (old, new) in enumerate(zip(before.segments, after.segments, strict=False)):
        if old is not new and old.id != new.id:
            return place, tokens
        tokens += new.tokens
    return min(len(before.segments), len(after.segments)), tokens
