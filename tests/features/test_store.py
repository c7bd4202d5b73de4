"""Shards are found by content, written whole, and refused in one sentence when they are not ours;
and rows of features are the blocks they say they are."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.features.context import nearest_mean
from statecomp.features.store import FeatureStore, StoreRecipe
from statecomp.history.trajectory import Trajectory

RUN = Trajectory("one", ({"role": "user", "content": "hello \ud800"},))
OTHER = Trajectory("two", ({"role": "user", "content": "bye"},))
RECIPE = StoreRecipe("smollm2-135m", 12, "stream")
ARRAYS: dict[str, NDArray[Any]] = {
    "candidates": np.eye(3, dtype=np.float32),
    "numbers": np.arange(3),
}


def test_what_was_written_is_read_back_and_no_longer_missing(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path / "features", RECIPE)
    assert store.missing([RUN, OTHER]) == [RUN, OTHER]
    store.write(RUN, ARRAYS)
    again = FeatureStore(tmp_path / "features", RECIPE)
    assert again.missing([RUN, OTHER]) == [OTHER]
    read = again.read(RUN)
    assert set(read) == set(ARRAYS)
    assert all(np.array_equal(read[name], ARRAYS[name]) for name in ARRAYS)
    assert [path.suffix for path in store.folder.iterdir()] == [".npz"]


def test_a_renamed_run_is_the_same_and_a_changed_one_or_another_recipe_is_not(
    tmp_path: Path,
) -> None:
    store = FeatureStore(tmp_path, RECIPE)
    store.write(RUN, ARRAYS)
    assert not store.missing([replace(RUN, id="renamed", source="elsewhere")])
    assert store.missing([replace(RUN, messages=({"role": "user", "content": "hi"},))])
    for changed in ("encoder", "layer", "construction", "version"):
        other: Any = 7 if changed in ("layer", "version") else "x"
        recipe = replace(RECIPE, **{changed: other})
        assert FeatureStore(tmp_path, recipe).missing([RUN]), changed


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.9, 0.999])
def test_a_truncated_shard_is_one_sentence(tmp_path: Path, kept: float) -> None:
    store = FeatureStore(tmp_path, RECIPE)
    path = store.write(RUN, ARRAYS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept if kept > 1 else kept * len(whole))])
    with pytest.raises(BadInput, match="damaged; delete it and extract again"):
        store.read(RUN)


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, RECIPE)
    path = store.write(RUN, {"x": np.zeros(1_000, np.float32)})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadInput, match="damaged"):
        store.read(RUN)


def test_a_foreign_shard_is_refused(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, RECIPE)
    shutil.copy(store.write(OTHER, ARRAYS), store.path(RUN))
    with pytest.raises(BadInput, match="not made from this run by this recipe"):
        store.read(RUN)
    np.savez(store.path(RUN), x=np.zeros(1))
    with pytest.raises(BadInput, match="not made from this run"):
        store.read(RUN)
    with pytest.raises(BadInput, match="no features yet"):
        store.read(replace(RUN, messages=()))


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, RECIPE)
    with pytest.raises(ValueError):
        store.write(RUN, {"x": np.array([object()])})
    assert not list(tmp_path.iterdir())


def test_the_context_is_the_mean_of_the_nearest_by_cosine() -> None:
    candidates = np.array([[1, 0], [10, 1], [0, 1], [-1, 0]], np.float32)
    current = np.array([2, 0], np.float32)
    assert nearest_mean(candidates, current, 2).tolist() == [5.5, 0.5]
    assert nearest_mean(candidates, current, 9).tolist() == candidates.mean(axis=0).tolist()
    assert nearest_mean(candidates[:0], current).tolist() == [0, 0]
    assert np.isfinite(nearest_mean(np.zeros_like(candidates), current)).all()
