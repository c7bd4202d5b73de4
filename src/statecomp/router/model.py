"""The routers we train: linear, or one hidden layer with dropout."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from statecomp.router.network import Layer, Network
from statecomp.router.pairs import ROWS_AT_ONCE, Features


class RouterModel(nn.Module):
    """Standardises its input itself, so that a trained router needs nothing beside it."""

    mean: Tensor  # (width,)
    scale: Tensor  # (width,)

    def __init__(self, mean: Tensor, scale: Tensor, hidden: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)
        width = len(mean)
        self.layers = nn.ModuleList(
            [nn.Linear(width, hidden), nn.Linear(hidden, 1)] if hidden else [nn.Linear(width, 1)]
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        value = (x - self.mean) / self.scale  # (batch, width)
        for layer in self.layers[:-1]:
            value = self.dropout(torch.relu(layer(value)))  # (batch, hidden)
        return cast(Tensor, self.layers[-1](value))[:, 0]  # (batch,)

    def network(self) -> Network:
        """A copy in numpy: the weights as they are now."""
        layers = [cast(nn.Linear, layer) for layer in self.layers]
        return Network(
            mean=_array(self.mean),
            scale=_array(self.scale),
            layers=tuple(Layer(_array(layer.weight), _array(layer.bias)) for layer in layers),
        )


def _array(tensor: Tensor) -> Features:
    return np.array(tensor.detach().numpy(), np.float32)


def standardisation(x: Features) -> tuple[Tensor, Tensor]:
    """Mean and scale of each column, in slices; a constant column has scale one."""
    total = np.zeros(x.shape[1])  # (width,)
    squares = np.zeros(x.shape[1])  # (width,)
    for start in range(0, len(x), ROWS_AT_ONCE):
        total += x[start : start + ROWS_AT_ONCE].sum(axis=0, dtype=np.float64)
    mean = total / len(x)  # (width,)
    for start in range(0, len(x), ROWS_AT_ONCE):
        squares += ((x[start : start + ROWS_AT_ONCE] - mean) ** 2).sum(axis=0)
    scale = np.sqrt(squares / len(x))  # (width,)
    # Below the rounding of float32 a column is constant; dividing by its noise would blow it up.
    scale[scale <= 1e-6 * np.maximum(np.abs(mean), 1.0)] = 1.0
    return torch.from_numpy(mean.astype(np.float32)), torch.from_numpy(scale.astype(np.float32))
