"""From folders of features, runs and labels to finished tables; the captions state the sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.labels import Labels
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.router.committee import Committee
from statecomp.router.folds import FoldRun, rotations
from statecomp.router.pairs import Features, Pairs
from statecomp.vectors import blocks
from statecomp.vectors.sample import Sample
from statecomp.vectors.shelf import StudyCard, Vectors, bare, cards, finished, load
from statecomp_bench.study import representations, routers, shares
from statecomp_bench.study.kept import FORGETS, Kept
from statecomp_bench.study.table import Progress, StudyEntry, StudyTable, quiet

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
    forecasts: Forecasts | None = None,
) -> StudyTable:
    """All rows for which there are vectors of one layer, readout and sample."""
    study, card = _study(folders, runs, labels, layer, readout, seed, forecasts)
    folds = rotations(_catalogue(study.any), seed=seed)
    rows = representations.judge_representations(study, folds, progress, kept, chosen)
    caption = f"{_of_pairs(study.any, labels)} {_of_card(card)} {PROTOCOL} {GAPS} {COSTS}"
    return StudyTable("Representations", caption, tuple(rows))


GAPS = (
    "AUROC − a row: how far a row is ahead of that one on all test pairs together, and where 95 % "
    "of the differences lie when tasks are drawn anew; bold where chance does not explain it."
)
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


def share_table(
    folders: Sequence[Path],
    runs: Runs,
    labels: Labels,
    *,
    layer: int | None = None,
    readout: str = "last",
    seed: int = 0,
    progress: Progress = quiet,
    forecasts: Forecasts | None = None,
) -> StudyTable:
    """The paper's own row, the cheapest, evidence and the shipped recipe, by training share and by
    run length."""
    study, card = _study(folders, runs, labels, layer, readout, seed, forecasts)
    shown = (*representations.AGAINST, representations.SHIPPED_ROW)
    entries = [entry for entry in study.entries() if entry.name in shown]
    rows = shares.judge_shares(entries, seed, progress)
    caption = f"AUROC. {_of_pairs(study.any, labels)} {_of_card(card)} {PROTOCOL}"
    return StudyTable("Training data and run length", caption, tuple(rows))


def router_table(
    folders: Sequence[Path],
    runs: Runs,
    labels: Labels,
    *,
    construction: str = "capped-recent4",
    layer: int | None = None,
    readout: str = "last",
    evidence: bool = False,
    seed: int = 0,
    progress: Progress = quiet,
    kept: Kept = FORGETS,
) -> StudyTable:
    """The router rows on the paper's own representation, alone or with evidence beside it.

    They are held against the same rows as representations are, where their vectors are there.
    """
    study, card = _study(folders, runs, labels, layer, readout, seed)
    if construction not in study.vectors:
        raise BadInput(f"there are no features of {construction}, {readout}; extract them")
    vectors = study.vectors[construction]

    @cache
    def beside() -> list[Features]:
        return [blocks.evidence_of(vectors)] if evidence else []

    def plain() -> Pairs:
        return blocks.labelled(vectors, labels, [vectors.candidate, vectors.current, *beside()])

    def with_top() -> Pairs:
        parts = [vectors.candidate, vectors.current, blocks.top_mean(vectors), *beside()]
        return blocks.labelled(vectors, labels, parts)

    folds = rotations(_catalogue(vectors), seed=seed)
    others = [entry for entry in study.entries() if entry.name in representations.AGAINST]
    inputs = routers.Inputs(plain, with_top, [replace(entry, notes={}) for entry in others])
    rows = routers.judge_routers(inputs, folds, SMALL, seed, progress, kept)
    what = f"{construction} and evidence" if evidence else construction
    caption = f"{_of_pairs(vectors, labels)} {what}; {_of_card(card)} {PROTOCOL} {GAPS} {PAPER_PR}"
    return StudyTable(f"Routers on {what}", caption, tuple(rows))


PAPER_PR = "The paper's PR-AUC is of its own data, where READY is 6.4 % of the pairs."


def evidence_router_table(
    runs: Runs,
    labels: Labels,
    sample: Sample,
    *,
    seed: int = 0,
    progress: Progress = quiet,
    kept: Kept = FORGETS,
    forecasts: Forecasts | None = None,
) -> StudyTable:
    """The router rows on evidence features, at sampled checkpoints of every labelled run."""
    vectors = _unread(runs, labels, sample)

    @cache
    def pairs() -> Pairs:
        return blocks.labelled(vectors, labels, [blocks.evidence_of(vectors)])

    folds = rotations(_catalogue(vectors), seed=seed)
    batch = SMALL if len(vectors.run) < 2_000 else LARGE
    shipped = StudyEntry(
        "ours: the shipped recipe",
        lambda: blocks.labelled(vectors, labels, [pairs().x], forecasts),
        {"": Committee(seed=seed)},
    )
    inputs = routers.Inputs(pairs, pairs, [shipped])
    rows = routers.judge_routers(inputs, folds, batch, seed, progress, kept)
    note = "Evidence has no vectors to average, so Top4 rows read evidence alone."
    caption = f"{_of_pairs(vectors, labels)} Evidence features; {sample}. {note} {PROTOCOL} {GAPS}"
    return StudyTable("Routers on evidence", f"{caption} {PAPER_PR}", tuple(rows))


def _unread(runs: Runs, labels: Labels, sample: Sample) -> Vectors:
    known = [run for name, run in runs.items() if name in labels]
    if not known:
        raise BadInput("none of the runs has a label; were the labels made from other runs?")
    return bare(known, sample)


def _study(
    folders: Sequence[Path],
    runs: Runs,
    labels: Labels,
    layer: int | None,
    readout: str,
    seed: int,
    forecasts: Forecasts | None = None,
) -> tuple[representations.Study, StudyCard]:
    """All constructions of one layer, readout and sample, and the card of one of them."""
    wanted = [
        (folder, card)
        for folder, card in cards(folders)
        if card.readout == readout and layer in (None, card.layer)
    ]
    group = _largest(wanted, lambda card: (card.recipe.encoder, card.layer, card.sample))
    names = _read_by_all(group, runs)
    vectors = {card.construction: load(folder, card, runs, names) for folder, card in group}
    return representations.Study(vectors, labels, seed, forecasts), group[0][1]


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
    read = card.recipe.construction.removeprefix(f"{card.construction} ")
    return f"{card.recipe.encoder}, layer {card.layer}, {card.readout} readout; read as: {read}."
