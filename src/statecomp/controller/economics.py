"""The rule of the product: replace what pays, at the prices this client is really billed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from statecomp.controller.chapters import carried_since
from statecomp.controller.circumstances import Circumstances, cache_state
from statecomp.controller.gate import GateVerdict, Market, Offer, decide
from statecomp.controller.horizon import Horizon
from statecomp.controller.lengths import Lengths
from statecomp.controller.prices import MILLION, PriceBook, Prices, shipped_prices
from statecomp.controller.spans import Rule
from statecomp.errors import BadInput
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Segment, Summary
from statecomp.records.writing.summarize import asked_beside

STEP_TOKENS = 30_000
"""What a step costs beside its context, in tokens carried once: what it writes is billed at some
fifty times the price of a cached token, and an agent that thinks writes about 600."""
REREAD = 0.6
"""The same of an output read again: written anew at some twelve times that price, but who comes
back for it wants a part of it, seldom the whole.  What a client was seen to do replaces it."""
FULL_WARINESS = 0.25
"""In a window that is nearly full, losing something is cheaper than losing everything."""
CHAPTER = 0.7
"""What a chapter takes of the records it stands for."""
EXPECTED = 0.01
"""The share of what was replaced that an agent may come back for before the rule is too bold."""

NOT_YET = 2.0
"""A score nothing reaches."""
PAYBACK = 15.0
"""Requests within which a replaced interaction must have paid, if nobody wants it again."""
ANSWERED = 1.4
"""An answer beside the record in it, forecasts and form included (lab log, 2026-11-19)."""
PRESSURE = 0.9
"""The share of a window from which on everything that shortens is done."""


@dataclass(frozen=True, slots=True)
class Stakes:
    """What stands on each side at one moment, for any interaction.

    `requests` are those to come that count towards a rewrite; `context_tokens` is what every
    request sends.
    """

    prices: Prices
    checkpoint: int
    requests: float
    context_tokens: int
    wariness: float
    reread: float = REREAD

    def carried(self, interaction: Interaction) -> int:
        """Requests that sent it although an earlier one had."""
        return self.checkpoint - interaction.number - 1

    def counted(self, interaction: Interaction) -> float:
        """H_i: the requests it was carried through, and the next ones to come."""
        return self.carried(interaction) + self.requests

    def return_tokens(self, interaction: Interaction) -> float:
        """What counts against replacing an interaction that is needed again, in tokens carried.

        Not in dollars: what a wrong replacement harms does not depend on who caches what.
        """
        back = self.context_tokens + STEP_TOKENS + self.reread * interaction.tokens
        return self.wariness * back

    def offer(
        self,
        before_tokens: int,
        members: Sequence[Interaction],
        scores: Mapping[str, float],
        summary_tokens: int,
    ) -> Offer:
        """A span with a summary of this length; each member saves its share."""
        source = sum(member.tokens for member in members)
        share = 1.0 - summary_tokens / max(1, source)
        sure = [(m, scores.get(m.id, 0.0) * m.tokens * share) for m in members]
        risks = ((1.0 - scores.get(m.id, 0.0)) * self.return_tokens(m) for m in members)
        return Offer(
            before_tokens=before_tokens,
            source_tokens=source,
            summary_tokens=summary_tokens,
            sure_tokens=sum(tokens for _, tokens in sure),
            counted_tokens=sum(tokens * self.counted(m) for m, tokens in sure),
            risk_dollars=sum(risks) * self.prices.cached / MILLION,
        )

    def chapter(
        self, before_tokens: int, records: Sequence[Segment], carried: int, summary_tokens: int
    ) -> Offer:
        """Records of a finished task, with one of this length; nobody is expected to want them."""
        source = sum(record.tokens for record in records)
        saved = source - summary_tokens
        counted = saved * (carried + self.requests)
        return Offer(before_tokens, source, summary_tokens, saved, counted)


@dataclass(frozen=True)
class Economics(Rule):
    """What may go, and when it is worth a rewrite: by what tokens cost this client.

    An interaction may go when what its tokens save within `PAYBACK` requests, if nobody wants them
    again, is more than getting them back costs, if somebody does:

        p_i * D_i * PAYBACK  >  (1 - p_i) * wariness * return_i

    `return_i`, in tokens, is one more step with today's context and a part of the output read
    again; `wariness` is how many times that a wrong replacement counts: more is lost than tokens.

    When it goes is a matter of lot sizing (see `gate`): a rewrite breaks the cache, and waiting
    costs what the tokens cost in each request.  Counted are the requests they were carried through
    and those to come, `ahead` of them at most: by then the next rewrite would have taken them
    along.  A span of less than `least_tokens` is not worth one.

    `writer` says what the model costs that writes records for a client of some model, and is None
    where none is asked; a summary is expected to take `ratio` of its source and `frame_tokens`.
    While that model does not answer `extracts` is the rule, if there is one.

    What recipes differ in has no default here: `recipe_named("balanced").rule()` is the product's.
    """

    book: PriceBook = field(default_factory=shipped_prices)
    wariness: float = field(kw_only=True)
    ahead: float = field(kw_only=True)
    least_tokens: int = 300
    horizon: Horizon = field(default_factory=Horizon)
    writer: Callable[[str], Prices] | None = None
    extracts: Economics | None = None
    ratio: float = field(kw_only=True)
    frame_tokens: int = 50
    lengths: Lengths | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.wariness < float("inf"):  # also false for NaN
            raise BadInput(f"must not be negative, not {self.wariness}", field="wariness")
        if not 0.0 <= self.ahead < float("inf"):
            raise BadInput(f"is a number of requests, not {self.ahead}", field="ahead")
        if self.least_tokens < 0:
            raise BadInput(f"must not be negative, not {self.least_tokens}", field="least_tokens")
        if not 0.0 <= self.ratio < 1.0:
            raise BadInput(f"must lie in [0, 1), not {self.ratio}", field="ratio")

    def market(self, history: History, now: Circumstances) -> Market:
        """What a rewrite is weighed by now: prices, what the cache holds, a full window."""
        prices = self._prices(now)
        state = cache_state(prices, now)
        cached = history.tokens if now.deferred else _sent_before(history)
        return Market(
            prices=prices,
            cached_tokens=cached if state == "warm" else 0,
            cache=state,
            forced=self._full(history, now),
            number=history.checkpoint,
        )

    def required(self, history: History, now: Circumstances) -> Mapping[str, float]:
        """Where both sides are equal; what was sent only once has not served yet."""
        stakes = self._stakes(history, now)
        scores = {}
        for interaction in history.interactions:
            gain = interaction.tokens * (1.0 - self.ratio) * PAYBACK
            loss = stakes.return_tokens(interaction)
            known = stakes.carried(interaction) >= 1 and gain > 0.0
            scores[interaction.id] = loss / (loss + gain) if known else NOT_YET
        return scores

    def too_small(self, members: Sequence[Interaction]) -> str:
        tokens = sum(member.tokens for member in members)
        if tokens < self.least_tokens:
            return f"{tokens} source tokens; {self.least_tokens} are needed"
        return ""

    def judge(
        self,
        history: History,
        spans: Sequence[Span],
        scores: Mapping[str, float],
        now: Circumstances,
        summaries: Mapping[Span, Summary] | None = None,
    ) -> GateVerdict:
        stakes = self._stakes(history, now)
        beside = asked_beside(history.segments) if self.writer is not None and spans else 0
        ends = [0, *accumulate(segment.tokens for segment in history.segments)]
        offers = []
        for span in spans:
            standing = history.segments[span.start : span.stop]
            is_chapter = history.is_chapter(span)
            if summaries is None:
                length = self._expected(standing, CHAPTER if is_chapter else self.ratio)
            else:
                length = summaries[span].tokens
                if self.lengths is not None:
                    self.lengths.learn(standing, length)
            members = history.members(span)
            if is_chapter:
                carried = carried_since(history, span)
                offer = stakes.chapter(ends[span.start], standing, carried, length)
            else:
                offer = stakes.offer(ends[span.start], members, scores, length)
            read = beside + sum(member.tokens for member in members)
            dollars = self._summary_dollars(now.model, read, length)
            if summaries is None:
                offers.append(replace(offer, ask_dollars=dollars))
            else:
                offers.append(replace(offer, spent_dollars=dollars))
        return decide(offers, self.market(history, now))

    def stricter(self, refetches: int, replaced: int) -> Economics:
        """Warier as returns go beyond what is expected; what nobody comes back for makes up for it.

        Only what a wrong replacement costs has been underrated.
        """
        beyond = (1 + refetches) / (1 + EXPECTED * replaced)
        return replace(self, wariness=self.wariness * max(1.0, beyond))

    def for_extracts(self) -> Economics:
        return self.extracts or self

    def remembering(self) -> Economics:
        """With a memory of its own of how long summaries turned out."""
        extracts = self.extracts.remembering() if self.extracts is not None else None
        return replace(self, lengths=Lengths(), extracts=extracts)

    def _expected(self, standing: Sequence[Segment], ratio: float) -> int:
        """Tokens of a summary that is not written yet."""
        if self.lengths is not None:
            return self.lengths.expected(standing, ratio, self.frame_tokens)
        return self.frame_tokens + round(sum(s.tokens for s in standing) * ratio)

    def _prices(self, now: Circumstances) -> Prices:
        """What the client of this request is billed."""
        prices = self.book.nearest(now.model)
        if not now.caching:
            return prices.uncached()
        return prices if now.ttl_s is None else prices.lasting(now.ttl_s)

    def _full(self, history: History, now: Circumstances) -> bool:
        if now.window_tokens is None:
            return False
        return history.tokens + now.outside_tokens >= PRESSURE * now.window_tokens

    def _stakes(self, history: History, now: Circumstances) -> Stakes:
        prices = self._prices(now)
        requests = (now.horizon or self.horizon).remaining(history.checkpoint)
        left = max(0.0, requests - 1.0 if now.deferred else requests)
        return Stakes(
            prices=prices,
            checkpoint=history.checkpoint,
            requests=min(left, self.ahead),
            context_tokens=history.tokens + now.outside_tokens,
            wariness=self.wariness
            * now.caution
            * (FULL_WARINESS if self._full(history, now) else 1.0),
            reread=REREAD if now.reread is None else now.reread,
        )

    def _summary_dollars(self, model: str, read_tokens: int, summary_tokens: int) -> float:
        if self.writer is None:
            return 0.0
        return self.writer(model).side_dollars(read_tokens, round(summary_tokens * ANSWERED))


def _sent_before(history: History) -> int:
    """What the request before this one sent: all but the last interaction and what follows it."""
    tokens = 0
    for segment in reversed(history.segments):
        tokens += segment.tokens
        if isinstance(segment, Interaction):
            return history.tokens - tokens
    return 0
