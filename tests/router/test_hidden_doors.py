"""A router that reads a model, at every door: how it is run, for how long, and what it remembers.

The models are small, with random weights, in the architectures of the larger presets.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from statecomp import StateComp
from statecomp.annotation.records import Reading
from statecomp.cli.app import app
from statecomp.config.methods import method_of
from statecomp.controller.spans import Gates
from statecomp.errors import BadInput
from statecomp.features import presets
from statecomp.features.constructions import CONSTRUCTIONS, budget_of
from statecomp.options import Options, Settings
from statecomp.recent import MEMORY
from statecomp.router import shipped
from statecomp.router.bundle import load, save
from statecomp.router.hidden.opened import Serving, shared
from statecomp.router.pipeline import Material, TrainingPlan, Workplace, train
from tests.features.small_model import frozen, needs_model, tiny
from tests.proxy.conversations import CHAT
from tests.proxy.serving import proxied
from tests.vectors.made_up import labels_of, run_of, runs_of, written

pytestmark = needs_model
LIBRARIES = "the frozen model needs statecomp[encoder,learn]"
candidates = pytest.importorskip("statecomp.router.hidden.candidates", reason=LIBRARIES)
constants = pytest.importorskip("huggingface_hub", reason=LIBRARIES).constants
RUNS = runs_of(8, steps=4)
EVERYTHING = Gates(0.0001, 1, 50)
TASK = CHAT.user("find the broken order")
DEPTHS = {"qwen2.5-7b": 28, "qwen3.5-9b": 32}
"""The larger presets of the paper, and the layer of each that is read."""


def trained(model: str, into: Path) -> Path:
    plan = TrainingPlan(
        "capped-recent4", "hybrid", encoder=model, loss="weighted-bce", checkpoints=2
    )
    made = train(Material(RUNS, labels_of(RUNS)), plan, Workplace(vectors=into / "vectors"))
    save(into / "router", made.bundle)
    return into / "router"


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    return trained(tiny("qwen2.5-7b", folder / "model"), folder)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub's library."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def put(hub: Path, source: str, model: str) -> None:
    """A model as the hub's library keeps what it has downloaded."""
    home = hub / f"models--{source.replace('/', '--')}"
    copytree(model, home / "snapshots" / "0123abc")
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("0123abc")


@pytest.mark.parametrize("name", DEPTHS)
def test_a_preset_is_read_by_its_name_and_layer_where_its_weights_are(
    name: str, hub: Path, tmp_path: Path
) -> None:
    assert presets.absent(name) == f"{name} is not on this machine: statecomp models pull {name}"
    model = tiny(name, tmp_path / "model", num_hidden_layers=DEPTHS[name])
    put(hub, presets.PRESETS[name].source, model)
    assert not presets.absent(name)
    router = trained(name, tmp_path)
    encoder = load(router).reads.encoder
    assert encoder is not None
    assert (encoder.name, encoder.layer) == (name, DEPTHS[name])
    assert encoder.weights == presets.weights_digest(model)
    scorer = shipped.open_scorer(str(router), Serving(device="cpu"))
    found = StateComp(scorer, rule=EVERYTHING).checkpoint(TASK + CHAT.run(6))
    assert found.saved_tokens > 0
    assert not found.note


def test_a_model_is_read_by_its_id_at_the_hub(hub: Path, tmp_path: Path) -> None:
    put(hub, "somebody/small", tiny("qwen3-8b", tmp_path / "model"))
    router = trained("somebody/small", tmp_path)
    assert str(load(router).reads.encoder) == "layer 4 of somebody/small"
    scorer = shipped.open_scorer(str(router), Serving(device="cpu"))
    assert scorer.score(Reading.of(RUNS[0]).history)
    assert presets.absent("somebody/else") == "somebody/else is not on this machine"


