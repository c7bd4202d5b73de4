"""Training a network: AdamW on the training pairs, stopped by the validation pairs.

Or, where nothing is held back, on probabilities for a fixed number of epochs (`taught`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from statecomp.errors import BadInput
from statecomp.router.calibrate import sigmoid
from statecomp.router.loss import EVERY_ROW, PLAIN, Loss, Rows, Sampling
from statecomp.router.metrics import keep_pr_auc, log_loss, ready_pr_auc
from statecomp.router.model import RouterModel, standardisation
from statecomp.router.network import Network
from statecomp.router.pairs import Features, Flags, Floats, Pairs
from statecomp.router.threshold import LossWeights

MONITORS = ("log_loss", "keep_pr_auc", "ready_pr_auc")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """One configuration.  `hidden` is 0 for a linear router, or the width of its hidden layer.

    Another number of `threads` may round sums in another way, and so give other bytes.
    """

    hidden: int = 128
    dropout: float = 0.3
    loss: Loss = PLAIN
    sampling: Sampling = EVERY_ROW
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    batch: int = 1024
    epochs: int = 50
    patience: int = 5
    monitor: str = "keep_pr_auc"
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.monitor not in MONITORS:
            raise BadInput(f"is {self.monitor!r}, none of {', '.join(MONITORS)}", field="monitor")
        for name in ("batch", "epochs", "patience", "threads"):
            if getattr(self, name) < 1:
                raise BadInput("must be at least 1", field=name)
        if self.hidden < 0:
            raise BadInput(f"must not be negative, not {self.hidden}", field="hidden")
        if not 0.0 <= self.dropout < 1.0:
            raise BadInput(f"must lie in [0, 1), not {self.dropout}", field="dropout")

    def fit(self, train: Pairs, validation: Pairs) -> Fitted:
        """`fit` with these settings: the shape cross-validation asks of every learner."""
        return fit(train, validation, self)


@dataclass(frozen=True, slots=True)
class Epoch:
    """One line of a training curve."""

    number: int
    train_loss: float
    validation: float


@dataclass(frozen=True)
class Fitted:
    """The best checkpoint, the weights its scores carry, and the way there."""

    router: Network
    weights: LossWeights
    best: int
    curve: tuple[Epoch, ...]


Progress = Callable[[Epoch], None]


def fit(
    train: Pairs, validation: Pairs, settings: TrainSettings, progress: Progress | None = None
) -> Fitted:
    """The checkpoint that does best on validation; the same seed gives the same bytes."""
    train.checked("the training pairs")
    validation.checked("the validation pairs")
    if train.width != validation.width:
        raise BadInput(f"training has {train.width} features, validation {validation.width}")
    with _repeatable(settings):
        return _fit(train, validation, settings, progress)


def _fit(
    train: Pairs, validation: Pairs, settings: TrainSettings, progress: Progress | None
) -> Fitted:
    positives = int(train.ready.sum())
    loss = settings.loss.counting(positives, len(train) - positives)
    model = RouterModel(*standardisation(train.x), settings.hidden, settings.dropout)
    optimizer = _optimizer(model, settings)
    random = np.random.default_rng(settings.seed)
    carried = _carried(loss, settings.sampling, train)
    best, best_value, best_router, curve = 0, -np.inf, model.network(), list[Epoch]()
    for number in range(1, settings.epochs + 1):
        rows = settings.sampling.rows(train.ready, random)
        train_loss = _epoch(model, optimizer, loss, (train.x, train.ready), rows, settings.batch)
        router = model.network()
        value = _monitored(router, validation, settings.monitor, carried)
        if not np.isfinite(train_loss + value):
            raise BadInput(f"training diverged in epoch {number}; lower the learning rate")
        curve.append(Epoch(number, train_loss, value))
        if progress:
            progress(curve[-1])
        if value > best_value:
            best, best_value, best_router = number, value, router
        elif number - best >= settings.patience:
            break
    return Fitted(best_router, carried, best, tuple(curve))


def taught(
    x: Features, wanted: Floats, scaling: tuple[torch.Tensor, torch.Tensor], settings: TrainSettings
) -> Network:
    """Learns how surely each row is READY, for all epochs at a rate that falls to nothing."""
    with _repeatable(settings):
        model = RouterModel(*scaling, settings.hidden, settings.dropout)
        optimizer = _optimizer(model, settings)
        rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, settings.epochs)
        random = np.random.default_rng(settings.seed)
        for number in range(1, settings.epochs + 1):
            rows = random.permutation(len(x))  # (rows,)
            loss = _epoch(model, optimizer, settings.loss, (x, wanted), rows, settings.batch)
            if not np.isfinite(loss):
                raise BadInput(f"training diverged in epoch {number}; lower the learning rate")
            rate.step()
        return model.network()


def _optimizer(model: RouterModel, settings: TrainSettings) -> torch.optim.Optimizer:
    return torch.optim.AdamW(
        model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )


def _epoch(
    model: RouterModel,
    optimizer: torch.optim.Optimizer,
    loss: Loss,
    lessons: tuple[Features, Flags | Floats],
    rows: Rows,
    batch: int,
) -> float:
    features, wanted = lessons
    model.train()
    total = 0.0
    for start in range(0, len(rows), batch):
        chosen = rows[start : start + batch]  # (batch,)
        x = torch.from_numpy(features[chosen])  # (batch, width)
        ready = torch.from_numpy(wanted[chosen].astype(np.float32))  # (batch,)
        optimizer.zero_grad()
        value = loss(model(x), ready)
        torch.autograd.backward(value)
        optimizer.step()
        total += value.item() * len(chosen)
    return total / len(rows)


def _monitored(router: Network, validation: Pairs, monitor: str, carried: LossWeights) -> float:
    """Larger is better; the loss is that of the posterior, with the weights taken back."""
    logit = router.logits(validation.x)  # (pairs,)
    if not np.isfinite(logit).all():
        return float("nan")
    if monitor == "log_loss":
        posterior = sigmoid(logit - np.log(carried.ready / carried.keep))  # (pairs,)
        return -(log_loss(posterior, validation.ready) or 0.0)
    ranking = keep_pr_auc if monitor == "keep_pr_auc" else ready_pr_auc
    return ranking(logit, validation.ready) or 0.0


def _carried(loss: Loss, sampling: Sampling, train: Pairs) -> LossWeights:
    """Weights of the loss and of the sampling multiply."""
    sampled = sampling.weights(train.ready)
    return LossWeights(loss.weights.ready * sampled.ready, loss.weights.keep * sampled.keep)


@contextmanager
def _repeatable(settings: TrainSettings) -> Iterator[None]:
    """Seeds initial weights and dropout; the caller's random state and threads come back."""
    threads = torch.get_num_threads()
    torch.set_num_threads(settings.threads)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            yield
    finally:
        torch.set_num_threads(threads)
