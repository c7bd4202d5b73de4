"""Strategies by name: how each is built from its options."""

from __future__ import annotations

from collections.abc import Mapping

from statecomp.baselines import mask, none, periodic, window
from statecomp.baselines.card import Card
from statecomp.baselines.mask import ObservationMasking
from statecomp.baselines.none import NoCompression
from statecomp.baselines.periodic import PeriodicSummary
from statecomp.baselines.window import SlidingWindow
from statecomp.compressor import CARD as STATECOMP
from statecomp.compressor import StateComp
from statecomp.config import memories, summaries
from statecomp.config.options import Builder, Options, Settings
from statecomp.config.scorers import default_scorer, gates_of, scoring
from statecomp.config.summarizers import summarizer_of
from statecomp.controller.economics import Economics
from statecomp.controller.prices import PriceBook, shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.llm.extract import ExtractiveSummarizer
from statecomp.llm.side import SideAccount
from statecomp.replay.run import StrategyFactory
from statecomp.strategy import Strategy, Summarizer
from statecomp.wire.detect import wire_named
from statecomp.wire.protocol import Wire


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
    summarizer = summarizer_of(options, settings)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        return PeriodicSummary(wire, summarizer(account), every, settings.count, account)

    return build


def _statecomp(options: Options, settings: Settings) -> StrategyFactory:
    scored = scoring(options.text("scorer", "") or default_scorer())
    summarizer = summarizer_of(options, settings)
    economics = _economics(options, settings, summarizer(SideAccount()))
    gates = gates_of(options, scored, pays=economics is not None)
    holds = options.one_of("holds", "on", "off") == "on"

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        return StateComp(
            scored.scorer(run),
            summarizer=summarizer(account),
            gates=gates,
            protocol=wire.name,
            count=settings.count,
            account=account,
            economics=economics,
            holds=holds,
        )

    return build


def _economics(options: Options, settings: Settings, summarizer: Summarizer) -> Economics | None:
    """`economics=on`: commits must pay, at the prices of the command or of `prices=MODEL`."""
    switch, model = options.text("economics", "off"), options.text("prices", "")
    if switch not in ("on", "off"):
        raise BadInput(f"is {switch!r}; write on or off", field="economics")
    if switch == "off":
        return None
    prices = shipped_prices().of(model) if model else settings.prices or shipped_prices().of()
    book = PriceBook({prices.model: prices}, prices.model)
    if isinstance(summarizer, ExtractiveSummarizer):
        return Economics(book, ratio=summarizer.usual_ratio)
    return Economics(book, summary_prices=prices)


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
