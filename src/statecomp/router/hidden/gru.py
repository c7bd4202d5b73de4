"""Training a GRU over the prefix's candidates together with the router (see `recurrent`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from statecomp.errors import BadInput
from statecomp.router.hidden.recurrent import CANDIDATE, Recurrent
from statecomp.router.loss import EVERY_ROW, PLAIN, Loss, Sampling
from statecomp.router.metrics import keep_pr_auc
from statecomp.router.model import standardisation
from statecomp.router.network import Layer
from statecomp.router.pairs import Features, Numbers, Pairs
from statecomp.router.threshold import LossWeights


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
        self.layers = nn.ModuleList(
            [nn.Linear(width, hidden), nn.Linear(hidden, 1)] if hidden else [nn.Linear(width, 1)]
        )
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
        beside = torch.cat([value, memory], dim=1)  # (rows, width - 1 + m)
        for layer in self.layers[:-1]:
            beside = self.dropout(torch.relu(layer(beside)))  # (rows, hidden)
        return cast(Tensor, self.layers[-1](beside))[:, 0]  # (rows,)

    def recurrent(self) -> Recurrent:
        """A copy in numpy: the weights as they are now."""
        held = {name: np.array(t.detach().numpy()) for name, t in self.state_dict().items()}
        given, kept = (
            Layer(held[f"gru.weight_{side}_l0"], held[f"gru.bias_{side}_l0"])
            for side in ("ih", "hh")
        )
        places = range(len(self.layers))
        layers = (Layer(held[f"layers.{n}.weight"], held[f"layers.{n}.bias"]) for n in places)
        return Recurrent(held["mean"], held["scale"], given, kept, tuple(layers))


@dataclass(frozen=True)
class FittedGru:
    """The checkpoint that did best on validation."""

    router: Recurrent
    weights: LossWeights
    best: int


@dataclass(frozen=True, slots=True)
class GruSettings:
    """One configuration; `states` is how many of them a step of the optimizer sees.

    A state is read whole, so no row of it can be drawn more often than others: what a `sampling`
    asks for is done by weights.
    """

    dims: int
    memory: int = 64
    hidden: int = 128
    dropout: float = 0.3
    loss: Loss = PLAIN
    sampling: Sampling = EVERY_ROW
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
        loss = _sampled(self.loss.counting(positives, len(train) - positives), self.sampling, train)
        model = GruModel(train.x, self.dims, self.memory, self.hidden, self.dropout)
        optimizer = torch.optim.AdamW(
            model.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        random = np.random.default_rng(self.seed)
        best, best_value, kept = 0, -np.inf, model.recurrent()
        for number in range(1, self.epochs + 1):
            self._epoch(model, optimizer, loss, train, random)
            router = model.recurrent()
            logit = router.logits(validation.x)  # (pairs,)
            if not np.isfinite(logit).all():
                raise BadInput(f"training diverged in epoch {number}; lower the learning rate")
            reached = keep_pr_auc(logit, validation.ready) or 0.0
            if reached > best_value:
                best, best_value, kept = number, reached, router
            elif number - best >= self.patience:
                break
        return FittedGru(kept, loss.weights, best)

    def _epoch(
        self,
        model: GruModel,
        optimizer: torch.optim.Optimizer,
        loss: Loss,
        train: Pairs,
        random: np.random.Generator,
    ) -> None:
        model.train()
        for rows in _batches(train.x[:, 0], self.states, random):
            ready = torch.from_numpy(train.ready[rows].astype(np.float32))  # (rows,)
            optimizer.zero_grad()
            value = loss(model(torch.from_numpy(train.x[rows])), ready)
            torch.autograd.backward(value)
            optimizer.step()


def _sampled(loss: Loss, sampling: Sampling, train: Pairs) -> Loss:
    """The loss with the weights of the sampling multiplied in."""
    drawn = sampling.weights(train.ready)
    weights = LossWeights(loss.weights.ready * drawn.ready, loss.weights.keep * drawn.keep)
    return replace(loss, weights=weights)


def _batches(states: Features, count: int, random: np.random.Generator) -> Iterator[Numbers]:
    """Rows of `count` whole states at a time, states in a new order."""
    names, place = np.unique(states, return_inverse=True)  # (states,), (rows,)
    members = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    order = random.permutation(len(names))  # (states,)
    for start in range(0, len(order), count):
        yield np.concatenate([members[state] for state in order[start : start + count]])
