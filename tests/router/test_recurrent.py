"""A GRU scores in numpy what it was in torch, by the history of a row and by nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from statecomp.router.loss import Oversample
from statecomp.router.pairs import Features
from tests.router.synthetic import pairs_of

gru = pytest.importorskip("statecomp.router.hidden.gru", reason="training needs statecomp[learn]")
torch = pytest.importorskip("torch", reason="training needs statecomp[learn]")


def rows_of(counts: list[int], width: int, seed: int = 0) -> Features:
    random = np.random.default_rng(seed)
    x = random.normal(size=(sum(counts), 1 + width)).astype(np.float32)
    x[:, 0] = np.repeat(np.arange(len(counts)), counts)
    return x


def model(x: Features, hidden: int) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return gru.GruModel(x, 4, 5, hidden, 0.3).eval()


@pytest.mark.parametrize("hidden", [0, 8])
def test_numpy_answers_as_torch_does(hidden: int) -> None:
    x = rows_of([1, 6, 3], 9)
    trained = model(x, hidden)
    with torch.inference_mode():
        expected = trained(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(trained.recurrent().logits(x), expected, atol=1e-5)


def test_states_and_their_order_do_not_matter_to_one_another() -> None:
    x = rows_of([4, 2, 5], 9)
    router = model(x, 8).recurrent()
    together = router.logits(x)
    mixed = np.random.default_rng(1).permutation(3)
    order = np.concatenate([np.flatnonzero(x[:, 0] == state) for state in mixed])
    np.testing.assert_allclose(router.logits(x[order]), together[order], atol=1e-6)
    alone = x[x[:, 0] == 1]
    np.testing.assert_allclose(router.logits(alone), together[4:6], atol=1e-6)
    assert router.logits(x[:0]).shape == (0,)


def test_what_a_sampling_asks_for_is_done_by_weights() -> None:
    pairs, twice = pairs_of(4), Oversample(1.0)
    loss = gru._sampled(gru.PLAIN, twice, pairs)
    assert loss.weights == twice.weights(pairs.ready) != gru.PLAIN.weights
