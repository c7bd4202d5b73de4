"""No compression: every request carries the whole history."""

from __future__ import annotations

from dataclasses import dataclass

from statecomp.history.history import History
from statecomp.options import Options, Settings
from statecomp.strategy import Card, Strategy, StrategyFactory, View

CARD = Card(
    name="none",
    title="No compression",
    trigger="never",
    unit="nothing",
    source="control",
)


@dataclass(frozen=True)
class NoCompression(Strategy):
    def before_request(self, history: History) -> View:
        return View(history)


def build(options: Options, settings: Settings) -> StrategyFactory:
    return lambda run, wire: NoCompression()
