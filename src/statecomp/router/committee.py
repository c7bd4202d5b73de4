"""A committee of trees: each member leaves out a fifth of the tasks, so nothing is held back.

Every task has members that never saw it.  Their scores calibrate the router and choose its
threshold, over all trusted runs instead of a validation fifth, and the mean of all members answers.

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
from statecomp.router.pairs import Features, Flags, Pairs, joined
from statecomp.router.threshold import UNWEIGHTED, Weights
from statecomp.router.trees import Trees, TreeSettings, averaged, exported, grow

GROWN = TreeSettings(learning_rate=0.1, trees=80, leaves=15, min_leaf=30, l2=1.0, columns=0.3)
COPIES = 4
"""Times that a row is learned from; of these, the share that its forecast says is READY."""


@dataclass(frozen=True, slots=True)
class Committee:
    """One configuration: `turns` times `parts` members.

    Runs that are `untrusted` are learned from and tune nothing.  What is learned of a foreseen pair
    is its forecast, and to the share `trust` its label.
    """

    trees: TreeSettings = GROWN
    parts: int = 5
    turns: int = 2
    trust: float = 0.25
    untrusted: frozenset[str] = frozenset()
    seed: int = 0

    def fit(self, train: Pairs, validation: Pairs) -> FittedCommittee:
        """Learns from both parts, each task kept from the members that are to judge it."""
        pairs = joined(train, validation).checked("the training pairs")
        total = np.zeros(len(pairs))  # (pairs,)
        heard = np.zeros(len(pairs))  # (pairs,)
        members: list[Trees] = []
        for outside in self._rounds(pairs):
            inside = pairs.where(~outside).checked("the pairs a member learns from")
            member = self._member(inside, len(members))
            total[outside] += member.logits(pairs.x[outside])
            heard[outside] += 1.0
            members.append(member)
        names = np.array(pairs.runs)[pairs.run]  # (pairs,)
        judging = (heard > 0) & ~np.isin(names, [*self.untrusted])  # (pairs,)
        unseen = Unseen(total[judging] / heard[judging], pairs.ready[judging])
        return FittedCommittee(averaged(members), unseen)

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

    def _member(self, pairs: Pairs, number: int) -> Trees:
        x, ready = self._lessons(pairs, number)
        copies = 1 if pairs.foreseen is None else COPIES
        settings = replace(self.trees, min_leaf=copies * self.trees.min_leaf)
        grown = grow(x, ready, settings, self.seed + number)
        return exported(grown, settings.trees, pairs.width)

    def _lessons(self, pairs: Pairs, number: int) -> tuple[Features, Flags]:
        """The rows a member learns from, each as often READY as is to be expected of it."""
        rows = lessons(pairs)  # (rows,)
        if pairs.foreseen is None:
            return pairs.x[rows], pairs.ready[rows]
        label = pairs.ready[rows].astype(float)  # (rows,)
        mixed = (1.0 - self.trust) * pairs.foreseen[rows] + self.trust * label  # (rows,)
        wanted = np.where(np.isnan(mixed), label, mixed)  # (rows,)
        # One draw a row, spread evenly over its copies: their share of READY is off by no more
        # than a copy, and right on average.
        draw = np.random.default_rng((self.seed, number)).random(len(rows)) / COPIES  # (rows,)
        ready = [draw + copy / COPIES < wanted for copy in range(COPIES)]
        return np.tile(pairs.x[rows], (COPIES, 1)), np.concatenate(ready)


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
    """The mean of all members, and what those members said who had not seen a task."""

    router: Trees
    unseen: Unseen

    @property
    def weights(self) -> Weights:
        return UNWEIGHTED
