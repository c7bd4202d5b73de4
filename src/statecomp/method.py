"""How engines decide, as one value: what a command line or a service opens its engines with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Unpack

from statecomp.checkpoint import Pins
from statecomp.compressor import EngineParts, StateComp
from statecomp.controller.spans import Rule
from statecomp.llm.side import SideAccount
from statecomp.recipes import DEFAULT, RECIPES, shipped_scorer
from statecomp.strategy import Scorer, Summarizer
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Placement
from statecomp.writers import ModelRecords


def _extract(account: SideAccount) -> Summarizer:
    return RECIPES[DEFAULT].extract


@dataclass(frozen=True)
class Method:
    """Each engine gets a scorer and a summariser of its own; the rest they share.

    With `records` a model writes them: one that is named there, or, in a proxy, that of the client.
    `recipe` and `scored_by` name what was chosen, for people.  A scorer that reads a language model
    does not score at once.
    """

    scorer: Callable[[], Scorer] = shipped_scorer
    summarizer: Callable[[SideAccount], Summarizer] = _extract
    rule: Rule = field(default_factory=RECIPES[DEFAULT].rule)
    placement: Placement = Placement()
    count: TokenCounter = ESTIMATE
    pins: Pins = Pins()
    holds: bool = True
    chapters: bool = True
    window: int | None = None
    records: ModelRecords | None = None
    recipe: str = DEFAULT
    scored_by: str = "router"
    scores_at_once: bool = True

    @property
    def writes_at_once(self) -> bool:
        """Whether neither scores nor records take a model: deciding is a matter of milliseconds."""
        if self.records is not None or not self.scores_at_once:
            return False
        return isinstance(self.summarizer(SideAccount()), type(RECIPES[DEFAULT].extract))

    def _writer(self, account: SideAccount) -> Summarizer:
        records = self.records
        if records is None or records.chat is None:
            return self.summarizer(account)
        return records.writer(account, records.chat, records.credit())

    def engine(
        self, protocol: str, account: SideAccount | None = None, **parts: Unpack[EngineParts]
    ) -> StateComp:
        """An engine that decides so; writing its records is charged to the `account`."""
        account = account or SideAccount()
        return StateComp(
            self.scorer(),
            rule=self.rule,
            summarizer=self._writer(account),
            holds=self.holds,
            chapters=self.chapters,
            window=self.window,
            pins=self.pins,
            protocol=protocol,
            placement=self.placement,
            count=self.count,
            account=account,
            **parts,
        )
