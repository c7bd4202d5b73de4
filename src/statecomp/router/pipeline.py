"""From labelled runs to a router: `train` makes one, `evaluate` says how good such a one is.

What it reads (`Plan`) may be evidence, hidden states of a frozen language model, or both; folds,
calibration, threshold and report are the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.labels import Labels
from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.features import presets
from statecomp.features.evidence import EvidenceReader
from statecomp.history.trajectory import Trajectory
from statecomp.router import cross, folds, metrics
from statecomp.router.bundle import Bundle
from statecomp.router.hidden.spec import Spec, parse
from statecomp.router.learners import LOSSES, learner, lesson
from statecomp.router.pairs import Pairs
from statecomp.router.supervision import supervised_pairs
from statecomp.router.threshold import Aim
from statecomp.workers.engine import Engine, Progress, silent
from statecomp.workers.local import IN_PROCESS

MEANING: Final = "READY from the earliest checkpoint at which a short summary may stand instead"


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What is learned, from what, and how.

    `representation` is evidence, a construction, or a construction with `+evidence`; `context` how
    the other candidates of a prefix are aggregated.  Bounded views read thousands of tokens for
    each pair: `checkpoints` of a run, drawn by `seed`, keep them affordable.  Of several `learners`
    validation picks one; none given is the committee on evidence, and one hidden layer of 128
    elsewhere.  With the loss weighted-bce the rarer class counts `rare_weight` times; the
    `calibration` raw leaves the scores as that loss makes them, every other takes it back.
    """

    representation: str = "evidence"
    context: str = "none"
    encoder: str = presets.DEFAULT
    layer: int | None = None
    readout: str = "last"
    learners: tuple[str, ...] = ()
    loss: str = "bce"
    rare_weight: float = 10.0
    aim: Aim = cross.SAFE
    calibration: str = "beta"
    checkpoints: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise BadInput(f"is {self.loss!r}, none of {', '.join(LOSSES)}", field="loss")

    @property
    def reads(self) -> Spec:
        """What a router of this plan reads, without the encoder, which is not open yet."""
        return parse(self.representation, self.context, self.readout)

    @property
    def names(self) -> tuple[str, ...]:
        """The learners that validation picks from."""
        return self.learners or (("mlp128",) if self.reads.hidden else ("committee",))


@dataclass(frozen=True)
class Material:
    """Runs with their labels.

    Runs of `more` are learned from, and never tuned or judged on; the committee learns from
    `forecasts` more than from labels.  `source` is what the bundle says of where all came from.
    """

    runs: Sequence[Trajectory]
    labels: Labels
    more: Labels | None = None
    forecasts: Forecasts | None = None
    source: str = "labels given in Python"

    @property
    def known(self) -> Labels:
        return {**(self.more or {}), **self.labels}


@dataclass(frozen=True)
class Workplace:
    """Where the work is done, who looks on, and where vectors are kept (the user's cache)."""

    engine: Engine = IN_PROCESS
    progress: Progress = silent
    vectors: Path | None = None


HERE: Final = Workplace()


@dataclass(frozen=True)
class Corpus:
    """The pairs of all labelled runs, what was read, and which runs are only learned from."""

    pairs: Pairs
    reads: Spec
    judged: Sequence[folds.FoldRun]
    more: Sequence[folds.FoldRun]
    source: str

    def bundle(self, chosen: cross.Chosen, source: str) -> Bundle:
        beside = EvidenceReader.NAMES if self.reads.evidence else ()
        return Bundle(
            router=chosen.router,
            features=(*self.reads.columns(), *beside),
            threshold=chosen.threshold,
            calibration=chosen.calibration,
            labels=MEANING,
            created_from=source,
            reads=self.reads,
        )


@dataclass(frozen=True)
class TrainedRouter:
    """The router of `name` among the learners, and the pairs it was made from."""

    bundle: Bundle
    name: str
    pairs: Pairs


@dataclass(frozen=True)
class Evaluated:
    """What a plan reaches on tasks that were not learned from.

    `bundles` are the routers of the rotations; `unseen` says which of them never saw a task.
    """

    result: cross.CrossValidated
    bundles: tuple[Bundle, ...]
    unseen: Mapping[str, int]


