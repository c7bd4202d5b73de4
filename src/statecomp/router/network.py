"""Trained routers as plain arrays: how they score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from statecomp.router.pairs import Features, Floats

ROWS_AT_ONCE = 8192
UNTHREADED = 1 << 18
"""Multiplications up to which numeric libraries start no threads.

A thread that has nothing more to do waits busily for tens of milliseconds, many times what the
scores of a whole history take.
"""
TILE = 16
"""Outputs that are computed side by side; fewer at a time would be added in another order."""
FEW_ROWS = 1024
"""A history has no more rows; where many histories are scored at once threads are worth it."""


class Router(Protocol):
    """g: features to logits.  Linear, MLP, trees, and what these agree on."""

    @property
    def kind(self) -> str: ...

    @property
    def width(self) -> int:
        """How many features it reads."""
        ...

    def logits(self, x: Features) -> Floats:
        """(pairs, width) -> (pairs,)."""
        ...


@dataclass(frozen=True)
class Layer:
    """y = x @ weight.T + bias."""

    weight: NDArray[np.float32]  # (out, in)
    bias: NDArray[np.float32]  # (out,)


@dataclass(frozen=True)
class Network:
    """Standardised features through one or two layers, with a ReLU between two."""

    mean: NDArray[np.float32]  # (width,)
    scale: NDArray[np.float32]  # (width,)
    layers: tuple[Layer, ...]

    @property
    def kind(self) -> str:
        return "linear" if len(self.layers) == 1 else "mlp"

    @property
    def width(self) -> int:
        return len(self.mean)

    def logits(self, x: Features) -> Floats:
        if not len(x):
            return np.zeros(0)
        starts = range(0, len(x), ROWS_AT_ONCE)
        # Overflow gives an infinite logit, which is an answer; NaN is caught by whoever scores.
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self._logits(x[start : start + ROWS_AT_ONCE]) for start in starts]
        return np.concatenate(parts)  # (pairs,)

    def _logits(self, x: Features) -> Floats:
        return through(self.layers, (x - self.mean) / self.scale)  # (pairs,)


def through(layers: Sequence[Layer], value: Features) -> Floats:
    """Standardised rows through the layers, with a ReLU between two: their logits."""
    for layer in layers[:-1]:
        value = np.maximum(_product(value, layer.weight) + layer.bias, 0.0)  # (pairs, hidden)
    last = layers[-1]
    return (value @ last.weight.T + last.bias)[:, 0].astype(np.float64)  # (pairs,)


def _product(x: Features, weight: NDArray[np.float32]) -> Features:
    """x @ weight.T, for the rows of one history in parts that one thread computes."""
    rows, width = x.shape
    if not 1 < rows <= FEW_ROWS:  # a single row is no product of matrices
        return x @ weight.T  # (rows, out)
    out = np.empty((rows, len(weight)), np.result_type(x, weight))  # (rows, out)
    down = _edges(rows, UNTHREADED // (width * TILE), 1)
    across = _edges(len(weight), UNTHREADED // (down[1] * width), TILE)
    for top, bottom in pairwise(down):
        for left, right in pairwise(across):
            np.matmul(x[top:bottom], weight[left:right].T, out=out[top:bottom, left:right])
    return out


def _edges(length: int, most: int, step: int) -> list[int]:
    """Where parts of at most so many begin and end, all of about one size and whole steps.

    Very small products are added in another order than those of the usual size: with parts of one
    size no bit differs from the whole product's.
    """
    parts = -(-length // max(step, most))
    steps = -(-length // step)
    return [min(length, steps * part // parts * step) for part in range(parts + 1)]


def side_by_side(parts: Sequence[Network]) -> Network:
    """One network that answers with the mean of several which scale alike and have two layers."""
    first, last = zip(*(part.layers for part in parts), strict=True)
    share = np.float32(1 / len(parts))
    return Network(
        mean=parts[0].mean,
        scale=parts[0].scale,
        layers=(
            Layer(
                weight=np.concatenate([layer.weight for layer in first]),
                bias=np.concatenate([layer.bias for layer in first]),
            ),
            Layer(
                weight=np.concatenate([share * layer.weight for layer in last], axis=1),
                bias=np.sum([share * layer.bias for layer in last], axis=0),
            ),
        ),
    )


@dataclass(frozen=True)
class Agreement:
    """The least logit of several routers: READY only as surely as each of them says."""

    members: tuple[Router, ...]

    @property
    def kind(self) -> str:
        return "agreement"

    @property
    def width(self) -> int:
        return self.members[0].width

    def logits(self, x: Features) -> Floats:
        logits = np.stack([member.logits(x) for member in self.members])  # (members, pairs)
        least: Floats = logits.min(axis=0)  # (pairs,)
        return least
