"""Strategies that rewrite, rank or drop old interactions, built from their options.

`budget=` is uniform: tokens, or up to 1 a share.  A share is one of the text that is compressed for
methods with a rate (llmlingua2, lre), and of the window (`window=`, 200,000) for methods with a
trigger (pace, selfcompact, acon, selfgc).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from statecomp.baselines import acon, llmlingua2, lre, pace, selfcompact, selfgc
from statecomp.baselines.embedding import EMBEDDERS, open_embedder
from statecomp.baselines.rewriting import WINDOW, Budget, Compactor
from statecomp.baselines.token_models import CLASSIFIERS, open_token_model
from statecomp.baselines.writing import ChatWriter, ExtractiveWriter, Writer, plain, prompt
from statecomp.config.options import Builder, Options, Settings, budget_of, chat_of
from statecomp.history.trajectory import Trajectory
from statecomp.llm.client import Chat
from statecomp.llm.record import Record
from statecomp.llm.side import SideAccount, SideChannel
from statecomp.llm.writing.answer import SCHEMA, parse_record
from statecomp.strategy import Card, Strategy, StrategyFactory
from statecomp.wire.protocol import Wire

SUMMARY_TOKENS = 2_000
"""What an extract may take where the method lets its model write one to three thousand."""


def _llmlingua2(options: Options, settings: Settings) -> StrategyFactory:
    classifier = options.one_of("classifier", *CLASSIFIERS)
    model = options.text("model", "")
    budget = budget_of(options, options.real("rate", 0.5))
    keep = options.whole("keep", 2)
    place = options.one_of("place", "observations", "history")

    def build(run: Trajectory, wire: Wire) -> Strategy:
        lingua = llmlingua2.Lingua(open_token_model(classifier, model), settings.count)
        return llmlingua2.LLMLingua2(wire, lingua, budget, keep, place)

    return build


def _pace(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    embedder = options.one_of("embedder", *EMBEDDERS)
    model = options.text("model", "")
    pressure = options.one_of("pressure", "paper", "code")
    glimpse = options.one_of("glimpse", "off", "on") == "on"
    budget = budget_of(options, 128_000).of(options.whole("window", WINDOW))

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        writer: pace.LevelWriter = pace.ExtractLevels(settings.count)
        if chat is not None:
            writer = pace.ChatLevels(SideChannel(chat, account))
        opened = open_embedder(embedder, model)
        return pace.Pace(wire, writer, opened, pressure, budget, glimpse, settings.count, account)

    return build


def _selfcompact(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    limit = budget_of(options, 0.30).of(options.whole("window", WINDOW))
    make = partial(
        selfcompact.SelfCompact,
        mode=options.one_of("mode", "probe", "tool"),
        every=options.whole("every", 5),
        growth=options.whole("growth", 8_000),
        limit=limit,
    )

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        writer = _writer(chat, account, settings)
        judge: selfcompact.Judge = selfcompact.RuleJudge()
        if chat is not None:
            judge = selfcompact.ChatJudge(SideChannel(chat, account))
        return make(Compactor(wire, writer, settings.count), judge, account=account)

    return build


def _writer(chat: Chat | None, account: SideAccount, settings: Settings) -> Writer:
    """A summary of the six headings, by the chat or extracted."""
    if chat is None:
        return ExtractiveWriter(SUMMARY_TOKENS, settings.count)
    system = prompt("selfcompact_summary")
    channel = SideChannel(chat, account)
    return ChatWriter(channel, "summary", system, 3_000, lambda a: parse_record(a).body, SCHEMA)


def _acon(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    t_hist = options.real("t_hist", 4_096)
    # Below zero means always, which is no budget.
    budget = Budget(t_hist) if t_hist > 0 else None
    given = options.real("budget", 0)
    window = options.whole("window", WINDOW)
    threshold = Budget(given).of(window) if given else budget.of(window) if budget else -1
    accumulate = options.one_of("rule", "reset", "accumulate") == "accumulate"
    make = partial(
        acon.Acon,
        mode=options.one_of("mode", *acon.MODES),
        t_hist=threshold,
        t_obs=options.whole("t_obs", 1_024),
        keep=options.whole("keep", 1),
        interval=options.whole("interval", 0),
    )

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        older, seen = (
            _guided(chat, account, settings, name, form, rereads=not accumulate)
            for name, form in (("history", acon.five_sections), ("observation", plain))
        )
        compactor = Compactor(wire, older, settings.count, accumulate)
        return make(compactor, seen, account=account)

    return build


def _guided(
    chat: Chat | None,
    account: SideAccount,
    settings: Settings,
    name: str,
    form: Callable[[Record], str],
    *,
    rereads: bool,
) -> Writer:
    """What follows one of ACON's guidelines; an extract takes about a quarter of the threshold."""
    if chat is None:
        tokens = 1_024 if name == "history" else 256
        return ExtractiveWriter(tokens, settings.count, form, rereads)
    return ChatWriter(SideChannel(chat, account), "compressor", prompt(f"acon_{name}"), 2_048)


def _selfgc(options: Options, settings: Settings) -> StrategyFactory:
    chat = chat_of(options, settings)
    window = options.whole("window", WINDOW)
    growth = budget_of(options, selfgc.GROWTH).of(window)
    whole_prefix = options.one_of("index", "objects", "prefix") == "prefix"

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        planner: selfgc.Planner = selfgc.RulePlanner()
        if chat is not None:
            planner = selfgc.ChatPlanner(SideChannel(chat, account), whole_prefix)
        return selfgc.SelfGC(wire, planner, growth, window, settings.count, account)

    return build


def _lre(options: Options, settings: Settings) -> StrategyFactory:
    weights = lre.open_weights(options.text("weights", ""))
    budget = budget_of(options, 2_048)
    keep = options.whole("keep", lre.KEEP)
    return lambda run, wire: lre.LearnedEviction(wire, weights, budget, keep)


SUMMARIES: Mapping[str, Builder] = {
    "llmlingua2": _llmlingua2,
    "pace": _pace,
    "selfcompact": _selfcompact,
    "acon": _acon,
    "selfgc": _selfgc,
    "lre": _lre,
}
CARDS: tuple[Card, ...] = (
    llmlingua2.CARD,
    pace.CARD,
    selfcompact.CARD,
    acon.CARD,
    selfgc.CARD,
    lre.CARD,
)
