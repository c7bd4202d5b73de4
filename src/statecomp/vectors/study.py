"""Pairs with vectors for training: found in a folder of features, or read on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from statecomp.errors import BadInput
from statecomp.features.constructions import budget_of
from statecomp.features.encoder import Readout
from statecomp.history.trajectory import Trajectory
from statecomp.router.hidden.spec import Encoder, Spec
from statecomp.router.pairs import Pairs
from statecomp.router.pipeline import Material, TrainingPlan
from statecomp.vectors import blocks
from statecomp.vectors.extract import Extraction, ExtractOne, encoder_for
from statecomp.vectors.sample import Sample
from statecomp.vectors.shelf import StudyCard, Vectors, load, put_card
from statecomp.workers.engine import Engine, Progress


def pairs_of(
    material: Material, plan: TrainingPlan, folder: Path, engine: Engine, progress: Progress
) -> tuple[Pairs, Spec]:
    """What is in the folder is not read again, so a stopped training goes on where it was."""
    known = material.known
    runs = {run.id: run for run in material.runs if run.id in known}
    if not runs:
        raise BadInput("none of the runs has a label; were the labels made from other runs?")
    vectors, encoder = read(runs, plan, folder, engine, progress)
    reads = replace(
        plan.reads, encoder=encoder, budget=budget_of(plan.reads.construction, encoder.context)
    )
    return blocks.labelled(vectors, known, [blocks.inputs(vectors, reads)]), reads


def read(
    runs: dict[str, Trajectory],
    plan: TrainingPlan,
    folder: Path,
    engine: Engine,
    progress: Progress,
) -> tuple[Vectors, Encoder]:
    extraction = extraction_of(plan)
    opened = encoder_for(extraction)
    (layer,) = opened.layers
    recipe = extraction.recipe(layer)
    names = tuple(runs)
    card = StudyCard(extraction.construction, extraction.readout, recipe, extraction.sample, names)
    put_card(folder, card)
    with progress(f"reading {extraction.construction}", len(runs)) as watch:
        for _ in engine.map(ExtractOne(extraction, folder.resolve()), runs.values(), watch=watch):
            pass
    vectors = load(folder, card, runs, names)
    if vectors.weights not in ("", opened.weights):
        problem = f"holds vectors of other weights than those of {opened.name} here; extract again"
        raise BadInput(problem, file=str(folder))
    name, dtype = extraction.encoder, vectors.dtype or opened.dtype
    encoder = Encoder(name, layer, opened.weights, dtype, opened.depth_width, opened.context)
    return vectors, encoder


def extraction_of(plan: TrainingPlan) -> Extraction:
    readout: Readout = "mean" if plan.readout == "mean" else "last"
    layers = (plan.layer,) if plan.layer else ()
    sample = Sample(plan.checkpoints, None, plan.seed)
    return Extraction(plan.reads.construction, layers, readout, plan.encoder, sample)
