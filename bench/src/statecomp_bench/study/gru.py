"""Recurrent aggregation: a GRU over the prefix's candidates, trained together with the router.

r_k is the GRU's memory behind the last interaction of the prefix; the router reads
[h_i; q_k; r_k], and whatever stands beside them.  Rows name their state in column 0, so the history
of a row is the candidates of all rows of its state, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from statecomp.errors import BadInput
from statecomp.router.loss import PLAIN, Loss
from statecomp.router.metrics import keep_pr_auc
from statecomp.router.model import standardisation
from statecomp.router.pairs import Features, Floats, Numbers, Pairs
from statecomp.router.threshold import Weights

CANDIDATE = 1
"""Where the candidate's columns begin; column 0 is the state."""


class GruModel(nn.Module):
    """`dims` is the width of a candidate, `memory` that of the GRU."""

    mean: Tensor  # (width,)
    scale: Tensor  # (width,)

    def __init__(self, x: Features, dims: int, memory: int, hidden: int, dropout: float) -> None:
        super().__init__()
        mean, scale = standardisation(x)
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)
        self.dims = dims
        self.gru = nn.GRU(dims, memory, batch_first=True)
        width = x.shape[1] - CANDIDATE + memory
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Whole states at a time: (rows, width) -> (rows,)."""
        _, place, counts = torch.unique_consecutive(
            x[:, 0], return_inverse=True, return_counts=True
        )
        value = ((x - self.mean) / self.scale)[:, CANDIDATE:]  # (rows, width - 1)
        histories = torch.split(value[:, : self.dims], counts.tolist())
        packed = nn.utils.rnn.pack_sequence(list(histories), enforce_sorted=False)
        memory = self.gru(packed)[1][0][place]  # (states, m) -> (rows, m)
        inner = torch.relu(self.inner(torch.cat([value, memory], dim=1)))  # (rows, hidden)
        return cast(Tensor, self.outer(self.dropout(inner)))[:, 0]  # (rows,)


@dataclass(frozen=True)
class GruRouter:
    """A trained GRU with its router."""

    model: GruModel
    width: int
    kind: str = "gru"

    @torch.inference_mode()
    def logits(self, x: Features) -> Floats:
        self.model.eval()
        order = np.argsort(x[:, 0], kind="stable")  # (rows,)
        logit = np.zeros(len(x))  # (rows,)
        if len(x):
            logit[order] = self.model(torch.from_numpy(x[order])).double().numpy()
        return logit


@dataclass(frozen=True)
class FittedGru:
    """The checkpoint that did best on validation."""

    router: GruRouter
    weights: Weights
    best: int


@dataclass(frozen=True, slots=True)
class GruSettings:
    """One configuration; `states` is how many of them a step of the optimizer sees."""

    dims: int
    memory: int = 64
    hidden: int = 128
    dropout: float = 0.3
    loss: Loss = PLAIN
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    states: int = 16
    epochs: int = 30
    patience: int = 5
    seed: int = 0

    def fit(self, train: Pairs, validation: Pairs) -> FittedGru:
        train.checked("the training pairs")
        validation.checked("the validation pairs")
        if train.width != validation.width or train.width < CANDIDATE + self.dims:
            raise BadInput(f"{train.width} features do not hold candidates of {self.dims}")
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self.seed)
                return self._fit(train, validation)
        finally:
            torch.set_num_threads(threads)

    def _fit(self, train: Pairs, validation: Pairs) -> FittedGru:
        positives = int(train.ready.sum())
        loss = self.loss.counting(positives, len(train) - positives)
        model = GruModel(train.x, self.dims, self.memory, self.hidden, self.dropout)
        optimizer = torch.optim.AdamW(
            model.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        random = np.random.default_rng(self.seed)
        best, best_value, kept = 0, -np.inf, dict[str, Tensor]()
        for number in range(1, self.epochs + 1):
            model.train()
            for rows in _batches(train.x[:, 0], self.states, random):
                ready = torch.from_numpy(train.ready[rows].astype(np.float32))  # (rows,)
                optimizer.zero_grad()
                value = loss(model(torch.from_numpy(train.x[rows])), ready)
                torch.autograd.backward(value)
                optimizer.step()
            logit = GruRouter(model, train.width).logits(validation.x)  # (pairs,)
            if not np.isfinite(logit).all():
                raise BadInput(f"training diverged in epoch {number}; lower the learning rate")
            reached = keep_pr_auc(logit, validation.ready) or 0.0
            if reached > best_value:
                best, best_value = number, reached
                kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
            elif number - best >= self.patience:
                break
        model.load_state_dict(kept)
        return FittedGru(GruRouter(model, train.width), loss.weights, best)


def _batches(states: Features, count: int, random: np.random.Generator) -> Iterator[Numbers]:
    """Rows of `count` whole states at a time, states in a new order."""
    names, place = np.unique(states, return_inverse=True)  # (states,), (rows,)
    members = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    order = random.permutation(len(names))  # (states,)
    for start in range(0, len(order), count):
        yield np.concatenate([members[state] for state in order[start : start + count]])
