"""Strategies by name: how each is built from its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from statecomp.baselines.mask import ObservationMasking
from statecomp.baselines.none import NoCompression
from statecomp.baselines.periodic import PeriodicSummary
from statecomp.baselines.window import SlidingWindow
from statecomp.compressor import StateComp
from statecomp.config.options import Options, Settings
from statecomp.config.scorers import scoring
from statecomp.config.summarizers import summarizer_of
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.llm.side import SideAccount
from statecomp.replay.run import StrategyFactory
from statecomp.strategy import Strategy
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
    default = Gates()
    scored = scoring(options.text("scorer", "age"))
    gates = Gates(
        threshold=options.real("threshold", scored.threshold),
        longer_than=options.whole("longer_than", default.longer_than),
        min_source_tokens=options.whole("min_source_tokens", default.min_source_tokens),
    )
    summarizer = summarizer_of(options, settings)

    def build(run: Trajectory, wire: Wire) -> Strategy:
        account = SideAccount()
        return StateComp(
            scored.scorer(run),
            summarizer=summarizer(account),
            gates=gates,
            protocol=wire.name,
            count=settings.count,
            account=account,
        )

    return build


BUILDERS: Mapping[str, Callable[[Options, Settings], StrategyFactory]] = {
    "none": _none,
    "window": _window,
    "mask": _mask,
    "periodic": _periodic,
    "statecomp": _statecomp,
}
