"""From folders of features, runs and labels to finished tables; the captions state the sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from statecomp.annotation.labels import Labels
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.router.folds import FoldRun, rotations
from statecomp.router.pairs import Pairs
from statecomp.vectors import blocks
from statecomp.vectors.sample import ALL, Sample
from statecomp.vectors.shelf import StudyCard, Vectors, bare, cards, finished, load
from statecomp_bench.study import representations, routers
from statecomp_bench.study.kept import FORGETS, Kept
from statecomp_bench.study.table import Progress, StudyTable

Runs = Mapping[str, Trajectory]
Key = TypeVar("Key")
REPRESENTATION_COLUMNS = (
    "auroc", "ready_pr_auc", "keep_pr_auc", "coverage_at_98", "unsafe_rate", "ece",
)  # fmt: skip
ROUTER_COLUMNS = (*REPRESENTATION_COLUMNS[:4], "precision", "recall", "unsafe_rate", "ece")
SMALL, LARGE = 128, 512
"""Rows of a training step: for a sample, and for all labelled runs."""
PROTOCOL = (
    "Five rotations in which no task is in two parts; configuration, checkpoint, calibration and "
    "threshold (98 % precision) from train and validation; mean ± standard deviation over test "
    "folds, pairs with k ≥ i+2."
)


def quiet(row: str, fold: int, stage: str) -> None:
    """Says nothing."""


def representation_table(
    folders: Sequence[Path],
    runs: Runs,
    labels: Labels,
    *,
    layer: int | None = None,
    readout: str = "last",
    seed: int = 0,
    progress: Progress = quiet,
    kept: Kept = FORGETS,
    chosen: Collection[str] = (),
) -> StudyTable:
    """All rows for which there are vectors of one layer, readout and sample."""
    wanted = [
        (folder, card)
        for folder, card in cards(folders)
        if card.readout == readout and layer in (None, card.layer)
    ]
    group = _largest(wanted, lambda card: (card.recipe.encoder, card.layer, card.sample))
    names = _read_by_all(group, runs)
    vectors = {card.construction: load(folder, card, runs, names) for folder, card in group}
    study = representations.Study(vectors, labels, seed)
    folds = rotations(_catalogue(study.any), seed=seed)
    rows = representations.judge_representations(study, folds, progress, kept, chosen)
    caption = f"{_of_pairs(study.any, labels)} {_of_card(group[0][1])} {PROTOCOL} {COSTS}"
    return StudyTable("Representations", caption, tuple(rows))


COSTS = (
    "Tokens a run: what the construction reads over all checkpoints and targets of an average "
    "run, each input apart; read and seconds here: what this sample took, shared parts read once. "
    "The paper's F1 is of its own data, labels and model."
)


def layer_table(
    folders: Sequence[Path],
    runs: Runs,
    labels: Labels,
    *,
    seed: int = 0,
    progress: Progress = quiet,
) -> StudyTable:
    """Layers and readouts of `once`, on the runs that have most of them."""
    wanted = [(folder, card) for folder, card in cards(folders) if card.construction == "once"]
    group = _largest(wanted, lambda card: (card.recipe.encoder, card.sample))
    names = _read_by_all(group, runs)
    vectors = {
        (card.layer, card.readout): load(folder, card, runs, names) for folder, card in group
    }
    any_of = next(iter(vectors.values()))
    folds = rotations(_catalogue(any_of), seed=seed)
    rows = representations.judge_layers(vectors, labels, folds, seed, progress)
    first = group[0][1]
    reading = f"`once`, {first.recipe.encoder}, candidate and current state; {first.sample}."
    seconds = "Layers extracted together share one pass, and its seconds."
    caption = f"{_of_pairs(any_of, labels)} {reading} {PROTOCOL} {seconds}"
    return StudyTable("Layers and readouts", caption, tuple(rows))


def router_table(
    folders: Sequence[Path],
    runs: Runs,
    labels: Labels,
    *,
    construction: str = "capped-recent4",
    layer: int | None = None,
    readout: str = "last",
    seed: int = 0,
    progress: Progress = quiet,
    kept: Kept = FORGETS,
) -> StudyTable:
    """The router rows on the paper's own representation."""
    wanted = [
        (folder, card)
        for folder, card in cards(folders)
        if (card.construction, card.readout) == (construction, readout)
        and layer in (None, card.layer)
    ]
    if not wanted:
        raise BadInput(f"there are no features of {construction}, {readout}; extract them")
    folder, card = wanted[0]
    vectors = load(folder, card, runs, _read_by_all(wanted[:1], runs))

    def plain() -> Pairs:
        return blocks.labelled(vectors, labels, [vectors.candidate, vectors.current])

    def with_top() -> Pairs:
        parts = [vectors.candidate, vectors.current, blocks.top_mean(vectors)]
        return blocks.labelled(vectors, labels, parts)

    folds = rotations(_catalogue(vectors), seed=seed)
    inputs = routers.Inputs(plain, with_top)
    rows = routers.judge_routers(inputs, folds, SMALL, seed, progress, kept)
    caption = f"{_of_pairs(vectors, labels)} {construction}; {_of_card(card)} {PROTOCOL} {PAPER_PR}"
    return StudyTable(f"Routers on {construction}", caption, tuple(rows))


