"""Strategies that give the agent a memory of its own, or tools for its context."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from statecomp.baselines import acm, comem, sam, sculptor, swe_pruner
from statecomp.baselines.acm import AgenticContextManagement
from statecomp.baselines.comem import CoMem, LocalMemory
from statecomp.baselines.lines import LEXICAL, LineScorer
from statecomp.baselines.rewriting import WINDOW
from statecomp.baselines.sam import StateAdaptiveMemory
from statecomp.baselines.sculptor import Sculptor
from statecomp.baselines.swe_pruner import SwePruner
from statecomp.baselines.writing import Writer
from statecomp.config.options import Builder, Options, Settings, budget_of, chat_of
from statecomp.history.trajectory import Trajectory
from statecomp.llm.client import Chat
from statecomp.llm.side import SideAccount, SideChannel
from statecomp.strategy import Card, Strategy, StrategyFactory
from statecomp.wire.protocol import Wire


def _channel(chat: Chat | None) -> SideChannel | None:
    """One account a run: what a run's side calls cost belongs to that run."""
    return SideChannel(chat, SideAccount()) if chat else None


def _comem(options: Options, settings: Settings) -> StrategyFactory:
    """`every=4,delay=1,recent=text|raw,steps=0`: `steps` is the limit to count down from."""
    chat = chat_of(options, settings)
    every, delay = options.whole("every", 4), options.whole("delay", 1)
    flatten = options.one_of("recent", "text", "raw") == "text"
    steps = options.whole("steps", 0)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        channel = _channel(chat)
        account = channel.account if channel else SideAccount()
        writer: Writer = LocalMemory(settings.count)
        if channel:
            writer = comem.chat_writer(channel)
        return CoMem(wire, writer, every, delay, flatten, steps, settings.count, account)

    return build


def _sam(options: Options, settings: Settings) -> StrategyFactory:
    """`budget=64000,page=30000`: a budget up to 1 is a share of a window of 200,000 tokens."""
    chat = chat_of(options, settings)
    budget = budget_of(options, sam.BUDGET).of(WINDOW)
    page = options.whole("page", sam.PAGE)
    return lambda run, wire: StateAdaptiveMemory(wire, budget, page, _channel(chat), settings.count)


def _swe_pruner(options: Options, settings: Settings) -> StrategyFactory:
    """`threshold=0.5,focus=argument|said,scorer=lexical|qwen-reranker,model=FOLDER`."""
    threshold = options.real("threshold", swe_pruner.THRESHOLD)
    spoken = options.one_of("focus", "argument", "said") == "said"
    named = options.one_of("scorer", "lexical", "qwen-reranker")
    folder = options.text("model", "")
    scorer: LineScorer = LEXICAL
    if named == "qwen-reranker":
        # It needs torch to load; most commands never do.
        scorer = import_module("statecomp.baselines.swe_pruner_model").open_reranker(folder)
    return lambda run, wire: SwePruner(
        wire, scorer, threshold, "said" if spoken else "argument", settings.count
    )


def _sculptor(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    return lambda run, wire: Sculptor(wire, _channel(chat), settings.count)


def _acm(options: Options, settings: Settings) -> StrategyFactory:
    """`window=131072`: what the gauge is measured against."""
    chat = chat_of(options, settings)
    window = options.whole("window", acm.WINDOW)
    return lambda run, wire: AgenticContextManagement(wire, window, _channel(chat), settings.count)


MEMORIES: Mapping[str, Builder] = {
    "comem": _comem,
    "sam": _sam,
    "swe-pruner": _swe_pruner,
    "sculptor": _sculptor,
    "acm": _acm,
}
CARDS: tuple[Card, ...] = (comem.CARD, sam.CARD, swe_pruner.CARD, sculptor.CARD, acm.CARD)
