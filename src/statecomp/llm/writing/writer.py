"""A model's record where one can be had and afforded, else the extract."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from statecomp.errors import SummaryFailed
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.llm.chat import Chat, ChatFailed, ChatUsage
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.record import Objection, Record
from statecomp.llm.side import SideAccount
from statecomp.llm.verify import verify
from statecomp.llm.writing.credit import Credit
from statecomp.llm.writing.question import question
from statecomp.llm.writing.summarize import ChatSummarizer, prompt
from statecomp.tokens import ESTIMATE, TokenCounter

USUAL_RATIO = 0.15
"""What a language model's record takes of its source: about half of what an extract does."""


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
        deadline_s: float = 30.0,
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
        self._spent = 0.0

    @property
    def usual_ratio(self) -> float:
        return USUAL_RATIO

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        why = self._credit.denies(span, self._expected(span, situation))
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
        self._spent = 0.0
        try:
            record = self._asking.summarize(span, situation)
            verify(record, span, situation)
        except Objection:
            self._credit.pay(self._spent)
            self._credit.breaker.answered()
            raise
        except SummaryFailed as error:
            failed = error.__cause__
            self._credit.pay(self._spent, in_vain=True)
            if isinstance(failed, ChatFailed):
                self._credit.breaker.failed(str(failed), passing=failed.retryable)
            else:
                self._credit.refuse(span)
            raise
        self._credit.pay(self._spent)
        self._credit.breaker.answered()
        return record

    def _expected(self, span: Sequence[Interaction], situation: Situation) -> float:
        if self._asking.knows(span):
            return 0.0
        spans = self._asking.asked_about(span, situation)
        asked = question(spans, situation, limit_chars=self._limit_chars)
        source = sum(member.tokens for one in spans for member in one)
        tokens = self._count(prompt("summarize")) + self._count(asked)
        return self._price(ChatUsage(tokens, round(source * USUAL_RATIO)))

    def _charge(self, kind: str, usage: ChatUsage) -> None:
        dollars = self._price(usage)
        self._spent += dollars
        self._account.charge(kind, usage, dollars)
