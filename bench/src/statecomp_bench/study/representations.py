"""The table of representations: the paper's ten rows (appendix C.3), and ours, on the same pairs.

The paper's names say which vectors a row reads and how it aggregates the prefix: not at all, by a
GRU, by the same-prefix Top k mean, or by both (Hybrid).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

import numpy as np

from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.labels import Labels
from statecomp.errors import BadInput
from statecomp.router.committee import Committee
from statecomp.router.cross import Learner
from statecomp.router.folds import Fold
from statecomp.router.hidden.gru import GruSettings
from statecomp.router.pairs import Features, Pairs
from statecomp.router.train import TrainSettings
from statecomp.router.trees import SHIPPED
from statecomp.vectors import blocks
from statecomp.vectors.shelf import Vectors
from statecomp_bench.study.compress import CompressedSettings
from statecomp_bench.study.kept import FORGETS, Kept
from statecomp_bench.study.table import Progress, StudyEntry, StudyRow, judge_rows, quiet

PAPER: Sequence[tuple[str, str, str, str]] = (
    ("Full Context", "full", "", "0.7000"),
    ("Recent2", "recent2", "", "0.7101"),
    ("Recent4", "recent4", "", "0.7340"),
    ("Local + GRU", "local", "gru", "0.7531"),
    ("Local + same-prefix Top k", "local", "top", "0.7545"),
    ("Hybrid", "local", "gru top", "0.6749"),
    ("Capped Recent4", "capped-recent4", "", "0.7518"),
    ("Capped Recent4 + GRU", "capped-recent4", "gru", "0.7465"),
    ("Capped Recent4 + same-prefix Top k", "capped-recent4", "top", "0.7477"),
    ("Capped Recent4 + Hybrid", "capped-recent4", "gru top", "0.7818"),
)
"""Name, construction, aggregation, and the F1 the paper prints for its own data and model."""
CUT = ("Full Context in a cut window", "cut-full", "", "")
"""Ours: where the limits of all other rows are divided, Full Context alone would see more."""

Beside: TypeAlias = Callable[[], Features]
"""What stands beside the vectors of a row, read when the row is judged."""

BATCH = 128
"""Small, because a sample has few pairs and an epoch should be many steps."""


def networks(seed: int = 0) -> dict[str, Learner]:
    """What validation chooses from, the same for every row without a GRU."""
    return {
        "linear": TrainSettings(hidden=0, batch=BATCH, seed=seed),
        "mlp128": TrainSettings(hidden=128, batch=BATCH, seed=seed),
    }


@dataclass(frozen=True)
class Study:
    """The vectors by construction, all of the same pairs, and their labels.

    The shipped recipe learns from forecasts too, where there are any.
    """

    vectors: Mapping[str, Vectors]
    labels: Labels
    seed: int = 0
    forecasts: Forecasts | None = None

    def __post_init__(self) -> None:
        if not self.vectors:
            raise BadInput("there are no features to compare")
        first, *others = self.vectors
        for other in others:
            if self.vectors[first].pairs_key() != self.vectors[other].pairs_key():
                problem = f"{first} and {other} were not read at the same pairs; extract both with"
                raise BadInput(f"{problem} the same runs, sample and seed")

    @property
    def any(self) -> Vectors:
        return next(iter(self.vectors.values()))

    def pairs(self, *parts: Features) -> Pairs:
        return blocks.labelled(self.any, self.labels, parts)

    def entries(self) -> list[StudyEntry]:
        """The paper's rows for which there are vectors, then ours, then the paper's on evidence."""

        @cache
        def evidence() -> Features:
            return blocks.evidence_of(self.any)

        known = [row for row in (*PAPER, CUT) if row[1] in self.vectors]
        return [
            *(self._entry(name, kind, how, f1=f1) for name, kind, how, f1 in known),
            *self._ours(evidence),
            *(
                self._entry(f"{name} + evidence", kind, how, evidence)
                for name, kind, how, _ in known
            ),
        ]

    def _entry(
        self, name: str, construction: str, how: str, beside: Beside | None = None, f1: str = ""
    ) -> StudyEntry:
        vectors = self.vectors[construction]
        recurrent = "gru" in how
        learners = networks(self.seed)
        if recurrent:
            learners = {"gru": GruSettings(dims=vectors.candidate.shape[1], seed=self.seed)}

        def pairs() -> Pairs:
            parts = [blocks.state_column(vectors)] if recurrent else []
            parts += [vectors.candidate, vectors.current]
            parts += [blocks.top_mean(vectors)] if "top" in how else []
            return self.pairs(*parts, *([beside()] if beside else []))

        return StudyEntry(name, pairs, learners, {**costs(vectors), "paper's F1": f1})

    def _ours(self, evidence: Beside) -> list[StudyEntry]:
        def age() -> Pairs:
            return self.pairs(evidence()[:, blocks.evidence_columns(blocks.AGE)])

        def alone() -> Pairs:
            return self.pairs(evidence())

        def foreseen() -> Pairs:
            return blocks.labelled(self.any, self.labels, [evidence()], self.forecasts)

        trees: dict[str, Learner] = {"trees": SHIPPED}
        rows = [
            StudyEntry("Age alone", age, networks(self.seed), NO_MODEL),
            StudyEntry("Evidence", alone, networks(self.seed), NO_MODEL),
            StudyEntry("Evidence, boosted trees", alone, trees, NO_MODEL),
            StudyEntry(SHIPPED_ROW, foreseen, {"committee": Committee(seed=self.seed)}, NO_MODEL),
        ]
        if "once" in self.vectors:
            rows[:0] = [
                self._entry("Once", "once", ""),
                self._entry("Once + same-prefix Top k", "once", "top"),
            ]
            rows += self._once_beside(evidence)
        return rows

    def _once_beside(self, evidence: Beside) -> list[StudyEntry]:
        once = self.vectors["once"]

        def both() -> Pairs:
            return self.pairs(once.candidate, once.current, evidence())

        def crossed() -> Pairs:
            return self.pairs(once.candidate * once.current, once.candidate - once.current)

        def similar() -> Pairs:
            return self.pairs(evidence(), blocks.similarity(once))

        name = "Once + evidence"
        squeezed = CompressedSettings(SHIPPED, 2 * once.candidate.shape[1])
        return [
            StudyEntry(name, both, networks(self.seed), costs(once)),
            StudyEntry(f"{name}, boosted trees", both, {"trees": squeezed}, costs(once)),
            StudyEntry("Once, products and differences", crossed, networks(self.seed), costs(once)),
            StudyEntry(
                "Evidence + similarity, boosted trees", similar, {"trees": SHIPPED}, costs(once)
            ),
        ]


SHIPPED_ROW = "Evidence, the shipped recipe"
NO_MODEL = {"tokens a run": "0", "read here": "0", "seconds here": "", "longest input": "0"}


def costs(vectors: Vectors) -> dict[str, str]:
    """What the construction reads of an average run, and what this sample took."""
    runs = max(1, len(vectors.readings))
    return {
        "tokens a run": f"{vectors.cost.apart / runs:,.0f}",
        "read here": f"{vectors.tokens_read:,}",
        "seconds here": f"{vectors.seconds:,.0f}",
        "longest input": f"{vectors.cost.peak:,}",
    }


AGAINST = ("Capped Recent4 + Hybrid", "Once", "Evidence")
"""The paper's own, the cheapest that reads a model, and what reads none."""


