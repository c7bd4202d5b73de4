"""How networks score: in parts so small that no numeric library starts threads for them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from statecomp.router.network import FEW_ROWS, TILE, Layer, _edges, through


@pytest.mark.parametrize("rows", [1, 2, 3, 31, 32, 100, 154, 401, FEW_ROWS, FEW_ROWS + 1])
def test_a_product_in_parts_is_the_whole_product(rows: int) -> None:
    draw = np.random.default_rng(rows)
    x = draw.standard_normal((rows, 107)).astype(np.float32)
    first = Layer(
        draw.standard_normal((1000, 107)).astype(np.float32),
        draw.standard_normal(1000).astype(np.float32),
    )
    last = Layer(
        draw.standard_normal((1, 1000)).astype(np.float32), np.array([0.5], dtype=np.float32)
    )
    hidden = np.maximum(x @ first.weight.T + first.bias, 0.0)
    whole = (hidden @ last.weight.T + last.bias)[:, 0]
    np.testing.assert_allclose(through((first, last), x), whole, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("length", "most", "step"), [(1280, 24, 16), (1000, 7, 16), (401, 153, 1)])
def test_parts_are_of_about_one_size_and_leave_nothing_out(
    length: int, most: int, step: int
) -> None:
    edges = _edges(length, most, step)
    sizes = [stop - start for start, stop in pairwise(edges)]
    assert (edges[0], edges[-1]) == (0, length)
    assert max(sizes) <= max(step, most) + step
    assert min(sizes[:-1]) * 2 >= max(sizes)
    assert all(start % step == 0 for start in edges[:-1])


def test_a_few_outputs_are_computed_at_once() -> None:
    assert _edges(10, 3, TILE) == [0, 10]
