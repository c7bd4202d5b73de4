"""The methods of others that StateComp is compared with; a new one is a file and a name here."""

from __future__ import annotations

from typing import Protocol

from statecomp.baselines import (
    acm,
    acon,
    comem,
    llmlingua2,
    lre,
    mask,
    none,
    pace,
    periodic,
    sam,
    sculptor,
    selfcompact,
    selfgc,
    swe_pruner,
    window,
)
from statecomp.options import Options, Settings
from statecomp.strategy import Card, StrategyFactory


class Baseline(Protocol):
    """The one shape of every method; a module is one."""

    CARD: Card

    def build(self, options: Options, settings: Settings) -> StrategyFactory:
        """Reads what a person wrote behind the name; the strategy is made anew for each run."""
        ...


CONTROLS: tuple[Baseline, ...] = (none, window, mask, periodic)
PUBLISHED: tuple[Baseline, ...] = (
    llmlingua2,
    pace,
    selfcompact,
    acon,
    selfgc,
    lre,
    comem,
    sam,
    swe_pruner,
    sculptor,
    acm,
)
