"""Learners and losses by name; each loads only the libraries it needs, and that late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from statecomp.errors import BadInput
from statecomp.router.cross import Learner
from statecomp.router.hidden.spec import Spec
from statecomp.router.pairs import Pairs
from statecomp.router.threshold import UNWEIGHTED, LossWeights

# Of the learners that are networks, how wide their hidden layer is.
HIDDEN: Final[Mapping[str, int]] = {"linear": 0, "mlp128": 128, "mlp2048": 2048}
LEARNERS: Final = ("committee", "trees", *HIDDEN)
LOSSES: Final = ("bce", "weighted-bce", "cb-focal", "oversampling")
BATCH: Final = 128
"""Of pairs with vectors there are few, and an epoch should be many steps."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A loss by its kind, with the weights it amounts to here; `name` says both to people."""

    kind: str
    weights: LossWeights = UNWEIGHTED

    @property
    def name(self) -> str:
        if self.kind != "weighted-bce":
            return self.kind
        return f"weighted-bce, READY {self.weights.ready:g}, KEEP {self.weights.keep:g}"

    def options(self) -> dict[str, Any]:
        """For the settings of a network."""
        from statecomp.router import loss as losses

        if self.kind == "oversampling":
            return {"sampling": losses.Oversample()}
        if self.kind == "cb-focal":
            return {"loss": losses.BalancedFocal()}
        return {"loss": losses.WeightedBce(self.weights)}


def lesson(kind: str, rare_weight: float, pairs: Pairs) -> Lesson:
    """The paper weighs READY, its rare class; where KEEP is rare, KEEP is weighed."""
    if kind == "oversampling":
        from statecomp.router.loss import Oversample

        return Lesson(kind, Oversample().weights(pairs.ready))
    if kind != "weighted-bce":
        return Lesson(kind)
    ready_is_rare = 2 * int(pairs.ready.sum()) < len(pairs)
    return Lesson(
        kind, LossWeights(rare_weight, 1.0) if ready_is_rare else LossWeights(1.0, rare_weight)
    )


def learner(
    name: str, reads: Spec, taught: Lesson, less: frozenset[str] = frozenset(), seed: int = 0
) -> Learner:
    """One configuration; runs of `less` are trusted less.  What cannot be is one sentence."""
    if name not in LEARNERS:
        raise BadInput(f"is {name!r}, none of {', '.join(LEARNERS)}", field="learner")
    if reads.recurrent and name not in HIDDEN:
        problem = f"is {name}, and a GRU is trained with a network; use {', '.join(HIDDEN)}"
        raise BadInput(problem, field="learner")
    if name in HIDDEN:
        return _network(HIDDEN[name], reads, taught, seed)
    if taught.kind == "cb-focal":
        problem = f"is cb-focal, and the learner {name} knows classes by weights alone"
        raise BadInput(f"{problem}; use {', '.join(HIDDEN)}", field="loss")
    # Trees draw no rows: what a sampling asks for is done by weights.
    if name == "trees":
        from statecomp.router.trees import SHIPPED

        return replace(SHIPPED, weights=taught.weights, rare=less, seed=seed)
    from statecomp.router.committee import Committee

    return Committee(untrusted=less, seed=seed).weighing(taught.weights)


def _network(hidden: int, reads: Spec, taught: Lesson, seed: int) -> Learner:
    options: dict[str, Any] = {**taught.options(), "hidden": hidden, "seed": seed}
    if reads.recurrent:
        from statecomp.router.hidden.gru import GruSettings

        assert reads.encoder is not None
        return GruSettings(dims=reads.encoder.width, **options)
    from statecomp.router.train import TrainSettings

    if reads.hidden:
        options["batch"] = BATCH
    return TrainSettings(**options)
