"""A bundle comes back as it was saved, and refuses whatever does not fit, in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from statecomp.errors import BadInput
from statecomp.router.bundle import SPEC, WEIGHTS, Bundle, load
from statecomp.router.bundle import save as save_bundle
from statecomp.router.calibrate import Platt
from statecomp.router.hidden.recurrent import Recurrent
from statecomp.router.hidden.spec import Encoder, Spec
from statecomp.router.network import Agreement, Layer, Network, Router
from statecomp.router.trees import TreeSettings, fit_trees
from tests.router.synthetic import names_of, pairs_of

PAIRS = pairs_of(8)
KINDS = ("linear", "mlp", "trees", "agreement", "gru")


def network(width: int, hidden: int, seed: int = 0) -> Network:
    random = np.random.default_rng(seed)
    sizes = [width, hidden, 1] if hidden else [width, 1]
    layers = [
        Layer(
            random.normal(size=(out, wide)).astype(np.float32),
            random.normal(size=out).astype(np.float32),
        )
        for wide, out in pairwise(sizes)
    ]
    return Network(np.zeros(width, np.float32), np.ones(width, np.float32), tuple(layers))


def recurrent(width: int, dims: int = 2, memory: int = 3, seed: int = 0) -> Recurrent:
    random = np.random.default_rng(seed)

    def layer(out: int, wide: int) -> Layer:
        weight, bias = random.normal(size=(out, wide)), random.normal(size=out)
        return Layer(weight.astype(np.float32), bias.astype(np.float32))

    return Recurrent(
        np.zeros(width, np.float32),
        np.ones(width, np.float32),
        layer(3 * memory, dims),
        layer(3 * memory, memory),
        (layer(4, width - 1 + memory), layer(1, 4)),
    )


def router(kind: str) -> Router:
    if kind == "gru":
        return recurrent(PAIRS.width)
    settings = TreeSettings(trees=10, leaves=6)
    if kind == "trees":
        return fit_trees(PAIRS, pairs_of(4, seed=1), settings).router
    if kind == "agreement":
        return Agreement((router("trees"), router("mlp"), network(PAIRS.width, 0, seed=7)))
    return network(PAIRS.width, 16 if kind == "mlp" else 0)


def bundle_of(router: Router, encoder: Encoder | None = None) -> Bundle:
    return Bundle(
        router=router,
        features=tuple(f"feature {n}" for n in range(router.width)),
        threshold=0.75,
        calibration=Platt(0.8, -0.1),
        labels="READY where no later step needs the details",
        created_from="synthetic pairs, seed 0",
        reads=Spec("once", evidence=False, encoder=encoder) if encoder else Spec(),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_bundle_scores_as_before_and_saves_the_same_bytes(
    kind: str, tmp_path: Path
) -> None:
    bundle = bundle_of(router(kind), Encoder("tiny-lm", 3))
    save_bundle(tmp_path / "a", bundle)
    loaded = load(tmp_path / "a")
    np.testing.assert_array_equal(loaded.scores(PAIRS.x), bundle.scores(PAIRS.x))
    assert replace(loaded, router=bundle.router) == bundle
    assert loaded.router.kind == kind
    save_bundle(tmp_path / "b", loaded)
    for name in (WEIGHTS, SPEC):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_an_agreement_is_as_sure_as_the_least_sure_of_its_members() -> None:
    members = tuple(network(5, 0, seed) for seed in range(3))
    least = np.min([member.logits(PAIRS.x) for member in members], axis=0)
    np.testing.assert_array_equal(Agreement(members).logits(PAIRS.x), least)


@pytest.mark.parametrize("kind", KINDS)
def test_loading_and_scoring_need_no_learning_library(kind: str, tmp_path: Path) -> None:
    save_bundle(tmp_path, bundle_of(router(kind)))
    code = (
        "import sys, numpy; from pathlib import Path;"
        "from statecomp.router.bundle import load; import statecomp.router.scorer;"
        "load(Path(sys.argv[1])).scores(numpy.zeros((2, 5), numpy.float32));"
        "print(*sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded.isdisjoint({"torch", "sklearn", "scipy", "threadpoolctl"})


def test_typical_bundles_are_small(tmp_path: Path) -> None:
    """Hidden vectors through 128 units, evidence through 2048, and five forests of 300 trees."""
    grown = TreeSettings(trees=300, leaves=31, patience=300, learning_rate=0.01)
    forest = fit_trees(PAIRS, pairs_of(4, seed=1), grown).router
    for router in (network(2700, 128), network(120, 2048), Agreement((forest,) * 5)):
        save_bundle(tmp_path, bundle_of(router))
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 5_000_000


Json = dict[str, Any]
SPOILED: list[tuple[Callable[[Json], object], str]] = [
    (lambda spec: spec.update(format=3), "format: is 3, and this version reads 2"),
    (lambda spec: spec.update(reads=None), "reads: does not say what the router reads"),
    (lambda spec: spec["reads"].update(top=4), "reads: is not what a router can read"),
    (lambda spec: spec["reads"].pop("encoder"), "reads: is not what a router can read"),
    (lambda spec: spec["reads"].update(context="lstm"), "context: is 'lstm', none of none, gru"),
    (lambda spec: spec.pop("threshold"), "threshold: is missing"),
    (lambda spec: spec.update(threshold=1.5), r"threshold: must lie in \(0, 1\], not 1.5"),
    (lambda spec: spec.update(threshold="high"), "is not the specification of a router"),
    (lambda spec: spec.update(calibration={"kind": "x"}), "calibration: is none of raw"),
    (lambda spec: spec.update(router={"kind": "forest"}), "kind: is 'forest', which this version"),
    (lambda spec: spec.update(router={"kind": "mlp"}), "the weights lack the tensor 'bias1'"),
    (lambda spec: spec["features"].pop(), "router: reads 5 features, and 4 are named"),
    (lambda spec: spec.update(weights_sha256="0"), "does not hold the weights that its spec.json"),
]


@pytest.mark.parametrize(("spoil", "sentence"), SPOILED)
def test_a_spoiled_specification_is_refused(
    spoil: Callable[[Json], object], sentence: str, tmp_path: Path
) -> None:
    save_bundle(tmp_path, bundle_of(router("linear")))
    spec = json.loads((tmp_path / SPEC).read_text("utf-8"))
    spoil(spec)
    (tmp_path / SPEC).write_text(json.dumps(spec), "utf-8")
    with pytest.raises(BadInput, match=sentence) as caught:
        load(tmp_path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("name", [SPEC, WEIGHTS])
def test_a_file_cut_off_anywhere_is_refused(name: str, tmp_path: Path) -> None:
    save_bundle(tmp_path, bundle_of(router("mlp")))
    data = (tmp_path / name).read_bytes()
    for kept in (0, 5, len(data) // 2, len(data) - 3):
        (tmp_path / name).write_bytes(data[:kept])
        with pytest.raises(BadInput, match=f"{name}: is cut off"):
            load(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(BadInput, match=f"{name}: cannot be read"):
        load(tmp_path)


def without(name: str) -> Callable[[dict[str, NDArray[Any]]], object]:
    return lambda tensors: tensors.pop(name)


def changed(name: str, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[..., object]:
    return lambda tensors: tensors.update({name: np.ascontiguousarray(change(tensors[name]))})


MISFITS: list[tuple[str, Callable[[dict[str, NDArray[Any]]], object], str]] = [
    ("mlp", without("bias0"), "the weights lack the tensor 'bias0'"),
    ("mlp", lambda t: t.update(more=np.ones(1)), "the weights hold an unknown tensor 'more'"),
    ("mlp", changed("weight0", lambda w: w.T), r"'weight0' have a wrong shape \(5 x 16\)"),
    ("mlp", changed("scale", lambda w: w[:-1]), r"'scale' have a wrong shape \(4\)"),
    ("mlp", changed("mean", lambda w: w.astype(np.float64)), "'mean' are of a wrong type"),
    ("mlp", changed("mean", lambda w: w * np.nan), "the weights 'mean' are not finite"),
    ("trees", changed("left", lambda w: w + 10_000), "the weights point outside of the trees"),
    ("trees", changed("value", lambda w: w[:-1]), "'value' have a wrong shape"),
    ("gru", without("bias_memory"), "the weights lack the tensor 'bias_memory'"),
    ("gru", changed("weight_gates", lambda w: w[:-1]), "'weight_gates' have a wrong shape"),
    ("gru", changed("mean", lambda w: w[:2]), "'scale' have a wrong shape"),
    ("agreement", without("1.mean"), "the weights lack the tensor 'mean'"),
    ("agreement", lambda t: t.update({"9.x": np.ones(1)}), "unknown tensor '9.x'"),
]


@pytest.mark.parametrize(("kind", "spoil", "sentence"), MISFITS)
def test_weights_that_do_not_fit_are_refused(
    kind: str, spoil: Callable[[dict[str, NDArray[Any]]], object], sentence: str, tmp_path: Path
) -> None:
    save_bundle(tmp_path, bundle_of(router(kind)))
    tensors = load_file(tmp_path / WEIGHTS)
    spoil(tensors)
    weights = save(tensors)
    (tmp_path / WEIGHTS).write_bytes(weights)
    spec = json.loads((tmp_path / SPEC).read_text("utf-8"))
    spec["weights_sha256"] = sha256(weights).hexdigest()
    (tmp_path / SPEC).write_text(json.dumps(spec), "utf-8")
    with pytest.raises(BadInput, match=sentence):
        load(tmp_path)


def test_a_bundle_of_the_format_before_reads_evidence_alone(tmp_path: Path) -> None:
    save_bundle(tmp_path, bundle_of(router("linear")))
    spec = json.loads((tmp_path / SPEC).read_text("utf-8"))
    del spec["reads"]
    (tmp_path / SPEC).write_text(json.dumps({**spec, "format": 1, "encoder": None}), "utf-8")
    assert load(tmp_path).reads == Spec()


def test_columns_of_vectors_follow_from_what_is_read(tmp_path: Path) -> None:
    encoder = Encoder("tiny-lm", 3, "f00", "float32", width=2, context=64)
    reads = Spec("capped-recent4", "hybrid", evidence=False, encoder=encoder)
    names = ("state", *(f"{b}.{n}" for b in ("candidate", "current", "context") for n in (0, 1)))
    assert reads.columns() == names
    bundle = replace(bundle_of(recurrent(7)), features=names, reads=reads)
    save_bundle(tmp_path, bundle)
    assert json.loads((tmp_path / SPEC).read_text("utf-8"))["features"] == []
    assert replace(load(tmp_path), router=bundle.router) == bundle


def test_a_reader_of_other_features_is_refused() -> None:
    bundle = bundle_of(router("linear"))
    names = names_of(PAIRS)
    bundle.must_read(names)
    with pytest.raises(BadInput, match="5 features, and this version makes 4; train it again"):
        bundle.must_read(names[:-1])
    with pytest.raises(BadInput, match="'feature 0' as feature 1, and this version makes 'feature"):
        bundle.must_read(names[::-1])


def test_a_bundle_for_another_encoder_is_refused() -> None:
    names = names_of(PAIRS)
    bundle = bundle_of(router("linear"), Encoder("tiny-lm", 3))
    bundle.must_read(names, Encoder("tiny-lm", 3))
    with pytest.raises(BadInput, match="layer 3 of tiny-lm, and layer 3 of other-lm is running"):
        bundle.must_read(names, Encoder("other-lm", 3))
    with pytest.raises(BadInput, match="layer 3 of tiny-lm, and no encoder is running"):
        bundle.must_read(names)


def test_features_that_are_no_numbers_are_named() -> None:
    bundle, x = bundle_of(router("linear")), PAIRS.x.copy()
    x[1, 2] = np.nan
    with pytest.raises(BadInput, match="feature feature 2 of the history is nan in row 2"):
        bundle.scores(x)
    with pytest.raises(BadInput, match="and the router reads 5 a row"):
        bundle.scores(x[:, :3])