PAPER_PR = "The paper's PR-AUC is of its own data, where READY is 6.4 % of the pairs."


def evidence_router_table(
    runs: Runs,
    labels: Labels,
    sample: Sample,
    *,
    seed: int = 0,
    progress: Progress = quiet,
    kept: Kept = FORGETS,
) -> StudyTable:
    """The router rows on evidence features, at sampled checkpoints of every labelled run."""
    vectors = _unread(runs, labels, sample)

    @cache
    def pairs() -> Pairs:
        return blocks.labelled(vectors, labels, [blocks.evidence_of(vectors)])

    folds = rotations(_catalogue(vectors), seed=seed)
    batch = SMALL if len(vectors.run) < 2_000 else LARGE
    rows = routers.judge_routers(routers.Inputs(pairs, pairs), folds, batch, seed, progress, kept)
    note = "Evidence has no vectors to average, so Top4 rows read evidence alone."
    caption = f"{_of_pairs(vectors, labels)} Evidence features; {sample}. {note} {PROTOCOL}"
    return StudyTable("Routers on evidence", f"{caption} {PAPER_PR}", tuple(rows))


def evidence_pairs(runs: Runs, labels: Labels, sample: Sample = ALL) -> Pairs:
    """Evidence at the sampled pairs of every labelled run."""
    vectors = _unread(runs, labels, sample)
    return blocks.labelled(vectors, labels, [blocks.evidence_of(vectors)])


def _unread(runs: Runs, labels: Labels, sample: Sample) -> Vectors:
    known = [run for name, run in runs.items() if name in labels]
    if not known:
        raise BadInput("none of the runs has a label; were the labels made from other runs?")
    return bare(known, sample)


def _largest(
    found: Sequence[tuple[Path, StudyCard]], key: Callable[[StudyCard], Key]
) -> list[tuple[Path, StudyCard]]:
    """The largest group of recipes that may stand in one table."""
    groups: dict[Key, list[tuple[Path, StudyCard]]] = {}
    for folder, card in found:
        groups.setdefault(key(card), []).append((folder, card))
    if not groups:
        raise BadInput("the folders hold no features of this layer and readout; extract them")
    return max(groups.values(), key=len)


def _read_by_all(group: Sequence[tuple[Path, StudyCard]], runs: Runs) -> list[str]:
    """The runs that every recipe has read: a stopped extraction leaves some behind."""
    done = [finished(folder, card, runs) for folder, card in group]
    common = set(done[0]).intersection(*done[1:])
    if not common:
        raise BadInput("no run was read by every construction; let statecomp extract end")
    return [name for name in done[0] if name in common]


def _catalogue(vectors: Vectors) -> list[FoldRun]:
    return [FoldRun(reading.id, reading.group, reading.domain) for reading in vectors.readings]


def _of_pairs(vectors: Vectors, labels: Labels) -> str:
    pairs = blocks.labelled(vectors, labels, [vectors.candidate])
    domains = Counter(reading.domain or "no domain" for reading in vectors.readings)
    settled = int((pairs.age >= 2).sum())
    return (
        f"{len(vectors.readings)} labelled runs "
        f"({', '.join(f'{name} {count}' for name, count in sorted(domains.items()))}), "
        f"{len(pairs):,} pairs, {settled:,} with k ≥ i+2, "
        f"of which {representations.ready_share(pairs):.0%} READY."
    )


def _of_card(card: StudyCard) -> str:
    return (
        f"{card.recipe.encoder}, layer {card.layer}, {card.readout} readout; "
        f"read as: {card.recipe.construction}."
    )
