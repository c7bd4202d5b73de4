"""Sliding window: the system prompt, the task, and the last K interactions, verbatim.

Inferred (the paper gives only K): the rule is unconditional once more than K interactions exist,
all that stands before the first interaction counts as system prompt and task, and no notice marks
what is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from statecomp.baselines.rewriting import at_least
from statecomp.history.history import History
from statecomp.history.interaction import Interaction
from statecomp.options import Options, Settings
from statecomp.strategy import Card, Strategy, StrategyFactory, View

CARD = Card(
    name="window",
    title="Sliding window",
    trigger="every request, once more than K (10) interactions exist",
    unit="interaction; older ones are dropped",
    source="control; the paper gives K = 5, 10, 20",
    inferred="unconditional, no notice, all before the first interaction counts as the task",
)


@dataclass(frozen=True)
class SlidingWindow(Strategy):
    keep: int = 10

    def __post_init__(self) -> None:
        at_least(1, keep=self.keep)

    def before_request(self, history: History) -> View:
        places = [p for p, s in enumerate(history.segments) if isinstance(s, Interaction)]
        if len(places) <= self.keep:
            return View(history)
        first, start = places[0], places[-self.keep]
        segments = history.segments
        # An unfinished tool turn stays wherever it stands: its result is still to come.
        waiting = (s for s in segments[first:start] if isinstance(s, Interaction) and s.locked)
        return View(History((*segments[:first], *waiting, *segments[start:])))


def build(options: Options, settings: Settings) -> StrategyFactory:
    strategy = SlidingWindow(options.whole("keep", 10))
    return lambda run, wire: strategy
