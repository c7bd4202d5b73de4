"""A language model that does not do: one sentence, and online what was valid before goes out.

The models are small, with random weights, in the architectures of the larger presets.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from statecomp import StateComp
from statecomp.controller.spans import Gates
from statecomp.features.constructions import budget_of
from statecomp.method import Method
from statecomp.router import shipped
from statecomp.router.bundle import Bundle, save
from statecomp.router.calibrate import Raw
from statecomp.router.hidden.opened import Serving
from statecomp.router.hidden.reader import HiddenReader
from statecomp.router.hidden.spec import Encoder, Spec
from statecomp.router.network import Layer, Network
from statecomp.router.pipeline import Material, TrainingPlan, Workplace, train
from statecomp.router.scorer import RouterScorer
from tests.features.small_model import TINY, needs_model, tiny
from tests.proxy.conversations import CHAT
from tests.proxy.serving import proxied
from tests.vectors.made_up import labels_of, runs_of

pytestmark = needs_model
LIBRARIES = "the frozen model needs statecomp[encoder,learn]"
encoders = pytest.importorskip("statecomp.features.encoder", reason=LIBRARIES)
torch = pytest.importorskip("torch", reason=LIBRARIES)
EVERYTHING = Gates(0.5, 1, 50)
RUNS = runs_of(10, steps=5)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    made: dict[str, str] = {}

    def folder(name: str) -> str:
        if name not in made:
            made[name] = tiny(name, tmp_path_factory.mktemp(name))
        return made[name]

    return folder


@pytest.fixture
def model(folder_of: Callable[[str], str], tmp_path: Path) -> str:
    """A copy for each test: what one breaks, no other meets."""
    return str(shutil.copytree(folder_of("qwen2.5-7b"), tmp_path / "model"))


def generous(model: str, **encoder: Any) -> RouterScorer:
    """A router that calls everything READY once the model has been read."""
    opened = encoders.open_encoder(encoders.EncoderSettings(model, layer=2, device="cpu"))
    told = Encoder(model, 2, opened.weights, "float32", opened.width, opened.context)
    budget = budget_of("capped-recent4", opened.context)
    reads = Spec("capped-recent4", evidence=False, encoder=replace(told, **encoder), budget=budget)
    width = len(reads.columns())
    layer = Layer(np.zeros((1, width), np.float32), np.ones(1, np.float32))
    router = Network(np.zeros(width, np.float32), np.ones(width, np.float32), (layer,))
    bundle = Bundle(router, reads.columns(), 0.6, Raw(), "none", "by hand", reads)
    return RouterScorer(HiddenReader(reads, Serving(device="cpu")), bundle, reads.encoder)


def other_weights(model: str) -> RouterScorer:
    return generous(model, weights="0" * 64)


def short_context(model: str) -> RouterScorer:
    scorer = generous(model)
    config = Path(model, "config.json")
    held = json.loads(config.read_text())
    config.write_text(json.dumps({**held, "max_position_embeddings": 1_024}))
    return scorer


def gone(model: str) -> RouterScorer:
    scorer = generous(model)
    shutil.rmtree(model)
    return scorer


def cut_short(model: str) -> RouterScorer:
    scorer = generous(model)
    weights = Path(model, "model.safetensors")
    weights.write_bytes(weights.read_bytes()[:1_000])
    return scorer


FAULTS: dict[str, tuple[Callable[[str], RouterScorer], str]] = {
    "other weights": (other_weights, "holds other weights than those the router learned from"),
    "short context": (short_context, "reads 1,024 tokens at once, and the router needs 5,120"),
    "gone": (gone, "the model cannot be loaded: "),
    "damaged": (cut_short, "the model cannot be loaded: "),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_cannot_be_used_leaves_the_history_as_it_came(fault: str, model: str) -> None:
    made, sentence = FAULTS[fault]
    messages = CHAT.user("find the broken order") + CHAT.run(6)
    comp = StateComp(made(model), rule=EVERYTHING)
    for _ in range(2):
        found = comp.checkpoint(messages)
        assert found.messages == messages
        assert sentence in found.note
        assert "\n" not in found.note


def test_a_model_that_was_refused_is_not_loaded_for_every_request(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    comp = StateComp(other_weights(model), rule=EVERYTHING)
    loaded: list[str] = []
    really = encoders.open_encoder

    def counted(settings: Any) -> Any:
        loaded.append(settings.model)
        return really(settings)

    monkeypatch.setattr(encoders, "open_encoder", counted)
    for steps in (5, 6, 7):
        comp.checkpoint(CHAT.user("find the broken order") + CHAT.run(steps))
    assert loaded == [model]


@contextmanager
def numbers_lost(decoder: Any) -> Iterator[None]:
    weight = decoder.layers[0].mlp.down_proj.weight
    with torch.no_grad():
        held = weight.detach().clone()
        weight.fill_(float("nan"))
        yield
        weight.copy_(held)


@contextmanager
def memory_full(decoder: Any) -> Iterator[None]:
    def full(*args: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 20.00 MiB ...")

    hook = decoder.layers[0].register_forward_pre_hook(full)
    yield
    hook.remove()


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (numbers_lost, "gives vectors in which not all are numbers"),
        (memory_full, "the memory of cpu is too small for"),
    ],
)
def test_what_was_committed_before_goes_out_while_the_model_fails(
    fault: Callable[[Any], Any], sentence: str, model: str
) -> None:
    scorer = generous(model)
    comp = StateComp(scorer, rule=EVERYTHING)
    task = CHAT.user("find the broken order")
    first = comp.checkpoint(task + CHAT.run(6))
    assert first.saved_tokens > 0
    reader: Any = scorer.reader
    with fault(reader._model._encoder._decoder):
        second = comp.checkpoint(task + CHAT.run(7))
    assert sentence in second.note
    assert "\n" not in second.note
    shorter = len(first.messages)
    assert second.messages[:shorter] == first.messages
    assert len(second.messages) < len(task + CHAT.run(7))
    assert not comp.checkpoint(task + CHAT.run(8)).note


def test_a_served_request_goes_out_and_its_account_says_what_is_wrong_with_the_model(
    model: str,
) -> None:
    scorer = other_weights(model)
    method = Method(scorer=lambda: scorer, rule=EVERYTHING, scores_at_once=False)
    with proxied(method=method, commit="background") as proxy:
        messages = CHAT.user("find the broken order") + CHAT.run(6)
        assert proxy.post(CHAT, CHAT.body(messages)).status_code == 200
        assert proxy.received[0].body["messages"] == messages
        assert "holds other weights" in proxy.requests[0].note


@pytest.mark.parametrize("name", TINY)
def test_a_larger_architecture_goes_from_training_to_a_shorter_request(
    name: str, folder_of: Callable[[str], str], tmp_path: Path
) -> None:
    plan = TrainingPlan(
        "capped-recent4", "hybrid", encoder=folder_of(name), loss="weighted-bce", checkpoints=2
    )
    made = train(Material(RUNS, labels_of(RUNS)), plan, Workplace(vectors=tmp_path / "vectors"))
    assert made.bundle.reads.encoder is not None
    assert made.bundle.reads.encoder.layer == 4
    save(tmp_path / "router", made.bundle)
    scorer = shipped.open_scorer(str(tmp_path / "router"), Serving(device="cpu"))
    found = StateComp(scorer, rule=Gates(0.0001, 1, 50)).checkpoint(list(RUNS[0].messages))
    assert found.saved_tokens > 0
    assert not found.note
