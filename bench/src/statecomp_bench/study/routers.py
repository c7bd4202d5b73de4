"""The table of routers: the paper's eleven rows (appendix D.2), and ours.

The paper names configurations, not every detail.  Here, as there where it can be told: rows that
compare losses and samplings use MLP 2048 on candidate and current state; rows that compare
architectures add the same-prefix Top4 mean (the paper prints one number, 0.1455, for MLP 128 and
for Candidate + current + Top4).  In our labels KEEP is the rare class, so weights on READY do the
opposite of what they did in the paper; a row of ours weighs KEEP instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from statecomp.router.cross import Learner
from statecomp.router.folds import Fold
from statecomp.router.loss import BalancedFocal, Oversample, ReadyShare, WeightedBce
from statecomp.router.pairs import Pairs
from statecomp.router.threshold import LossWeights
from statecomp.router.train import TrainSettings
from statecomp.router.trees import SHIPPED
from statecomp_bench.study.kept import FORGETS, Kept
from statecomp_bench.study.table import Progress, StudyEntry, StudyRow, judge_rows, quiet

OWN = "Weighted BCE (w_1 = 10)"
"""The paper's own router, which the others are held against."""
WIDE = 2048
SHARES = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8)
"""READY shares of the positive-ratio sweep; validation picks one."""


@dataclass(frozen=True)
class Inputs:
    """What a router may read: candidate and current state, and the same with the Top4 mean.

    Evidence has no vectors to average: both are the same there.  `beside` are rows of other studies
    of the same pairs, judged with these, and what these are held against.
    """

    plain: Callable[[], Pairs]
    with_top: Callable[[], Pairs]
    beside: Sequence[StudyEntry] = ()


def paper_rows(batch: int, seed: int) -> Sequence[tuple[str, bool, Mapping[str, Learner], str]]:
    """Name, whether it reads Top4, its configurations, and the paper's PR-AUC of READY."""

    wide = TrainSettings(hidden=WIDE, batch=batch, seed=seed)

    def one(learner: Learner) -> Mapping[str, Learner]:
        return {"": learner}

    ten, five = WeightedBce(LossWeights(ready=10.0)), WeightedBce(LossWeights(ready=5.0))
    sweep = {f"{share:.0%} READY": replace(wide, sampling=ReadyShare(share)) for share in SHARES}
    linear, mlp128 = replace(wide, hidden=0), replace(wide, hidden=128)
    return (
        ("BCE baseline", False, one(wide), "0.1685"),
        (OWN, False, one(replace(wide, loss=ten)), "0.1736"),
        ("Random oversampling 1:4", False, one(replace(wide, sampling=Oversample(4.0))), "0.1674"),
        ("Linear", True, one(linear), "0.1425"),
        ("MLP 128", True, one(mlp128), "0.1455"),
        ("MLP 2048", True, one(wide), "0.1655"),
        ("Candidate + current + Top4", True, one(mlp128), "0.1455"),
        ("CB Focal (β = 0.9999, γ = 3)", False, one(replace(wide, loss=BalancedFocal())), "0.1624"),
        ("Weighted BCE (w_1 = 5)", False, one(replace(wide, loss=five)), "n/a"),
        ("Positive ratio sweep", False, sweep, "0.1669"),
        ("100 % training trajectories", True, one(replace(wide, loss=ten)), "n/a"),
    )


def entries(inputs: Inputs, batch: int, seed: int = 0) -> list[StudyEntry]:
    paper = [
        StudyEntry(
            name, inputs.with_top if top else inputs.plain, learners, {"paper's PR READY": pr}
        )
        for name, top, learners, pr in paper_rows(batch, seed)
    ]
    rare = TrainSettings(
        hidden=128, batch=batch, seed=seed, loss=WeightedBce(LossWeights(keep=5.0))
    )
    ours = [
        StudyEntry("ours: MLP 128, weighted BCE (w_0 = 5)", inputs.plain, {"": rare}),
        StudyEntry("ours: boosted trees", inputs.plain, {"": SHIPPED}),
    ]
    return [*paper, *ours, *inputs.beside]


def judge_routers(
    inputs: Inputs,
    folds: Sequence[Fold],
    batch: int,
    seed: int = 0,
    progress: Progress = quiet,
    kept: Kept = FORGETS,
) -> list[StudyRow]:
    rows = entries(inputs, batch, seed)
    against = (OWN, *(entry.name for entry in inputs.beside))
    return judge_rows(rows, folds, progress=progress, against=against, kept=kept)
