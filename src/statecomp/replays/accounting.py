"""What a sequence of requests costs: tokens, cache reads, dollars (appendix F.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from statecomp.controller.prices import Prices
from statecomp.history.history import History
from statecomp.llm.side import SideCall


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens of one or more requests.  Side calls stand apart.

    `cached` is the part of `input` that stood unchanged in the request before; how much of it a
    provider reads from its cache depends on the provider.
    """

    input: int = 0
    cached: int = 0
    output: int = 0
    side_input: int = 0
    side_output: int = 0
    side_calls: int = 0
    side_dollars: float | None = None  # where the model that was asked has prices of its own

    @property
    def agent(self) -> int:
        return self.input + self.output

    @property
    def side(self) -> int:
        return self.side_input + self.side_output

    @property
    def total(self) -> int:
        return self.agent + self.side

    def with_side(self, calls: Sequence[SideCall]) -> Bill:
        """The same with what was asked of models beside it."""
        dollars = [call.dollars for call in calls if call.dollars is not None]
        return replace(
            self,
            side_input=sum(call.input_tokens for call in calls),
            side_output=sum(call.output_tokens for call in calls),
            side_calls=len(calls),
            side_dollars=sum(dollars) if calls and len(dollars) == len(calls) else None,
        )

    def __add__(self, other: Bill) -> Bill:
        return Bill(
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.side_input + other.side_input,
            self.side_output + other.side_output,
            self.side_calls + other.side_calls,
            _sum(self.side_dollars, other.side_dollars),
        )


def dollars_of(bills: Iterable[Bill], prices: Prices) -> float:
    """Request by request: cache rules hold for each, not for their sum."""
    return sum(
        prices.dollars(input_tokens=b.input, unchanged=b.cached, output_tokens=b.output)
        + (
            prices.side_dollars(b.side_input, b.side_output)
            if b.side_dollars is None
            else b.side_dollars
        )
        for b in bills
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one + (other or 0.0)


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
