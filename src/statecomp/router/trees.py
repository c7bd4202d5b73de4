"""Gradient-boosted trees: grown by scikit-learn, kept and scored as plain arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.router.calibrate import sigmoid
from statecomp.router.metrics import log_loss
from statecomp.router.pairs import Features, Flags, Floats, Pairs
from statecomp.router.threshold import UNWEIGHTED, LossWeights

ROWS_AT_ONCE = 32
RARE = 1 / 3
"""How much of its share a bag draws from runs whose labels are trusted less."""


@dataclass(frozen=True)
class Trees:
    """All nodes of all trees in one table; a leaf is its own child, so every walk may go on.

    A row goes left where its feature is at most the threshold.
    """

    feature: NDArray[np.int32]  # (nodes,)
    threshold: NDArray[np.float64]  # (nodes,)
    left: NDArray[np.int32]  # (nodes,)
    right: NDArray[np.int32]  # (nodes,)
    value: NDArray[np.float64]  # (nodes,)
    missing_left: NDArray[np.bool_]  # (nodes,)
    roots: NDArray[np.int32]  # (trees,)
    shape: NDArray[np.int32]  # (2,)  how many features, how many steps from root to leaf at most
    start: NDArray[np.float64]  # (1,)  the logit before any tree

    @property
    def kind(self) -> str:
        return "trees"

    @property
    def width(self) -> int:
        return int(self.shape[0])

    def logits(self, x: Features) -> Floats:
        logit = np.full(len(x), self.start[0])  # (pairs,)
        for first in range(0, len(x), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            logit[some] += self._leaves(x[some], self.roots).sum(axis=1)
        return logit

    def staged(self, x: Features) -> Iterator[Floats]:
        """The logits after the first tree, after the second, and so on."""
        logit = np.full(len(x), self.start[0])  # (pairs,)
        for tree in range(len(self.roots)):
            logit = logit + self._leaves(x, self.roots[tree : tree + 1])[:, 0]  # (pairs,)
            yield logit

    def _leaves(self, x: Features, roots: NDArray[np.int32]) -> Floats:
        """What each tree says to each row: (some, trees)."""
        values = x.astype(np.float64).ravel()  # (some * width,)
        first = np.arange(0, x.size, self.width)[:, None]  # (some, 1)  where each row begins
        gaps = bool(np.isnan(values).any())
        node = np.broadcast_to(roots.astype(np.intp), (len(x), len(roots)))  # (some, trees)
        # Flat lookups, and both children in one table: several times faster than by row and column.
        for _ in range(int(self.shape[1])):
            seen = values.take(first + self.feature.take(node))  # (some, trees)
            left = seen <= self.threshold.take(node)  # (some, trees)
            if gaps:
                left |= np.isnan(seen) & self.missing_left.take(node)
            node = self._children.take(2 * node + left)  # (some, trees)
        return self.value.take(node)

    @cached_property
    def _children(self) -> NDArray[np.intp]:
        """The right and the left child of each node, one after the other."""
        return np.stack([self.right, self.left], axis=1).ravel().astype(np.intp)  # (2 * nodes,)


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """One configuration.  `monotone` gives +1, 0 or -1 for each feature, or nothing for none.

    A feature with +1 can only raise the score as it grows.  Of several `bags`, whose mean is the
    score, each learns from a `share` of the runs, and from a third of that share of `rare` ones,
    whose labels are trusted less; each split looks at a share of the `columns`.
    More `threads` than idle cores make growing slower by far, since they wait for one another
    busily.
    """

    weights: LossWeights = UNWEIGHTED
    learning_rate: float = 0.05
    trees: int = 300
    leaves: int = 31
    depth: int | None = None
    min_leaf: int = 20
    l2: float = 0.0
    bags: int = 1
    share: float = 1.0
    columns: float = 1.0
    rare: frozenset[str] = frozenset()
    monotone: tuple[int, ...] = ()
    patience: int = 30
    threads: int = 1
    seed: int = 0

    def fit(self, train: Pairs, validation: Pairs) -> FittedTrees:
        """`fit_trees` with these settings: the shape cross-validation asks of every learner."""
        return fit_trees(train, validation, self)


SHIPPED = TreeSettings(
    learning_rate=0.1, trees=120, leaves=15, min_leaf=60, l2=1.0, bags=8, share=0.9, columns=0.3
)
"""The best recipe from labels alone (docs/lab-log.md); the package ships a committee."""


@dataclass(frozen=True)
class FittedTrees:
    """The trees that did best on validation, and the weights their scores carry.

    `best` counts the trees of one bag.
    """

    router: Trees
    weights: LossWeights
    best: int
    curve: tuple[float, ...]


def fit_trees(train: Pairs, validation: Pairs, settings: TreeSettings) -> FittedTrees:
    """As many trees as lower the log loss on the validation pairs."""
    train.checked("the training pairs")
    validation.checked("the validation pairs")
    if settings.monotone and len(settings.monotone) != train.width:
        problem = f"must name {train.width} directions, not {len(settings.monotone)}"
        raise BadInput(problem, field="monotone")
    parts = enumerate(bagged(train, settings))
    grown = [grow(part.x, part.ready, settings, settings.seed + bag) for bag, part in parts]
    routers = [exported(one, settings.trees, train.width) for one in grown]
    losses, best = list[float](), 0
    for logits in zip(*(router.staged(validation.x) for router in routers), strict=True):
        logit = np.mean(logits, axis=0)  # (pairs,)
        losses.append(_loss(logit, validation, settings.weights))
        if losses[-1] < losses[best]:
            best = len(losses) - 1
        elif len(losses) - 1 - best >= settings.patience:
            break
    router = averaged([exported(one, best + 1, train.width) for one in grown])
    return FittedTrees(router, settings.weights, best + 1, tuple(losses))


def bagged(train: Pairs, settings: TreeSettings) -> Iterator[Pairs]:
    """What each bag learns from: runs are drawn whole, since the pairs of one are much alike."""
    common, rare = sorted({*train.runs} - settings.rare), sorted(settings.rare & {*train.runs})
    for bag in range(settings.bags):
        random = Random(f"{settings.seed} {bag}")
        drawn = random.sample(common, round(settings.share * len(common)))
        drawn += random.sample(rare, round(settings.share * RARE * len(rare)))
        part = train.of_runs(drawn)
        both = 0 < int(part.ready.sum()) < len(part)
        yield part if both else train


def _loss(logit: Floats, pairs: Pairs, weights: LossWeights) -> float:
    """Of the posterior: with the weights taken back."""
    return log_loss(sigmoid(logit - np.log(weights.ready / weights.keep)), pairs.ready) or 0.0


def grow(x: Features, ready: Flags, settings: TreeSettings, seed: int = 0) -> Any:
    """A fitted HistGradientBoostingClassifier with all its trees."""
    # Here, so that scoring never loads them.
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    weights, weight = settings.weights, None
    # Equal weights are left out: binning weighted rows takes the library far longer.
    if weights.ready != weights.keep:
        weight = np.where(ready, weights.ready, weights.keep)  # (pairs,)
    grown = HistGradientBoostingClassifier(
        learning_rate=settings.learning_rate,
        max_iter=settings.trees,
        max_leaf_nodes=settings.leaves,
        max_depth=settings.depth,
        min_samples_leaf=settings.min_leaf,
        l2_regularization=settings.l2,
        monotonic_cst=list(settings.monotone) or None,
        # Its own early stopping would part the pairs of a run at random.
        early_stopping=False,
        max_features=settings.columns,
        random_state=seed,
    )
    with threadpool_limits(settings.threads, "openmp"):
        return grown.fit(x, ready, sample_weight=weight)


def exported(grown: Any, count: int, width: int) -> Trees:
    """The first `count` trees of a fitted HistGradientBoostingClassifier."""
    tables = [stage[0].nodes for stage in grown._predictors[:count]]
    sizes = [len(table) for table in tables]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)  # (trees,)
    nodes = np.concatenate(tables)  # (nodes,)
    own = np.arange(len(nodes), dtype=np.int32)  # (nodes,)
    offset = np.repeat(roots, sizes)  # (nodes,)
    leaf = nodes["is_leaf"].astype(np.bool_)  # (nodes,)
    return Trees(
        feature=np.where(leaf, 0, nodes["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
        left=np.where(leaf, own, nodes["left"] + offset).astype(np.int32),
        right=np.where(leaf, own, nodes["right"] + offset).astype(np.int32),
        value=np.where(leaf, nodes["value"], 0.0),
        missing_left=nodes["missing_go_to_left"].astype(np.bool_),
        roots=roots,
        shape=np.array([width, int(nodes["depth"].max())], np.int32),
        start=np.asarray(grown._baseline_prediction, np.float64).reshape(1),
    )


def averaged(parts: Sequence[Trees]) -> Trees:
    """One table that answers with the mean of several."""
    sizes = [len(part.feature) for part in parts]
    firsts = [0, *accumulate(sizes)][:-1]

    def moved(name: str) -> NDArray[np.int32]:
        columns = zip(parts, firsts, strict=True)
        return np.concatenate([getattr(p, name) + first for p, first in columns]).astype(np.int32)

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    return Trees(
        feature=joined("feature"),
        threshold=joined("threshold"),
        left=moved("left"),
        right=moved("right"),
        value=joined("value") / len(parts),
        missing_left=joined("missing_left"),
        roots=moved("roots"),
        shape=np.max([part.shape for part in parts], axis=0),
        start=np.mean([part.start for part in parts], axis=0),
    )