def test_the_numbers_a_model_runs_with_are_an_option(router: Path) -> None:
    history = Reading.of(RUNS[0]).history
    exact, rough = (
        shipped.open_scorer(str(router), Serving(device="cpu", dtype=dtype))
        for dtype in ("", "bfloat16")
    )
    one, other = exact.score(history), rough.score(history)
    assert one.keys() == other.keys()
    assert np.allclose([*one.values()], [*other.values()], atol=0.05)
    reader: Any = rough.reader
    assert reader._model._encoder.dtype == "bfloat16"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"device": "nowhere"}, "device: the model cannot be put on nowhere"),
        ({"dtype": "int3"}, "there is no number type 'int3'"),
        ({"encode_s": 1e-9}, "there was no time to read any of the history (encode_s)"),
    ],
)
def test_how_a_model_cannot_be_run_is_one_sentence_at_every_door(
    words: dict[str, Any], sentence: str, router: Path
) -> None:
    given = {"scorer": f"router:{router}", "recipe": "paper", "device": "cpu", **words}
    method, _ = method_of(Options.given("serve", given), Settings())
    messages = TASK + CHAT.run(6)
    found = StateComp(method.scorer(), rule=EVERYTHING).checkpoint(messages)
    assert found.messages == messages
    assert sentence in found.note
    with proxied(method=method, commit="background") as proxy:
        assert proxy.post(CHAT, CHAT.body(messages)).status_code == 200
        assert proxy.received[0].body["messages"] == messages
        assert sentence in proxy.requests[0].note


def test_what_was_replaced_before_the_time_was_over_stays_replaced(router: Path) -> None:
    scorer = shipped.open_scorer(str(router), Serving(device="cpu", limit_s=60))
    comp = StateComp(scorer, rule=EVERYTHING)
    first = comp.checkpoint(TASK + CHAT.run(6))
    assert first.saved_tokens > 0
    reader: Any = scorer.reader
    reader._limit_s = 1e-9
    second = comp.checkpoint(TASK + CHAT.run(7))
    assert second.messages[: len(first.messages)] == first.messages


@pytest.fixture
def little_memory() -> Iterator[int]:
    held, room = MEMORY.most_bytes, MEMORY.bytes + (64 << 10)
    MEMORY.most_bytes = room
    yield room
    MEMORY.most_bytes = held


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_what_is_kept_of_many_conversations_stays_within_the_memory_of_the_process(
    construction: str, little_memory: int
) -> None:
    model = frozen(1)
    kept = candidates.candidates_of(model, construction, budget_of(construction, model.context))
    for number in range(12):
        history = Reading.of(run_of(f"conversation {number}", 5)).history
        assert len(kept.read(history, lambda: True).ids) == 5
        assert MEMORY.bytes <= little_memory + (little_memory >> 8) + (16 << 10)


def test_all_who_read_alike_share_one_model(router: Path) -> None:
    reads, cpu = load(router).reads, Serving(device="cpu")
    assert shared(reads, cpu) is shared(reads, Serving(device="cpu", limit_s=3))
    scorers: list[Any] = [shipped.open_scorer(str(router), cpu) for _ in range(3)]
    for number, scorer in enumerate(scorers):
        scorer.score(Reading.of(RUNS[number]).history)
    assert len({id(scorer.reader._model._encoder) for scorer in scorers}) == 1


def test_a_verb_says_in_one_sentence_that_its_encoder_is_not_here(
    hub: Path, tmp_path: Path
) -> None:
    runs, labels = written(RUNS, labels_of(RUNS), tmp_path)
    words = ["train", runs, "--labels", labels, "-o", tmp_path / "router", "--representation"]
    done = CliRunner().invoke(app, [*map(str, words), "capped-recent4", "--encoder", "qwen2.5-7b"])
    sentence = "qwen2.5-7b is not on this machine: statecomp models pull qwen2.5-7b"
    assert isinstance(done.exception, BadInput)  # which `main` says, and ends with 2
    assert str(done.exception) == sentence
    assert not (tmp_path / "router").exists()
