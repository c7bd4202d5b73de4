"""A model's record where one can be had and afforded, else the extract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from statecomp.errors import SummaryFailed
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.llm.chat import Chat, ChatFailed, ChatUsage
from statecomp.llm.side import SideAccount
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import Objection, Record
from statecomp.records.verify import verify
from statecomp.records.writing.credit import Credit
from statecomp.records.writing.question import question
from statecomp.records.writing.summarize import ChatSummarizer, Span, prompt
from statecomp.tokens import ESTIMATE, TokenCounter

USUAL_RATIO = 0.15
"""What a language model's record takes of its source: about half of what an extract does."""
RECORD_DEADLINE_S = 30.0
"""What a model may take for its record, retries included; then the extract stands in."""


class ModelWriter:
    """A Summarizer that asks a chat within its credit, and falls back on the extract.

    `price` says what a call costs in dollars, at the prices of the model that writes.  Every billed
    call is charged to the account, and why a record is an extract is remarked there.
    """

    def __init__(
        self,
        chat: Chat,
        extract: ExtractiveSummarizer,
        account: SideAccount,
        *,
        price: Callable[[ChatUsage], float] = lambda usage: 0.0,
        credit: Credit | None = None,
        objects: bool = True,
        deadline_s: float = RECORD_DEADLINE_S,
        limit_chars: int = 400_000,
        count: TokenCounter = ESTIMATE,
    ) -> None:
        self._extract = extract
        self._account = account
        self._price = price
        self._credit = credit or Credit()
        self._count = count
        self._limit_chars = limit_chars
        self._asking = ChatSummarizer(
            chat,
            objects=objects,
            deadline_s=deadline_s,
            count=count,
            limit_chars=limit_chars,
            on_side_call=self._charge,
        )

    @property
    def usual_ratio(self) -> float:
        return USUAL_RATIO

    def is_silent(self) -> bool:
        """Whether the model is known not to answer, so that an extract will stand in."""
        return self._credit.breaker.silent

    @property
    def stand_in(self) -> ExtractiveSummarizer:
        return self._extract

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        situation, why = self._affordable(span, situation)
        if not why:
            try:
                return self._asked(span, situation)
            except Objection:
                raise
            except SummaryFailed as error:
                why = str(error)
        self._account.remark(f"an extract, because {why}")
        return self._extract.summarize(span, situation)

    def _asked(self, span: Sequence[Interaction], situation: Situation) -> Record:
        """What the model wrote; what could not be used is remembered, and so is what it cost."""
        try:
            record = self._asking.summarize(span, situation)
            verify(record, span, situation)
        except Objection:
            self._pay(span)
            self._credit.breaker.answered()
            raise
        except SummaryFailed as error:
            failed = error.__cause__
            self._pay(span, in_vain=True)
            if isinstance(failed, ChatFailed):
                self._credit.breaker.failed(str(failed), passing=failed.retryable)
            else:
                self._credit.refuse(span)
            raise
        self._pay(span)
        self._credit.breaker.answered()
        return record

    def _pay(self, span: Sequence[Interaction], *, in_vain: bool = False) -> None:
        dollars = sum(map(self._price, self._asking.bill(span)))
        self._credit.pay(dollars, in_vain=in_vain)

    def _affordable(
        self, span: Sequence[Interaction], situation: Situation
    ) -> tuple[Situation, str]:
        """The situation with as many other spans as may be asked for now, or why not even this."""
        if self._asking.knows(span):
            return situation, ""
        dollars, taken = 0.0, list[Span]()
        for batch in self._asking.batches(span, situation):
            dollars += self._expected(batch, situation)
            if why := self._credit.denies(batch[-1], dollars):
                if not taken:
                    return situation, why
                break
            taken += batch
        also = tuple(other for other in situation.also if other in taken)
        return replace(situation, also=also), ""

    def _expected(self, spans: Sequence[Span], situation: Situation) -> float:
        asked = question(spans, situation, limit_chars=self._limit_chars)
        source = sum(member.tokens for one in spans for member in one)
        tokens = self._count(prompt("summarize")) + self._count(asked)
        return self._price(ChatUsage(tokens, round(source * USUAL_RATIO)))

    def _charge(self, kind: str, usage: ChatUsage) -> None:
        self._account.charge(kind, usage, self._price(usage))