def train(
    material: Material, plan: TrainingPlan = TrainingPlan(), at: Workplace = HERE
) -> TrainedRouter:
    """A router; scores are calibrated and the threshold is chosen on tasks not learned from."""
    corpus = corpus_of(material, plan, at)
    validation = folds.rotations(corpus.judged, seed=plan.seed)[0].validation
    # Nothing is judged here, so all other tasks are learned from; a committee takes both parts.
    learning = corpus.pairs.without_tasks_of(validation)
    chosen = cross.choose(
        learning, corpus.pairs.of_runs(validation), _learners(plan, corpus), _choice(plan)
    )
    bundle = corpus.bundle(chosen, f"{corpus.source}, seed {plan.seed}")
    return TrainedRouter(bundle, chosen.name, corpus.pairs)


def evaluate(
    material: Material, plan: TrainingPlan = TrainingPlan(), at: Workplace = HERE
) -> Evaluated:
    """Five rotations, no task in two parts; the labels of the test runs are read last."""
    corpus, seed = corpus_of(material, plan, at), plan.seed
    rotations = folds.rotations(corpus.judged, seed=seed)
    rotations = folds.learning_more(rotations, corpus.judged, corpus.more, seed=seed)
    edges = metrics.length_edges(corpus.pairs.of_runs(run.name for run in corpus.judged))
    job = FoldJob(corpus.pairs, _learners(plan, corpus), _choice(plan), edges)
    with at.progress("folds", len(rotations)) as watch:
        judged = [*at.engine.map(job, rotations, watch=watch)]
    bundles = (
        corpus.bundle(fold.chosen, f"{corpus.source}, seed {seed}, rotation {turn}")
        for turn, fold in enumerate(judged, start=1)
    )
    unseen = folds.unseen_by(rotations, (*corpus.judged, *corpus.more))
    return Evaluated(cross.pooled(corpus.pairs, judged, edges), tuple(bundles), unseen)


@dataclass(frozen=True)
class FoldJob:
    """One rotation, wherever it is trained: chosen on two of its parts, judged on the third."""

    pairs: Pairs
    learners: Mapping[str, cross.Learner]
    choice: cross.Choice
    edges: tuple[float, float]

    def __call__(self, fold: folds.Fold) -> cross.JudgedFold:
        train, validation = map(self.pairs.of_runs, (fold.train, fold.validation))
        chosen = cross.choose(train, validation, self.learners, self.choice)
        return cross.judge(fold, chosen, self.pairs.of_runs(fold.test), self.edges)


def corpus_of(material: Material, plan: TrainingPlan, at: Workplace = HERE) -> Corpus:
    """The features of every labelled run, read or found."""
    if material.forecasts is not None and plan.reads.hidden:
        raise BadInput("go with the representation evidence alone", field="forecasts")
    pairs, reads = (_hidden if plan.reads.hidden else _evidence)(material, plan, at)
    runs = pairs.catalogue()
    return Corpus(
        pairs,
        replace(reads, loss=lesson(plan.loss, plan.rare_weight, pairs).name),
        judged=[run for run in runs if run.name in material.labels],
        more=[run for run in runs if run.name not in material.labels],
        source=f"{material.source}: {len(runs)} runs, {len(pairs)} pairs",
    )


def _evidence(material: Material, plan: TrainingPlan, at: Workplace) -> tuple[Pairs, Spec]:
    readings, known = [Reading.of(run) for run in material.runs], material.known
    with at.progress("reading features", sum(r.id in known for r in readings)) as watch:
        mapped = partial(at.engine.map, watch=watch)
        pairs = supervised_pairs(readings, known, EvidenceReader, mapped, material.forecasts)
    return pairs, plan.reads


def _hidden(material: Material, plan: TrainingPlan, at: Workplace) -> tuple[Pairs, Spec]:
    # Here, so that a router on evidence needs no language model's library.
    from statecomp.vectors import study

    folder = at.vectors or presets.cache_folder() / "vectors"
    return study.pairs_of(material, plan, folder, at.engine, at.progress)


def _learners(plan: TrainingPlan, corpus: Corpus) -> dict[str, cross.Learner]:
    taught = lesson(plan.loss, plan.rare_weight, corpus.pairs)
    less = frozenset(run.name for run in corpus.more)
    return {name: learner(name, corpus.reads, taught, less, plan.seed) for name in plan.names}


def _choice(plan: TrainingPlan) -> cross.Choice:
    return cross.Choice(calibration=plan.calibration, aim=plan.aim)
