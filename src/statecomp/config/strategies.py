"""Strategies by name: how each is built from its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from statecomp.baselines.catalogue import CONTROLS, PUBLISHED, Baseline
from statecomp.compressor import CARD as STATECOMP
from statecomp.config.methods import method_of
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.options import Builder, Options, Settings
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


def _statecomp(options: Options, settings: Settings) -> StrategyFactory:
    """Every key of `methods.OPTIONS`."""
    method, scored = method_of(options, settings)

    def made(run: Trajectory, wire: Wire) -> Strategy:
        return replace(method, scorer=lambda: scored(run)).engine(wire.name)

    return made


def _built(*methods: Baseline) -> dict[str, Builder]:
    return {method.CARD.name: method.build for method in methods}


BUILDERS: Mapping[str, Builder] = {
    **_built(*CONTROLS),
    STATECOMP.name: _statecomp,
    **_built(*PUBLISHED),
}
CARDS: Mapping[str, Card] = {
    card.name: card
    for card in (*(m.CARD for m in CONTROLS), STATECOMP, *(m.CARD for m in PUBLISHED))
}
