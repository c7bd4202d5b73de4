"""A trained GRU with its router, as plain arrays.

r_k is the GRU's memory behind the last interaction of the prefix; the router reads
[h_i; q_k; r_k], and whatever stands beside them.  Rows name their state in column 0, so the history
of a row is the candidates of all rows of its state, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from statecomp.router.network import Layer, through
from statecomp.router.pairs import Features, Floats

CANDIDATE: Final = 1
"""Where the candidate's columns begin; column 0 is the state."""


@dataclass(frozen=True)
class Recurrent:
    """The gates stand as torch keeps them: reset, update, new, one below the other.

    Each side has a bias of its own, because the reset gate lies between the two.
    """

    mean: NDArray[np.float32]  # (width,)
    scale: NDArray[np.float32]  # (width,)
    gates: Layer  # (3m, d): from the candidate
    memory: Layer  # (3m, m): from the memory
    layers: tuple[Layer, ...]

    @property
    def kind(self) -> str:
        return "gru"

    @property
    def width(self) -> int:
        return len(self.mean)

    def logits(self, x: Features) -> Floats:
        if not len(x):
            return np.zeros(0)
        order = np.argsort(x[:, 0], kind="stable")  # (rows,)
        _, place, counts = np.unique(x[order, 0], return_inverse=True, return_counts=True)
        # Overflow gives an infinite logit, which is an answer; NaN is caught by whoever scores.
        with np.errstate(over="ignore", invalid="ignore"):
            value = ((x[order] - self.mean) / self.scale)[:, CANDIDATE:]  # (rows, width - 1)
            memory = self._memory(value[:, : self.gates.weight.shape[1]], counts)  # (states, m)
            beside = np.concatenate([value, memory[place.reshape(-1)]], axis=1)
            logit = np.empty(len(x))  # (rows,)
            logit[order] = through(self.layers, beside)
        return logit

    def _memory(self, candidates: Features, counts: NDArray[np.intp]) -> Features:
        """What the GRU holds behind each state: all states take their n-th step together."""
        first = np.cumsum(counts) - counts  # (states,)
        wide = self.memory.weight.shape[1]
        held = np.zeros((len(counts), wide), np.float32)  # (states, m)
        given = candidates @ self.gates.weight.T + self.gates.bias  # (rows, 3m)
        for step in range(int(counts.max())):
            going = np.flatnonzero(counts > step)  # (going,)
            new = given[first[going] + step]  # (going, 3m)
            old = held[going]  # (going, m)
            kept = old @ self.memory.weight.T + self.memory.bias  # (going, 3m)
            both = _sigmoid(new[:, : 2 * wide] + kept[:, : 2 * wide])  # (going, 2m)
            reset, update = both[:, :wide], both[:, wide:]  # (going, m)
            fresh = np.tanh(new[:, 2 * wide :] + reset * kept[:, 2 * wide :])  # (going, m)
            held[going] = (1.0 - update) * fresh + update * old
        return held


def _sigmoid(value: Features) -> Features:
    sure: Features = 0.5 * (1.0 + np.tanh(0.5 * value))
    return sure
