"""Two routers on sessions that neither learned from: ranking, calibration, what would be sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from statecomp.annotation.labels import Labels
from statecomp.controller.prices import shipped_prices
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.learning import supervision
from statecomp.learning.lessons import Heard, unheard
from statecomp.learning.sessions import Lived
from statecomp.method import Method
from statecomp.replays.run import replay_run, used_identifiers
from statecomp.replays.safety import common_identifiers
from statecomp.replays.table import StrategyRow, rows
from statecomp.router import metrics
from statecomp.router.bundle import Bundle
from statecomp.router.paired import Difference, difference
from statecomp.router.pairs import Flags, Floats, Pairs
from statecomp.router.shipped import scorer_of
from statecomp.strategy import Strategy, StrategyFactory
from statecomp.wire.protocol import Wire

SHIPPED, YOURS = "shipped", "yours"
SURE: Final = 0.9
"""In so many of all draws of the sessions the new router must rank better."""
BOLDER: Final = 0.01
"""By so much more of what the labels keep it may replace too early."""
DEARER: Final = 0.01
"""By so much less of the dollars it may save."""
FORGOTTEN: Final = 0.01
"""By so much its ranking of the shipped supervision may fall."""
REPLAYED: Final = 20
USUAL: Final = Method()
"""How a router decides where nothing else is asked for."""


@dataclass(frozen=True)
class Side:
    """One router on the held-out sessions: measures on pairs with k >= i+2, and its replay."""

    name: str
    measures: dict[str, Any]
    reliability: list[dict[str, Any]]
    replayed: dict[str, Any]


@dataclass(frozen=True)
class RouterComparison:
    """Both sides, how sure the difference is, and every reason not to switch."""

    shipped: Side
    yours: Side
    ranking: Difference | None
    surprise: Difference | None
    remembered: tuple[float, float]
    pairs: int
    against: tuple[str, ...]

    @property
    def better(self) -> bool:
        return not self.against

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "better": self.better}


def judged_on(own: Pairs, lived: Sequence[Lived]) -> Pairs:
    """The pairs of these sessions on which routers can be compared."""
    held = own.of_runs(one.id for one in lived).settled()
    if not len(held) or held.ready.all() or not held.ready.any():
        only = "no pair" if not len(held) else "READY only" if held.ready.all() else "KEEP only"
        problem = f"the {len(lived)} newest sessions hold {only}, so nothing can be judged on them"
        raise BadInput(f"{problem}; use it longer")
    return held


def compare(
    shipped: Bundle,
    yours: Bundle,
    lived: Sequence[Lived],
    held: Pairs,
    labels: Labels,
    heard: Heard = unheard,
    method: Method = USUAL,
) -> RouterComparison:
    """On the pairs `held` of the sessions `lived`; `method` is how both would decide, but for the
    router."""
    both = {SHIPPED: shipped.scores(held.x), YOURS: yours.scores(held.x)}  # (pairs,) each
    heard(f"replaying {min(len(lived), REPLAYED)} sessions with both routers")
    played = replayed({SHIPPED: shipped, YOURS: yours}, lived[-REPLAYED:], labels, method)
    sides = {
        name: Side(
            name,
            metrics.measures(scores, held.ready, bundle.threshold),
            [asdict(b) for b in metrics.reliability(scores, held.ready)],
            _summary(row),
        )
        for (name, scores), bundle, row in zip(both.items(), (shipped, yours), played, strict=True)
    }
    tasks = [held.groups[run] for run in held.run]
    ranking = difference(metrics.auroc, both[YOURS], both[SHIPPED], held.ready, tasks)
    surprise = difference(_likelihood, both[YOURS], both[SHIPPED], held.ready, tasks)
    remembered = _remembered(shipped, yours)
    against = _against(sides, ranking, surprise, remembered)
    return RouterComparison(
        sides[SHIPPED], sides[YOURS], ranking, surprise, remembered, len(held), against
    )


def replayed(
    bundles: dict[str, Bundle], lived: Sequence[Lived], labels: Labels, method: Method = USUAL
) -> list[StrategyRow]:
    """What each would have sent, billed at list prices under caching."""
    common = common_identifiers(used_identifiers(one.run) for one in lived)
    factories = {name: _factory(bundle, method) for name, bundle in bundles.items()}
    results = [replay_run(one.run, factories, common, labels=labels) for one in lived]
    return rows(results, shipped_prices().of())


def _factory(bundle: Bundle, method: Method) -> StrategyFactory:
    def build(run: Trajectory, wire: Wire) -> Strategy:
        return replace(method, scorer=lambda: scorer_of(bundle)).engine(wire.name)

    return build


def _summary(row: StrategyRow) -> dict[str, Any]:
    return {
        "sessions": row.runs,
        "requests": row.checkpoints,
        "saved": row.saved,
        "dollars": row.dollars,
        "dollars_saved": row.dollars_saved,
        "broken": row.broken_share,
        "premature": row.timing.premature_share,
        "ready_taken": row.timing.taken_share,
        "keep_pairs": row.timing.keep,
    }


def _likelihood(scores: Floats, ready: Flags) -> float | None:
    loss = metrics.log_loss(scores, ready)
    return None if loss is None else -loss


def _remembered(shipped: Bundle, yours: Bundle) -> tuple[float, float]:
    """Both on the shipped supervision, from which both learned: what was forgotten shows here."""
    known = supervision.shipped()[0].settled()
    found = [
        metrics.auroc(bundle.scores(known.x), known.ready) or 0.0 for bundle in (shipped, yours)
    ]
    return found[0], found[1]


def _against(
    sides: dict[str, Side],
    ranking: Difference | None,
    surprise: Difference | None,
    remembered: tuple[float, float],
) -> tuple[str, ...]:
    found = []
    if ranking is None or ranking.above < SURE:
        sure = 0.0 if ranking is None else ranking.above
        found.append(
            f"it ranks better in {sure:.0%} of all draws of these sessions, not in {SURE:.0%}"
        )
    before, after = (sides[name].measures["log_loss"] for name in (SHIPPED, YOURS))
    if surprise is None or not surprise.high >= 0.0:  # not a number: no probabilities at all
        found.append(
            f"its scores say less of what comes true: log loss {after:.3f}, the shipped one "
            f"{before:.3f}, beyond chance"
        )
    before, after = (sides[name].replayed["premature"] or 0.0 for name in (SHIPPED, YOURS))
    if after > before + BOLDER:
        found.append(f"it replaces {after:.1%} of what must stay, the shipped one {before:.1%}")
    before, after = (sides[name].replayed["dollars_saved"] for name in (SHIPPED, YOURS))
    if after < before - DEARER:
        found.append(f"it saves {after:.1%} of the dollars, the shipped one {before:.1%}")
    if remembered[1] < remembered[0] - FORGOTTEN:
        found.append(
            f"on the runs of the shipped router its AUROC falls from {remembered[0]:.3f} to "
            f"{remembered[1]:.3f}"
        )
    return tuple(found)
