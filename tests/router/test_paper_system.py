"""The paper's system from labelled runs to a served request, on two layers of the real model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from statecomp import StateComp
from statecomp.adapters.shortener import Shortener
from statecomp.cli import train as cli_train
from statecomp.config.methods import method_of
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.features import presets
from statecomp.options import Options, Settings
from statecomp.recipes import RECIPES
from statecomp.router import learners, shipped
from statecomp.router.bundle import load, save
from statecomp.router.hidden.opened import Serving
from statecomp.router.pipeline import Material, TrainingPlan, Workplace, evaluate, train
from statecomp.vectors.sample import Sample
from statecomp.workers.local import LocalEngine
from tests.command import statecomp
from tests.features.small_model import folder, needs_model
from tests.proxy.conversations import CHAT
from tests.proxy.serving import proxied
from tests.vectors.made_up import labels_of, runs_of, written

LIBRARIES = "the frozen model needs statecomp[encoder,learn]"
extract = pytest.importorskip("statecomp.vectors.extract", reason=LIBRARIES)
CPU = Serving(device="cpu")
RUNS = runs_of(10, steps=5)
LABELS = labels_of(RUNS)
PAPER = TrainingPlan("capped-recent4", "hybrid", layer=2, loss="weighted-bce", checkpoints=2)


def planned(**changes: Any) -> TrainingPlan:
    return replace(PAPER, encoder=str(folder()), **changes)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture(scope="module")
def router(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = train(Material(RUNS, LABELS), planned(), Workplace(vectors=vectors))
    out = tmp_path_factory.mktemp("router")
    save(out, made.bundle)
    return out


@needs_model
def test_a_bundle_says_all_that_is_needed_to_read_the_same_again(router: Path) -> None:
    reads = load(router).reads
    assert (reads.construction, reads.context, reads.evidence) == (
        "capped-recent4",
        "hybrid",
        False,
    )
    assert reads.loss == "weighted-bce, READY 1, KEEP 10"
    assert reads.encoder is not None
    assert (reads.encoder.layer, reads.encoder.width) == (2, 576)
    assert reads.encoder.weights == presets.weights_digest(str(folder()))
    assert (reads.budget.recent, reads.budget.base, reads.budget.target) == (4, 4096, 1024)


@needs_model
def test_training_again_finds_its_vectors_and_gives_the_same_bytes(
    router: Path, vectors: Path, tmp_path: Path
) -> None:
    shards = {path: path.stat().st_mtime_ns for path in vectors.glob("*.npz")}
    again = train(Material(RUNS, LABELS), planned(), Workplace(LocalEngine(), vectors=vectors))
    save(tmp_path, again.bundle)
    assert {path: path.stat().st_mtime_ns for path in vectors.glob("*.npz")} == shards
    for name in ("weights.safetensors", "spec.json"):
        held = (router / name).read_text("latin-1")
        assert (tmp_path / name).read_text("latin-1") == held


@needs_model
@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"context": "none", "learners": ("linear",), "loss": "cb-focal"}, "linear"),
        ({"context": "topk", "learners": ("mlp128",), "loss": "oversampling"}, "mlp"),
        ({"context": "gru", "learners": ("linear",), "loss": "oversampling"}, "gru"),
        ({"representation": "capped-recent4+evidence", "context": "none", "learners": ("trees",)},
         "trees"),
    ],
)  # fmt: skip
def test_any_learner_and_loss_makes_a_router_that_scores_a_history(
    changes: dict[str, Any], kind: str, vectors: Path, tmp_path: Path
) -> None:
    made = train(Material(RUNS, LABELS), planned(**changes), Workplace(vectors=vectors))
    assert made.bundle.router.kind == kind
    save(tmp_path, made.bundle)
    scorer = shipped.open_scorer(str(tmp_path), CPU)
    messages = list(RUNS[0].messages)
    view = StateComp(scorer, rule=Gates(0.0001, 1, 50)).checkpoint(messages)
    assert view.saved_tokens > 0


@needs_model
def test_vectors_that_extract_left_are_not_read_again(tmp_path: Path) -> None:
    wanted = extract.Extraction("local", (2,), "last", str(folder()), Sample(2, None, 0))
    for run in RUNS:
        extract.ExtractOne(wanted, tmp_path)(run)
    read = extract.encoder_for(wanted).tokens_read
    plan = planned(representation="local", learners=("linear",))
    train(Material(RUNS, LABELS), plan, Workplace(vectors=tmp_path))
    assert extract.encoder_for(wanted).tokens_read == read > 0


@needs_model
def test_the_verb_trains_on_what_a_model_reads(tmp_path: Path) -> None:
    runs, labels = written(RUNS, LABELS, tmp_path)
    done = statecomp(
        "train", runs, "--labels", labels, "-o", tmp_path / "router", "--layer", "1",
        "--representation", "local", "--context", "topk", "--encoder", folder(),
        "--vectors", tmp_path / "vectors", "--learner", "linear", "--readout", "mean",
        "--calibration", "raw", "--sample-checkpoints", "2", "--limit", "8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "linear on" in done.stdout
    assert "of 8 runs" in done.stdout
    reads = load(tmp_path / "router").reads
    assert (str(reads), reads.readout) == ("local + topk", "mean")


@needs_model
def test_a_plan_is_judged_on_tasks_it_has_not_seen(vectors: Path) -> None:
    done = evaluate(Material(RUNS, LABELS), planned(), Workplace(vectors=vectors))
    assert len(done.bundles) == 5
    assert np.isfinite(done.result.scores).all()
    assert {*done.unseen} == {run.group for run in RUNS}


@needs_model
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"learners": ("trees",)}, "a GRU is trained with a network; use linear, mlp128, mlp2048"),
        ({"context": "none", "learners": ("committee",), "loss": "cb-focal"},
         "loss: is cb-focal, and the learner committee knows classes by weights alone"),
        ({"context": "none", "learners": ("forest",)}, "learner: is 'forest', none of committee"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_one_sentence(
    changes: dict[str, Any], sentence: str, vectors: Path
) -> None:
    with pytest.raises(BadInput, match=sentence):
        train(Material(RUNS, LABELS), planned(**changes), Workplace(vectors=vectors))


@needs_model
def test_vectors_of_other_weights_are_refused(vectors: Path, tmp_path: Path) -> None:
    for shard in vectors.iterdir():
        (tmp_path / shard.name).write_bytes(shard.read_bytes())
    path = next(tmp_path.glob("*.npz"))
    with np.load(path) as held:
        arrays = {**held, "weights": np.array("f00")}
    np.savez(path, **arrays)
    with pytest.raises(BadInput, match="holds vectors of models with different weights"):
        train(Material(RUNS, LABELS), planned(), Workplace(vectors=tmp_path))


@needs_model
def test_a_served_request_is_decided_behind_it_by_one_model_for_all_tenants(router: Path) -> None:
    settings = {"scorer": f"router:{router}", "recipe": "paper", "device": "cpu"}
    method, _ = method_of(Options.given("serve", {**settings, "encode_s": 60}), Settings())
    assert not method.writes_at_once  # a language model is read: never before the request
    method = replace(method, rule=Gates(0.0001, 1, 50))
    messages = CHAT.user("find the broken order") + CHAT.run(6)
    with proxied(method=method, commit="background") as proxy:
        for tenant in (proxy.tenant(), proxy.tenant()):
            first = tenant.post(CHAT, CHAT.body(messages))
            assert first.status_code == 200
            assert tenant.received[0].body["messages"] == messages
            assert tenant.entries  # once the account of the request is written
            longer = CHAT.user("find the broken order") + CHAT.run(7)
            tenant.post(CHAT, CHAT.body(longer))
            assert len(tenant.received[-1].body["messages"]) < len(longer)
    scorers: list[Any] = [method.scorer(), method.scorer()]
    assert scorers[0].reader._model is scorers[1].reader._model


@needs_model
def test_adapters_and_replay_score_by_it_too(router: Path, tmp_path: Path) -> None:
    words: dict[str, Any] = {
        "recipe": "paper",
        "scorer": f"router:{router}",
        "device": "cpu",
        "encode_s": 60,
    }
    gates: dict[str, Any] = {"threshold": 0.0001, "longer_than": 1, "min_source_tokens": 50}
    messages = CHAT.user("find the broken order") + CHAT.run(6)
    shortener = Shortener("test", **words, **gates)
    sent = shortener.rewrite(messages, lambda message: [{**message}], lambda record: {**record})
    assert len(sent) < len(messages)
    assert shortener.savings.tokens > 0
    runs, _ = written(RUNS[:2], LABELS, tmp_path)
    options = ",".join(f"{key}={value}" for key, value in {**words, **gates}.items())
    done = statecomp("replay", runs, "--strategy", f"statecomp:{options}", "--json", tmp_path / "n")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "n").read_text())


def test_the_verb_offers_every_learner_and_loss_there_is() -> None:
    assert (cli_train.LEARNERS, cli_train.LOSSES) == (learners.LEARNERS, learners.LOSSES)


def test_the_recipe_of_the_paper_is_the_paper_where_its_model_is() -> None:
    recipe, bundle = RECIPES["paper"], shipped.shipped_bundle("paper")
    assert recipe.router == "paper"
    assert recipe.gates == Gates(threshold=0.60, longer_than=3, min_source_tokens=1000)
    assert str(bundle.reads) == "capped-recent4 + hybrid"
    assert bundle.reads.loss.startswith("weighted-bce")
    assert bundle.reads.budget.longest == 5_120


def test_without_its_model_the_evidence_router_scores_and_one_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presets, "absent", lambda model: "this needs torch: pip install it")
    with pytest.warns(UserWarning, match="shipped evidence router scores instead of the paper's"):
        comp: Any = StateComp(recipe="paper")
    assert not comp.judge.controller.scorer.bundle.reads.hidden
    with pytest.warns(UserWarning, match="this needs torch"):
        method, _ = method_of(Options("statecomp", "recipe=paper"), Settings())
    assert method.scored_by == "router"
    assert method.writes_at_once
    with pytest.raises(BadInput, match="this needs torch"):
        method_of(Options("statecomp", "scorer=paper"), Settings())[0].scorer()
