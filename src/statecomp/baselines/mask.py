"""Observation masking: actions stay, observations older than the last K are blanked."""

from __future__ import annotations

from dataclasses import dataclass, field

from statecomp.baselines.rewriting import at_least, changed, edited
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.options import Options, Settings
from statecomp.strategy import Card, Strategy, StrategyFactory, View
from statecomp.tokens import ESTIMATE, TokenCounter
from statecomp.wire.protocol import Wire

CARD = Card(
    name="mask",
    title="Observation masking",
    trigger="every request, once an interaction is older than the last K (10)",
    unit="observation; a note of its length stays",
    source="control; a common practice of coding agents",
    inferred="K, and the wording of the note",
)


def blank(text: str) -> str:
    """What stands where an observation stood; a shorter observation stays as it is."""
    lines = text.count("\n") + 1
    note = f"[old observation left out: {lines} lines]"
    return note if len(note) < len(text) else text


@dataclass(frozen=True)
class ObservationMasking(Strategy):
    wire: Wire
    keep: int = 10
    count: TokenCounter = ESTIMATE
    _masked: dict[str, Interaction] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        at_least(0, keep=self.keep)

    def before_request(self, history: History) -> View:
        newest = history.checkpoint - 1
        return View(changed(history, lambda member: self._seen(member, newest)))

    def _seen(self, member: Interaction, newest: int) -> Interaction:
        if newest - member.number < self.keep:
            return member
        if member.id not in self._masked:
            self._masked[member.id] = edited(member, blank, self.wire, self.count, "masked")
        return self._masked[member.id]


def build(options: Options, settings: Settings) -> StrategyFactory:
    keep = options.whole("keep", 10)
    return lambda run, wire: ObservationMasking(wire, keep, settings.count)
