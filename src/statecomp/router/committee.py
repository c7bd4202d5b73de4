"""A committee: each member leaves out some of the tasks, so nothing is held back.

A member is boosted trees and a small network.  They err in different places, and the warier of the
two answers: what looks safe to one of them alone is where most KEEP pairs hide at the top.

Every task has members that never saw it.  Their scores calibrate the router and choose its
threshold, over all trusted runs instead of a validation fifth; all trees and all networks answer.

Where somebody who knew the past alone has said how surely an interaction is READY, the members
learn from that (`Pairs.foreseen`).  A label tells what became of one continuation; a forecast tells
what the past lets one expect, which is all that a router can ever know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from statecomp.errors import BadInput
from statecomp.router.cross import Unseen
from statecomp.router.loss import WeightedBce
from statecomp.router.model import standardisation
from statecomp.router.network import Agreement, Network, side_by_side
from statecomp.router.pairs import Features, Flags, Floats, Pairs, joined
from statecomp.router.threshold import UNWEIGHTED, LossWeights
from statecomp.router.train import TrainSettings, taught
from statecomp.router.trees import Trees, TreeSettings, averaged, exported, grow

GROWN = TreeSettings(learning_rate=0.1, trees=80, leaves=15, min_leaf=30, l2=1.0, columns=0.3)
TAUGHT = TrainSettings(hidden=128, learning_rate=2e-3, weight_decay=0.05, batch=256, epochs=12)
COPIES = 4
"""Times that trees learn from a row; of these, the share that its forecast says is READY."""


@dataclass(frozen=True, slots=True)
class Committee:
    """One configuration: `turns` times `parts` members.

    Runs that are `untrusted` are learned from and tune nothing.  What is learned of a foreseen pair
    is its forecast, and to the share `trust` its label.
    """

    trees: TreeSettings = GROWN
    network: TrainSettings = TAUGHT
    parts: int = 10
    turns: int = 1
    trust: float = 0.25
    untrusted: frozenset[str] = frozenset()
    seed: int = 0

    def weighing(self, weights: LossWeights) -> Committee:
        """The same with classes that count differently, to trees and networks alike."""
        return replace(
            self,
            trees=replace(self.trees, weights=weights),
            network=replace(self.network, loss=WeightedBce(weights)),
        )

    def fit(self, train: Pairs, validation: Pairs) -> FittedCommittee:
        """Learns from both parts, each task kept from the members that are to judge it."""
        pairs = joined(train, validation).checked("the training pairs")
        scaling = standardisation(pairs.x)
        total = np.zeros(len(pairs))  # (pairs,)
        heard = np.zeros(len(pairs))  # (pairs,)
        trees: list[Trees] = []
        networks: list[Network] = []
        for number, outside in enumerate(self._rounds(pairs)):
            inside = pairs.where(~outside).checked("the pairs a member learns from")
            x, wanted = self._lessons(inside)
            trees.append(self._grown(x, wanted, number))
            networks.append(
                taught(x, wanted, scaling, replace(self.network, seed=self.seed + number))
            )
            member = Agreement((trees[-1], networks[-1]))
            total[outside] += member.logits(pairs.x[outside])
            heard[outside] += 1.0
        names = np.array(pairs.runs)[pairs.run]  # (pairs,)
        judging = (heard > 0) & ~np.isin(names, [*self.untrusted])  # (pairs,)
        unseen = Unseen(total[judging] / heard[judging], pairs.ready[judging])
        router = Agreement((averaged(trees), side_by_side(networks)))
        return FittedCommittee(router, unseen, self.trees.weights)

    def _rounds(self, pairs: Pairs) -> Iterator[Flags]:
        """For each member the rows of the tasks that it leaves out."""
        group = np.array(pairs.groups)[pairs.run]  # (pairs,)
        tasks = sorted({*pairs.groups})
        if len(tasks) < 2:
            raise BadInput("a committee needs runs of at least two tasks")
        for turn in range(self.turns):
            dealt = Random(f"{self.seed} {turn}").sample(tasks, len(tasks))
            for part in range(min(self.parts, len(tasks))):
                yield np.isin(group, dealt[part :: self.parts])

    def _lessons(self, pairs: Pairs) -> tuple[Features, Floats]:
        """The rows a member learns from, and how surely each of them is READY."""
        rows = lessons(pairs)  # (rows,)
        label = pairs.ready[rows].astype(float)  # (rows,)
        if pairs.foreseen is None:
            return pairs.x[rows], label
        mixed = (1.0 - self.trust) * pairs.foreseen[rows] + self.trust * label  # (rows,)
        return pairs.x[rows], np.where(np.isnan(mixed), label, mixed)

    def _grown(self, x: Features, wanted: Floats, number: int) -> Trees:
        """Trees learn from classes: each row comes as often READY as is to be expected of it."""
        copies = 1 if np.isin(wanted, (0.0, 1.0)).all() else COPIES
        # One draw a row, spread evenly over its copies: their share of READY is off by no more
        # than a copy, and right on average.
        draw = np.random.default_rng((self.seed, number)).random(len(x)) / copies  # (rows,)
        ready = np.concatenate([draw + copy / copies < wanted for copy in range(copies)])
        settings = replace(self.trees, min_leaf=copies * self.trees.min_leaf)
        grown = grow(np.tile(x, (copies, 1)), ready, settings, self.seed + number)
        return exported(grown, settings.trees, x.shape[1])


def lessons(pairs: Pairs) -> NDArray[np.intp]:
    """A run with forecasts is learned from at their checkpoints, any other at all of its own."""
    if pairs.foreseen is None:
        return np.arange(len(pairs))
    said = ~np.isnan(pairs.foreseen)  # (pairs,)
    with_forecasts = np.isin(pairs.run, np.unique(pairs.run[said]))  # (pairs,)
    place = pairs.run.astype(np.int64) * (1 + int(pairs.checkpoint.max())) + pairs.checkpoint
    at_these = np.isin(place, np.unique(place[said]))  # (pairs,)
    # Nobody forecasts the newest interaction, which the agent has yet to act on: its label counts.
    newest = at_these & (pairs.age == 1)  # (pairs,)
    return np.flatnonzero(~with_forecasts | said | newest)


@dataclass(frozen=True)
class FittedCommittee:
    """What the trees and networks of all members say, and what those said who knew no such task."""

    router: Agreement
    unseen: Unseen
    weights: LossWeights = UNWEIGHTED