def judge_representations(
    study: Study,
    folds: Sequence[Fold],
    progress: Progress = quiet,
    kept: Kept = FORGETS,
    chosen: Collection[str] = (),
) -> list[StudyRow]:
    """All rows, or those `chosen` by name."""
    entries = [entry for entry in study.entries() if not chosen or entry.name in chosen]
    if not entries:
        raise BadInput(
            f"there is no such row; there are {', '.join(e.name for e in study.entries())}"
        )
    return judge_rows(entries, folds, progress=progress, against=AGAINST, kept=kept)


def judge_layers(
    by_layer: Mapping[tuple[int, str], Vectors],
    labels: Labels,
    folds: Sequence[Fold],
    seed: int = 0,
    progress: Progress = quiet,
) -> list[StudyRow]:
    """One row for each layer and readout of `once`: candidate and current state."""
    entries = [
        StudyEntry(
            f"layer {layer}, {readout}",
            partial(_states, vectors, labels),
            networks(seed),
            {"seconds here": f"{vectors.seconds:,.0f}"},
        )
        for (layer, readout), vectors in sorted(by_layer.items())
    ]
    return judge_rows(entries, folds, progress=progress)


def _states(vectors: Vectors, labels: Labels) -> Pairs:
    return blocks.labelled(vectors, labels, [vectors.candidate, vectors.current])


def ready_share(pairs: Pairs) -> float:
    """Of the pairs with k >= i+2; what a caption says of a sample."""
    settled = pairs.age >= 2
    return float(np.mean(pairs.ready[settled])) if settled.any() else 0.0
