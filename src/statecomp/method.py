"""How engines decide, as one value: what a command line or a service opens its engines with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from statecomp.checkpoint import Pins
from statecomp.compressor import StateComp
from statecomp.controller.spans import Rule
from statecomp.ledger.commits import CommitLog
from statecomp.llm.side import SideAccount
from statecomp.recipes import DEFAULT, RECIPES, shipped_scorer
from statecomp.strategy import Scorer, Summarizer
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.incremental import Shelf
from statecomp.wire.protocol import Placement


def _extract(account: SideAccount) -> Summarizer:
    return RECIPES[DEFAULT].extract


def _nothing_secret(text: str) -> bool:
    return False


@dataclass(frozen=True)
class Method:
    """Each engine gets a scorer and a summariser of its own; the rest they share.

    `recipe` and `scored_by` name what was chosen, for people.
    """

    scorer: Callable[[], Scorer] = shipped_scorer
    summarizer: Callable[[SideAccount], Summarizer] = _extract
    rule: Rule = field(default_factory=RECIPES[DEFAULT].rule)
    placement: Placement = Placement()
    count: TokenCounter = ESTIMATE
    pins: Pins = Pins()
    holds: bool = True
    window: int | None = None
    recipe: str = DEFAULT
    scored_by: str = "router"

    @property
    def writes_at_once(self) -> bool:
        """Whether records take no model, so that deciding is a matter of milliseconds."""
        return isinstance(self.summarizer(SideAccount()), type(RECIPES[DEFAULT].extract))

    def engine(
        self,
        protocol: str,
        *,
        log: CommitLog | None = None,
        account: SideAccount | None = None,
        shelf: Shelf | None = None,
        secret: Callable[[str], bool] = _nothing_secret,
    ) -> StateComp:
        account = account or SideAccount()
        return StateComp(
            self.scorer(),
            rule=self.rule,
            summarizer=self.summarizer(account),
            holds=self.holds,
            window=self.window,
            pins=self.pins,
            protocol=protocol,
            placement=self.placement,
            count=self.count,
            log=log,
            account=account,
            shelf=shelf,
            secret=secret,
        )
