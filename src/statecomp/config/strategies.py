"""Strategies by name: how each is built from its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from statecomp.baselines import mask, none, periodic, window
from statecomp.baselines.mask import ObservationMasking
from statecomp.baselines.none import NoCompression
from statecomp.baselines.periodic import PeriodicSummary
from statecomp.baselines.window import SlidingWindow
from statecomp.compressor import CARD as STATECOMP
from statecomp.config import memories, summaries
from statecomp.config.methods import method_of
from statecomp.config.options import Builder, Options, Settings
from statecomp.config.records import summarizer_of
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.llm.side import SideAccount
from statecomp.recipes import DEFAULT, recipe_named
from statecomp.strategy import Card, Strategy, StrategyFactory
from statecomp.wire.protocol import Wire
from statecomp.wire.providers import wire_named


def strategy_factory(spec: str, settings: Settings) -> StrategyFactory:
    """Check a spec such as `window:keep=10` now; build the strategy anew for each run later."""
    name, _, text = spec.partition(":")
    if name not in BUILDERS:
        known = ", ".join(BUILDERS)
        raise BadInput(f"is unknown; known are {known}", field=f"strategy {name!r}")
    options = Options(spec, text)
    factory = BUILDERS[name](options, settings)
    options.done()
    # Strategies check their own settings; a wrong one should be known before any work is done.
    factory(Trajectory("", ()), wire_named("openai-chat"))
    return factory


def _none(options: Options, settings: Settings) -> StrategyFactory:
    return lambda run, wire: NoCompression()


def _window(options: Options, settings: Settings) -> StrategyFactory:
    strategy = SlidingWindow(options.whole("keep", 10))
    return lambda run, wire: strategy


def _mask(options: Options, settings: Settings) -> StrategyFactory:
    keep = options.whole("keep", 10)
    return lambda run, wire: ObservationMasking(wire, keep, settings.count)


def _periodic(options: Options, settings: Settings) -> StrategyFactory:
    every = options.whole("every", 5)
    summarizer = summarizer_of(options, settings, recipe_named(DEFAULT).extract)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        return PeriodicSummary(wire, summarizer(account), every, settings.count, account)

    return build


def _statecomp(options: Options, settings: Settings) -> StrategyFactory:
    """Every key of `methods.OPTIONS`."""
    method, scored = method_of(options, settings)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        return replace(method, scorer=lambda: scored(run)).engine(wire.name)

    return build


PLAIN: Mapping[str, Builder] = {
    "none": _none,
    "window": _window,
    "mask": _mask,
    "periodic": _periodic,
    "statecomp": _statecomp,
}

BUILDERS: Mapping[str, Builder] = {**PLAIN, **summaries.SUMMARIES, **memories.MEMORIES}
CARDS: Mapping[str, Card] = {
    card.name: card
    for card in (
        none.CARD,
        window.CARD,
        mask.CARD,
        periodic.CARD,
        STATECOMP,
        *summaries.CARDS,
        *memories.CARDS,
    )
}
