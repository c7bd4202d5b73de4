"""Periodic summary: every n complete interactions become one summary, whatever they hold.

Inferred (the paper gives only n): each block is read once and its summary accumulates beside the
others; the newest block is summarised as soon as it is complete; our summary schema, so that only
the timing differs from StateComp.  The control has no "must be shorter" test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from statecomp.baselines.rewriting import at_least
from statecomp.controller.controller import write_summary
from statecomp.errors import BadInput, SummaryFailed
from statecomp.history.facts import FactIndex
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Segment, Summary
from statecomp.history.situation import Situation
from statecomp.history.trajectory import Trajectory
from statecomp.llm.side import SideAccount
from statecomp.options import Options, Settings, extract_of, record_wait_of
from statecomp.recipes import DEFAULT, recipe_named
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.writing.summarize import ChatSummarizer
from statecomp.strategy import Card, Refusal, Strategy, StrategyFactory, Summarizer, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="periodic",
    title="Periodic summary",
    trigger="every n (5) complete interactions",
    unit="block of n interactions",
    calls="one summary a block; records=extract (the default) makes none",
    source="control; the paper gives n = 3, 5",
    inferred="each block is read once, summaries accumulate, the schema is StateComp's",
)


@dataclass(frozen=True)
class PeriodicSummary(Strategy):
    wire: Wire
    summarizer: Summarizer
    every: int = 5
    count: TokenCounter = ESTIMATE
    account: SideAccount = field(default_factory=SideAccount)
    _written: dict[str, Summary | Refusal] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        at_least(1, every=self.every)

    def before_request(self, history: History) -> View:
        complete = (history.checkpoint - 1) // self.every * self.every
        segments: list[Segment] = []
        refusals: list[Refusal] = []
        block: list[Interaction] = []

        def close() -> None:
            """Blocks end at every multiple of n, and where the user or an open call stands."""
            if block:
                outcome = self._outcome(tuple(block), history)
                segments.extend((outcome,) if isinstance(outcome, Summary) else block)
                refusals.extend((outcome,) if isinstance(outcome, Refusal) else ())
                block.clear()

        for segment in history.segments:
            if not _belongs(segment, complete):
                close()
                segments.append(segment)
                continue
            block.append(segment)
            if segment.number % self.every == 0:
                close()
        close()
        return View(
            History(tuple(segments)), refusals=tuple(refusals), side_calls=self.account.drain()
        )

    def _outcome(self, block: Sequence[Interaction], history: History) -> Summary | Refusal:
        """The block's summary, written once, or why there is none."""
        key = block[-1].id
        if key not in self._written:
            self._written[key] = self._write(block, history)
        return self._written[key]

    def _write(self, block: Sequence[Interaction], history: History) -> Summary | Refusal:
        start = history.segments.index(block[0])
        span = Span(start, start + len(block))
        facts = FactIndex(history.segments)
        for member in block:
            facts.remove(member)
        try:
            record = self.summarizer.summarize(block, Situation.around(span, history, facts))
        except SummaryFailed as error:
            return Refusal(block[0].number, block[-1].number, str(error))
        return write_summary(record, block, self.wire, self.count)


def _belongs(segment: Segment, complete: int) -> TypeGuard[Interaction]:
    return isinstance(segment, Interaction) and not segment.locked and segment.number <= complete


def build(options: Options, settings: Settings) -> StrategyFactory:
    every = options.whole("every", 5)
    summarizer = summarizer_of(options, settings, recipe_named(DEFAULT).extract)

    def made(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        return PeriodicSummary(wire, summarizer(account), every, settings.count, account)

    return made


def summarizer_of(
    options: Options, settings: Settings, usual: ExtractiveSummarizer
) -> Callable[[SideAccount], Summarizer]:
    """The same for methods of others: `extract`, or a chat and nothing beside it."""
    extract = extract_of(options, usual)
    deadline_s = record_wait_of(options)
    name, _, rest = options.text("records", "extract").partition(":")
    if name == "extract":
        return lambda account: extract
    if name == "chat":
        chat = settings.chat(rest)
        return lambda account: ChatSummarizer(
            chat, objects=False, deadline_s=deadline_s, on_side_call=account.charge
        )
    problem = f"is {name!r}; known are extract and chat:PROVIDER:MODEL[@URL]"
    raise BadInput(problem, field="records")
