"""Which recorded steps a strategy would have broken, and what hindsight would have allowed.

A step is broken when its recorded action uses an identifier that the agent had learned (the first
time it occurs in the run is not in the agent's own words), that stands in the raw prefix, and that
stands nowhere in what the strategy would have sent.  In a session each run is read by itself: its
agent saw nothing of the others.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse, takewhile

from statecomp.history.facts import facts_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment
from statecomp.history.text import COMMON, argument_text, identifier_set

COMMON_GROUPS = 5
COMMON_SHARE = 0.03
_ENDING = re.compile(r"\.[A-Za-z]\w{0,3}")
"""Of a file's name, alone: everybody knows .zip, whoever showed it first."""


def action_identifiers(interaction: Interaction) -> frozenset[str]:
    """What the agent used in a step; its private reasoning is not an action."""
    calls = (f"{call.name}\n{argument_text(call.arguments)}" for call in interaction.calls)
    names = identifier_set("\n".join((interaction.said, *calls)))
    return frozenset(filterfalse(_ENDING.fullmatch, names))


def common_identifiers(used: Iterable[tuple[str, frozenset[str]]]) -> frozenset[str]:
    """Identifiers that the agents of many tasks use, from (group, identifiers) of each run."""
    by_group: dict[str, set[str]] = {}
    for group, names in used:
        by_group.setdefault(group, set()).update(names)
    limit = max(COMMON_GROUPS, COMMON_SHARE * len(by_group))
    counts = Counter(name for names in by_group.values() for name in names)
    return COMMON | {name for name, groups in counts.items() if groups >= limit}


@dataclass(frozen=True)
class Dependencies:
    """For each step of one run, the learned identifiers its action uses, and who holds them.

    `begins` are the steps that the later runs of a session begin with.
    """

    needs: Mapping[int, frozenset[str]]  # interaction number -> identifiers
    holders: Mapping[str, tuple[int, ...]]  # identifier -> positions of raw segments
    segments: tuple[Segment, ...]
    begins: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, history: History, common: frozenset[str], begins: frozenset[int] = frozenset()
    ) -> Dependencies:
        known: set[str] = set()
        learned: set[str] = set()
        told: set[str] = set()  # by whoever asked, which stays
        needs: dict[int, frozenset[str]] = {}
        for segment in history.segments:
            facts = facts_of(segment)
            if isinstance(segment, Interaction):
                if segment.number in begins:
                    known, learned = told.copy(), told.copy()
                used = action_identifiers(segment) & learned
                needs[segment.number] = used - common
            else:
                told |= facts.observed
            learned |= facts.observed - facts.own - known
            known |= facts.own | facts.observed
        wanted = frozenset().union(*needs.values())
        holders: dict[str, list[int]] = {}
        for place, segment in enumerate(history.segments):
            facts = facts_of(segment)
            for name in (facts.own | facts.observed) & wanted:
                holders.setdefault(name, []).append(place)
        return cls(needs, {n: tuple(p) for n, p in holders.items()}, history.segments, begins)

    def missing(self, number: int, view: History) -> tuple[str, ...]:
        """What step `number` would have needed and not found in this view."""
        needs = self.needs.get(number, frozenset())
        if not needs:
            return ()
        raw = {segment.id for segment in view.segments}
        absent = [
            name
            for name in sorted(needs)
            if not any(self.segments[p].id in raw for p in self.holders.get(name, ()))
        ]
        originals = {segment.id for segment in self.segments}
        return tuple(name for name in absent if not stands_in(name, view, originals))

    def hindsight(self, position: int) -> int:
        """Tokens of `segments[:position]` that no later step needs: the bound for any strategy.

        What must stay is chosen greedily: first the segments that alone hold something needed,
        then for each remaining need the cheapest holder.
        """
        later = (s.number for s in self.segments[position:] if isinstance(s, Interaction))
        of_this_run = takewhile(lambda number: number not in self.begins, later)
        wanted = frozenset().union(*(self.needs[number] for number in of_this_run))
        stays = {
            place
            for place, segment in enumerate(self.segments[:position])
            if not isinstance(segment, Interaction)
        }
        open_needs = []
        for name in sorted(wanted):
            places = [p for p in self.holders.get(name, ()) if p < position]
            if len(places) == 1:
                stays.update(places)
            elif places:
                open_needs.append(places)
        for places in sorted(open_needs, key=len):
            if stays.isdisjoint(places):
                stays.add(min(places, key=lambda place: self.segments[place].tokens))
        return sum(
            segment.tokens
            for place, segment in enumerate(self.segments[:position])
            if place not in stays
        )


def stands_in(name: str, view: History, originals: Container[str]) -> bool:
    """Whether a name that is no identifier of a kept segment can be read in this view.

    A summary, or an edited observation, may carry it, whatever is written around it; what stands as
    it came, as whole words of a longer name.
    """
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return any(
        name in s.text and (s.id not in originals or bool(whole.search(s.text)))
        for s in view.segments
    )


def bootstrap_interval(
    parts: Sequence[tuple[float, float]], *, draws: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """95 % interval of sum(a) / sum(b) over trajectories, drawn with replacement."""
    if not parts:
        return 0.0, 0.0
    generator = random.Random(seed)
    ratios = []
    for _ in range(draws):
        sample = generator.choices(parts, k=len(parts))
        below = sum(b for _, b in sample)
        ratios.append(sum(a for a, _ in sample) / below if below else 0.0)
    ratios.sort()
    return ratios[int(0.025 * draws)], ratios[int(0.975 * draws) - 1]
