"""A model's record where one can be had and afforded, else the extract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from statecomp.errors import SummaryFailed
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.llm.chat import Chat, ChatFailed, ChatUsage
from statecomp.llm.side import SideAccount
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.record import STANDS_IN, Objection, Record
from statecomp.records.verify import verify
from statecomp.records.writing.credit import Credit
from statecomp.records.writing.question import question
from statecomp.records.writing.summarize import (
    LIMIT_CHARS,
    MEND_TOKENS,
    MOST_TOKENS,
    ChatSummarizer,
    Span,
    prompt,
)
from statecomp.tokens import ESTIMATE, TokenCounter

USUAL_RATIO = 0.15
"""What a language model's record takes of its source: about half of what an extract does."""
RECORD_DEADLINE_S = 30.0
"""What a model may take for its record, retries included; then the extract stands in."""


Secret: TypeAlias = Callable[[str], bool]
"""Whether a text holds what must not be kept."""


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
        secret: Secret = lambda text: False,
        count: TokenCounter = ESTIMATE,
    ) -> None:
        self._extract = extract
        self._account = account
        self._price = price
        self._credit = credit or Credit()
        self._count = count
        self._secret = secret
        self._least = self._most((), Situation())
        self._asking = ChatSummarizer(
            chat,
            objects=objects,
            deadline_s=deadline_s,
            count=count,
            on_side_call=self._charge,
        )

    @property
    def usual_ratio(self) -> float:
        return USUAL_RATIO

    def is_silent(self) -> bool:
        """Whether the model is known not to answer, or not to be paid for: an extract stands in."""
        return self._credit.breaker.silent or self._credit.lacks(self._least)

    @property
    def stand_in(self) -> ExtractiveSummarizer:
        return self._extract

    def summarize(self, span: Sequence[Interaction], situation: Situation) -> Record:
        asked, held, why = self._affordable(span, situation)
        if not why:
            try:
                return self._asked(span, asked)
            except Objection:
                raise
            except SummaryFailed as error:
                why = str(error)
            finally:
                self._credit.give_back(held)
        instead = f"{STANDS_IN} {why}"
        self._account.remark(instead)
        return replace(self._extract.summarize(span, situation), by=instead)

    def _asked(self, span: Sequence[Interaction], situation: Situation) -> Record:
        """What the model wrote; what could not be used is remembered, and so is what it cost."""
        failed: SummaryFailed | None = None
        try:
            record = self._asking.summarize(span, situation)
            verify(record, span, situation)
            if self._secret(record.body):
                raise SummaryFailed("the summary would hold a secret")
            return record
        except Objection:
            raise
        except SummaryFailed as error:
            failed = error
            raise
        finally:
            self._settle(span, failed)

    def _settle(self, span: Sequence[Interaction], failed: SummaryFailed | None) -> None:
        bill = self._asking.bill(span)
        if failed is None:
            self._credit.breaker.answered()
            return
        self._credit.waste(sum(map(self._price, bill)))
        if isinstance(failed.__cause__, ChatFailed):
            reason = failed.__cause__
            self._credit.breaker.failed(str(reason), passing=reason.retryable)
        else:
            self._credit.refuse(span)

    def _affordable(
        self, span: Sequence[Interaction], situation: Situation
    ) -> tuple[Situation, float, str]:
        """The situation with as many other spans as may be asked for now, and what is held for all.

        Or why not even this one is.
        """
        if self._asking.knows(span):
            return situation, 0.0, ""
        also = tuple(other for other in situation.also if not self._credit.refused(other))
        situation, held, taken = replace(situation, also=also), 0.0, list[Span]()
        for batch in self._asking.batches(span, situation):
            dollars = self._most(batch, situation)
            if why := self._credit.take(batch[-1], dollars):
                if not taken:
                    return situation, 0.0, why
                break
            held += dollars
            taken += batch
        also = tuple(other for other in situation.also if other in taken)
        return replace(situation, also=also), held, ""

    def _most(self, spans: Sequence[Span], situation: Situation) -> float:
        """What a question may cost at most: its longest answer, and a mend of it."""
        asked = question(spans, situation, limit_chars=LIMIT_CHARS)
        tokens = self._count(prompt("summarize")) + self._count(asked)
        return self._price(ChatUsage(tokens + MEND_TOKENS, MOST_TOKENS + MEND_TOKENS))

    def _charge(self, kind: str, usage: ChatUsage) -> None:
        dollars = self._price(usage)
        self._account.charge(kind, usage, dollars)
        self._credit.pay(dollars)
