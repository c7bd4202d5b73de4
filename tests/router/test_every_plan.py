"""Every option of training, on small runs and two layers of the real model.

Each representation meets each context, each learner each loss; what they make is kept, loaded, and
scores a history online.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import statecomp
from statecomp.annotation.records import Reading
from statecomp.errors import BadInput
from statecomp.features.constructions import CONSTRUCTIONS
from statecomp.history.history import History
from statecomp.router import shipped
from statecomp.router.bundle import Bundle, load, save
from statecomp.router.hidden.opened import Serving
from statecomp.router.hidden.spec import CONTEXTS, Spec
from statecomp.router.learners import HIDDEN, LEARNERS, LOSSES, Lesson, learner, lesson
from statecomp.router.pipeline import Material, TrainingPlan, Workplace, train
from statecomp.workers.local import LocalEngine
from tests.features.small_model import folder, needs_model, tiny
from tests.router.synthetic import pairs_of
from tests.vectors.made_up import labels_of, run_of, runs_of

pytestmark = needs_model
LIBRARIES = "the frozen model needs statecomp[encoder,learn]"
extract = pytest.importorskip("statecomp.vectors.extract", reason=LIBRARIES)
RUNS = runs_of(8, steps=4)
LABELS = labels_of(RUNS)
MATERIAL = Material(RUNS, LABELS)
NEW = run_of("never seen", 6)
READ = [
    (construction + beside, context)
    for construction, beside, context in product(CONSTRUCTIONS, ("", "+evidence"), CONTEXTS)
]
LEARNED = [*product(LEARNERS, LOSSES)]
BY_WEIGHTS = tuple(name for name in LEARNERS if name not in HIDDEN)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vectors")


def planned(representation: str, context: str = "none", **more: Any) -> TrainingPlan:
    usual = {"encoder": str(folder()), "layer": 2, "checkpoints": 2}
    return TrainingPlan(representation, context, **{**usual, **more})


def scored(bundle: Bundle, into: Path) -> dict[str, float]:
    """What it says of a new history once it was kept and loaded."""
    save(into, bundle)
    assert load(into).reads == bundle.reads
    return {**shipped.open_scorer(str(into), Serving(device="cpu")).score(history_of_new())}


def history_of_new() -> History:
    return Reading.of(NEW).history


def must_be_scores(scores: dict[str, float]) -> None:
    assert {*scores} == {i.id for i in history_of_new().interactions}
    assert all(0.0 < score < 1.0 for score in scores.values())


@pytest.mark.parametrize(("representation", "context"), READ)
def test_every_representation_with_every_context_is_learned_kept_and_read_online(
    representation: str, context: str, vectors: Path, tmp_path: Path
) -> None:
    place = READ.index((representation, context))
    readout, by = ("last", "mean")[place // 4 % 2], ("linear", "mlp128")[place % 2]
    plan = planned(representation, context, readout=readout, learners=(by,))
    made = train(MATERIAL, plan, Workplace(vectors=vectors))
    reads = made.bundle.reads
    beside = " + ".join(filter(None, (representation, context if context != "none" else "")))
    assert (str(reads), reads.readout) == (beside, readout)
    assert np.isfinite(made.pairs.x).all()
    must_be_scores(scored(made.bundle, tmp_path))


@pytest.mark.parametrize("representation", ["evidence", "local"])
@pytest.mark.parametrize(("name", "loss"), LEARNED)
def test_every_learner_with_every_loss_is_a_router_or_one_sentence(
    name: str, loss: str, representation: str, vectors: Path, tmp_path: Path
) -> None:
    context = "none" if representation == "evidence" else "topk"
    plan = planned(representation, context, learners=(name,), loss=loss)
    if name in BY_WEIGHTS and loss == "cb-focal":
        sentence = f"loss: is cb-focal, and the learner {name} knows classes by weights alone"
        with pytest.raises(BadInput, match=sentence):
            train(MATERIAL, plan, Workplace(vectors=vectors))
        return
    made = train(MATERIAL, plan, Workplace(vectors=vectors))
    assert made.name == name
    assert made.bundle.reads.loss.startswith(loss)
    must_be_scores(scored(made.bundle, tmp_path))


@pytest.mark.parametrize("name", BY_WEIGHTS)
def test_trees_do_by_weights_what_a_sampling_asks_for(name: str) -> None:
    drawn = pairs_of(16)
    pairs = drawn.where(drawn.ready | (np.arange(len(drawn)) % 6 == 0))
    learned, held = pairs.of_runs(pairs.runs[4:]), pairs.of_runs(pairs.runs[:4])
    taught = lesson("oversampling", 10.0, pairs)
    assert taught.weights.ready == 1.0 < taught.weights.keep
    plain, heavy = (
        learner(name, Spec(), kind).fit(learned, held) for kind in (Lesson("bce"), taught)
    )
    assert heavy.weights == taught.weights
    moved = heavy.router.logits(pairs.x) - plain.router.logits(pairs.x)
    assert moved.mean() < 0


class Stopped(LocalEngine):
    """Work that ends in the middle, as a person ends it."""

    def map(self, job: Callable[[Any], Any], items: Iterable[Any], **more: Any) -> Iterator[Any]:
        for done, result in enumerate(super().map(job, items, **more), start=1):
            yield result
            if done == 3:
                raise KeyboardInterrupt


def test_a_stopped_training_goes_on_where_it_was(tmp_path: Path) -> None:
    plan = planned("capped-recent4", "hybrid", loss="weighted-bce")
    with pytest.raises(KeyboardInterrupt):
        train(MATERIAL, plan, Workplace(Stopped(), vectors=tmp_path / "stopped"))
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "stopped").glob("*.npz")}
    assert len(kept) == 3
    resumed = train(MATERIAL, plan, Workplace(vectors=tmp_path / "stopped"))
    assert all(path.stat().st_mtime_ns == written for path, written in kept.items())
    whole = train(MATERIAL, plan, Workplace(vectors=tmp_path / "whole"))
    for name, made in (("a", resumed), ("b", whole)):
        save(tmp_path / name, made.bundle)
    for file in ("weights.safetensors", "spec.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_python_trains_and_judges_it_as_the_verbs_do(vectors: Path, tmp_path: Path) -> None:
    plan = planned("local+evidence", "gru", loss="cb-focal")
    at = Workplace(vectors=vectors)
    made = statecomp.train(RUNS, LABELS, out=tmp_path, plan=plan, at=at)
    assert load(tmp_path).reads == made.bundle.reads
    judged = statecomp.evaluate(RUNS, LABELS, plan=plan, at=at)
    assert len(judged.bundles) == 5
    assert judged.result.metrics["all"]["pairs"] == len(made.pairs)


def test_a_number_lost_in_a_vector_is_one_sentence(vectors: Path, tmp_path: Path) -> None:
    plan = planned("local", learners=("linear",))
    train(MATERIAL, plan, Workplace(vectors=tmp_path))
    shard = next(tmp_path.glob("*.npz"))
    with np.load(shard) as held:
        arrays = {**held}
    arrays["candidates"][0, 0] = np.nan
    np.savez(shard, **arrays)
    with pytest.raises(BadInput, match="candidate"):
        train(MATERIAL, plan, Workplace(vectors=tmp_path))


def test_a_model_that_reads_less_than_the_papers_view_is_one_sentence(tmp_path: Path) -> None:
    small = tiny("qwen2.5-7b", tmp_path / "model", max_position_embeddings=2_048)
    plan = TrainingPlan("capped-recent4", encoder=small, checkpoints=2)
    sentence = "capped-recent4: needs 5,120 tokens at once, and the model reads 2,048"
    with pytest.raises(BadInput, match=sentence):
        train(MATERIAL, plan, Workplace(vectors=tmp_path / "vectors"))
    made = train(MATERIAL, replace(plan, representation="recent4"), Workplace(vectors=tmp_path))
    assert made.bundle.reads.budget.longest == 2_048


def test_memory_that_is_too_small_for_training_is_one_sentence(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason=LIBRARIES)
    plan = planned("capped-recent4")
    opened: Any = extract.encoder_for(
        pytest.importorskip("statecomp.vectors.study", reason=LIBRARIES).extraction_of(plan)
    )

    def full(*args: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 20.00 MiB ...")

    hook = opened._decoder.layers[0].register_forward_pre_hook(full)
    try:
        with pytest.raises(BadInput, match=r"the memory of cpu is too small for [\d,]+ tokens"):
            train(MATERIAL, plan, Workplace(vectors=tmp_path))
    finally:
        hook.remove()
    assert train(MATERIAL, plan, Workplace(vectors=tmp_path)).pairs
