"""Who writes records, as one value: a model that is named, or the client's own upstream."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from statecomp.controller.prices import PriceBook, Prices, shipped_prices
from statecomp.llm.chat import Chat, ChatUsage
from statecomp.llm.side import SideAccount
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.writing.credit import Credit, DayPurse, Purse
from statecomp.records.writing.writer import RECORD_DEADLINE_S, ModelWriter, Secret
from statecomp.tokens import ESTIMATE, TokenCounter

SAME = "same"


@dataclass(frozen=True)
class ModelRecords:
    """Records by a model, and what they may cost.

    Without a `chat` the client's own upstream is asked, with the client's own credential: for
    `model`, or for the cheap sibling that the price book names.  The `extract` stands in where no
    model answers, or what it says cannot be used.
    """

    extract: ExtractiveSummarizer
    chat: Chat | None = None
    model: str = ""
    book: PriceBook = field(default_factory=shipped_prices)
    session_dollars: float = inf
    day_dollars: float = inf
    deadline_s: float = RECORD_DEADLINE_S
    objects: bool = True
    count: TokenCounter = ESTIMATE

    def model_for(self, acting: str) -> str:
        """Who is asked for the records of an agent of this model."""
        if self.chat is not None:
            return self.chat.model
        return self.model or self.book.sibling(acting)

    @property
    def about(self) -> str:
        """Who writes and for how much at most, as a person is told when serving begins."""
        who = self.chat.model if self.chat is not None else self.model
        named = who or "a cheap sibling of the client's model"
        limits = ((self.session_dollars, "session"), (self.day_dollars, "day"))
        most = " and ".join(f"${most:.2f} a {of}" for most, of in limits if most < inf)
        return f"records by {named}" + (f" for at most {most}" if most else "")

    def prices_for(self, acting: str) -> Prices:
        return self.book.nearest(self.model_for(acting))

    def credit(self) -> Credit:
        """What a conversation may spend that shares its day with no other."""
        return Credit((Purse(self.session_dollars), DayPurse(self.day_dollars)))

    def writer(
        self,
        account: SideAccount,
        chat: Chat,
        credit: Credit,
        secret: Secret = lambda text: False,
    ) -> ModelWriter:
        prices = self.book.nearest(chat.model)

        def price(usage: ChatUsage) -> float:
            read, said, cached = usage.input_tokens, usage.output_tokens, usage.cached_tokens
            return prices.side_dollars(read, said, cached)

        return ModelWriter(
            chat,
            self.extract,
            account,
            price=price,
            credit=credit,
            objects=self.objects,
            deadline_s=self.deadline_s,
            secret=secret,
            count=self.count,
        )
