"""From folders of features, runs and labels to finished tables; the captions state the sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from statecomp.annotation.forecasts import Forecasts
from statecomp.annotation.labels import Labels
from statecomp.errors import BadInput
from statecomp.history.trajectory import Trajectory
from statecomp.router.committee import Committee
from statecomp.router.folds import Fold, FoldRun, rotations
from statecomp.router.pairs import Features, Pairs
from statecomp.vectors import blocks
from statecomp.vectors.sample import Sample
from statecomp.vectors.shelf import StudyCard, Vectors, bare, cards, finished, load
from statecomp_bench.study import representations, routers, shares
from statecomp_bench.study.rows import PLAINLY, Judging, StudyEntry, StudyTable

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


@dataclass(frozen=True)
class Labelled:
    """Runs, and what is known of them."""

    runs: Runs
    labels: Labels
    forecasts: Forecasts | None = None


@dataclass(frozen=True)
class Wanted:
    """Which vectors in the folders; without a layer those of the layer with most constructions."""

    folders: Sequence[Path]
    layer: int | None = None
    readout: str = "last"


def representation_table(
    known: Labelled, wanted: Wanted, how: Judging = PLAINLY, chosen: Collection[str] = ()
) -> StudyTable:
    """All rows for which there are vectors of one layer, readout and sample."""
    study, card = _study(known, wanted, how)
    folds = _folds(study.any, how)
    rows = representations.judge_representations(study, folds, how, chosen)
    caption = f"{_of_pairs(study.any, known)} {_of_card(card)} {PROTOCOL} {GAPS} {COSTS}"
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


def layer_table(known: Labelled, folders: Sequence[Path], how: Judging = PLAINLY) -> StudyTable:
    """Layers and readouts of `once`, on the runs that have most of them."""
    of_once = [(folder, card) for folder, card in cards(folders) if card.construction == "once"]
    group = _largest(of_once, lambda card: (card.recipe.encoder, card.sample))
    names = _read_by_all(group, known.runs)
    vectors = {
        (card.layer, card.readout): load(folder, card, known.runs, names) for folder, card in group
    }
    any_of = next(iter(vectors.values()))
    rows = representations.judge_layers(vectors, known.labels, _folds(any_of, how), how)
    first = group[0][1]
    reading = f"`once`, {first.recipe.encoder}, candidate and current state; {first.sample}."
    seconds = "Layers extracted together share one pass, and its seconds."
    caption = f"{_of_pairs(any_of, known)} {reading} {PROTOCOL} {seconds}"
    return StudyTable("Layers and readouts", caption, tuple(rows))


def share_table(known: Labelled, wanted: Wanted, how: Judging = PLAINLY) -> StudyTable:
    """The paper's own row, the cheapest, evidence and the shipped recipe, by training share and by
    run length."""
    study, card = _study(known, wanted, how)
    shown = (*representations.AGAINST, representations.SHIPPED_ROW)
    entries = [entry for entry in study.entries() if entry.name in shown]
    rows = shares.judge_shares(entries, how)
    caption = f"AUROC. {_of_pairs(study.any, known)} {_of_card(card)} {PROTOCOL}"
    return StudyTable("Training data and run length", caption, tuple(rows))


def router_table(
    known: Labelled,
    wanted: Wanted,
    how: Judging = PLAINLY,
    construction: str = "capped-recent4",
    beside_evidence: bool = False,
) -> StudyTable:
    """The router rows on the paper's own representation, alone or with evidence beside it.

    They are held against the same rows as representations are, where their vectors are there.
    """
    study, card = _study(known, wanted, how)
    if construction not in study.vectors:
        raise BadInput(f"there are no features of {construction}, {wanted.readout}; extract them")
    vectors = study.vectors[construction]

    def read(*more: Features) -> Pairs:
        evidence = [study.evidence] if beside_evidence else []
        return study.pairs(vectors.candidate, vectors.current, *more, *evidence)

    def with_top() -> Pairs:
        return read(blocks.top_mean(vectors))

    others = [entry for entry in study.entries() if entry.name in representations.AGAINST]
    inputs = routers.Inputs(read, with_top, [replace(entry, notes={}) for entry in others])
    rows = routers.judge_routers(inputs, _folds(vectors, how), SMALL, how)
    what = f"{construction} and evidence" if beside_evidence else construction
    caption = f"{_of_pairs(vectors, known)} {what}; {_of_card(card)} {PROTOCOL} {GAPS} {PAPER_PR}"
    return StudyTable(f"Routers on {what}", caption, tuple(rows))


PAPER_PR = "The paper's PR-AUC is of its own data, where READY is 6.4 % of the pairs."


def evidence_router_table(known: Labelled, sample: Sample, how: Judging = PLAINLY) -> StudyTable:
    """The router rows on evidence features, at sampled checkpoints of every labelled run."""
    vectors = _unread(known, sample)

    @cache
    def pairs() -> Pairs:
        return blocks.labelled(vectors, known.labels, [blocks.evidence_of(vectors)])

    shipped = StudyEntry(
        "ours: the shipped recipe",
        lambda: blocks.labelled(vectors, known.labels, [pairs().x], known.forecasts),
        {"": Committee(seed=how.seed)},
    )
    batch = SMALL if len(vectors.run) < 2_000 else LARGE
    inputs = routers.Inputs(pairs, pairs, [shipped])
    rows = routers.judge_routers(inputs, _folds(vectors, how), batch, how)
    note = "Evidence has no vectors to average, so Top4 rows read evidence alone."
    caption = f"{_of_pairs(vectors, known)} Evidence features; {sample}. {note} {PROTOCOL} {GAPS}"
    return StudyTable("Routers on evidence", f"{caption} {PAPER_PR}", tuple(rows))


def _unread(known: Labelled, sample: Sample) -> Vectors:
    labelled = [run for name, run in known.runs.items() if name in known.labels]
    if not labelled:
        raise BadInput("none of the runs has a label; were the labels made from other runs?")
    return bare(labelled, sample)


def _study(
    known: Labelled, wanted: Wanted, how: Judging
) -> tuple[representations.Study, StudyCard]:
    """All constructions of one layer, readout and sample, and the card of one of them."""
    fitting = [
        (folder, card)
        for folder, card in cards(wanted.folders)
        if card.readout == wanted.readout and wanted.layer in (None, card.layer)
    ]
    group = _largest(fitting, lambda card: (card.recipe.encoder, card.layer, card.sample))
    names = _read_by_all(group, known.runs)
    vectors = {card.construction: load(folder, card, known.runs, names) for folder, card in group}
    study = representations.Study(vectors, known.labels, how.seed, known.forecasts)
    return study, group[0][1]


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


def _folds(vectors: Vectors, how: Judging) -> list[Fold]:
    runs = [FoldRun(reading.id, reading.group, reading.domain) for reading in vectors.readings]
    return rotations(runs, seed=how.seed)


def _of_pairs(vectors: Vectors, known: Labelled) -> str:
    pairs = blocks.labelled(vectors, known.labels, [vectors.candidate])
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
