"""Where the atoms of a run come from and where they go, worked out once for all checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from statecomp.annotation.atoms import (
    AtomHolders,
    AtomParts,
    Atoms,
    Voice,
    fresh_atoms,
    parts_of,
    pinned_voices,
)
from statecomp.annotation.labels import Veto
from statecomp.annotation.records import Reading

NEAR = 8
"""Up to this age one word taken over tells of a use; later it takes FAR_WORDS."""
FAR_WORDS = 3
PROSE_IDENTIFIERS = 2
"""Named in passing, one identifier fits a summary; two show that the text is still being read."""
OWN_IDENTIFIERS = 3
"""Taken over from the agent's own action: it builds on the script or the query it wrote there."""
TOGETHER, COVERED = 4, 0.8
"""So many words in one action, and no interaction between that holds this share of them."""
WHOLESALE = 20
"""So many words at once are copied from the text, wherever else some of them stand."""
SAME_SHARE, SIMILAR_SHARE, SAME_WORDS = 0.9, 0.8, 15
"""An observation is seen again where this share of its words returns, if it has this many."""
SHOWN_ATOMS, SHOWN_CHARS = 4, 60


@dataclass(frozen=True)
class Flow:
    """The atoms of one run with their producers and uses."""

    reading: Reading

    @cached_property
    def parts(self) -> tuple[AtomParts, ...]:
        return parts_of(self.reading)

    @cached_property
    def fresh(self) -> tuple[Atoms, ...]:
        """What each interaction was told that was not known before."""
        return fresh_atoms(self.parts, self._pinned)

    @cached_property
    def vetoes(self) -> tuple[tuple[Veto, ...], ...]:
        """For each interaction, the later ones that still need something only it holds."""
        return tuple(tuple(self._vetoes(n)) for n in range(1, self.reading.last + 1))

    def part(self, number: int) -> AtomParts:
        return self.parts[number - 1]

    def shows_again(self, number: int, later: int, share: float = SAME_SHARE) -> bool:
        """Whether what was observed at `number` is observed at `later` as well."""
        words = self.part(number).observed.words
        again = len(words & self.part(later).observed.words)
        return bool(words) and again >= share * len(words)

    def used_from(self, number: int, start: int) -> tuple[str, ...]:
        """Identifiers of an interaction that the agent writes at or after `start`, in that order.

        Those of the task are left out: the task is never replaced.
        """
        held = self.part(number).identifiers - self._pinned[number - 1].identifiers
        later = self.parts[max(start - 1, number) :]
        used = (atom for part in later for atom in sorted(held & part.own_identifiers))
        return tuple(dict.fromkeys(used))

    @cached_property
    def _pinned(self) -> tuple[Voice, ...]:
        return pinned_voices(self.reading)

    @cached_property
    def _identifiers(self) -> AtomHolders:
        return AtomHolders(part.identifiers for part in self.parts)

    @cached_property
    def _words(self) -> AtomHolders:
        return AtomHolders(part.words for part in self.parts)

    def _vetoes(self, number: int) -> Iterator[Veto]:
        sole, again = self._sole_uses(number), self._looked_up_again(number)
        for later in range(number + 1, self.reading.last + 1):
            if atoms := sole.get(later):
                yield Veto(later, f"takes over what only this still holds: {_shown(atoms)}")
            elif atoms := self._drawn_together(number, later):
                yield Veto(later, f"draws on many details at once: {_shown(atoms)}")
            elif later == again:
                yield Veto(later, "looks up the same text again")

    def _sole_uses(self, number: int) -> dict[int, set[str]]:
        """Atoms whose last source is `number`, by who takes them over, where this is no chance."""
        fresh = self.fresh[number - 1]
        own = self.part(number).action.identifiers - self._pinned[number - 1].identifiers
        told = _by_next(fresh.identifiers, number, self._identifiers)
        worded = _by_next(fresh.words, number, self._words)
        written = _by_next(own, number, self._identifiers)
        uses = {}
        for later in told.keys() | worded.keys() | written.keys():
            part = self.part(later)
            acted = told.get(later, set()) & part.action.identifiers
            named = told.get(later, set()) & part.prose.identifiers
            words = worded.get(later, set()) & part.action.words
            rewritten = written.get(later, set()) & part.action.identifiers
            if (
                acted
                or len(named) >= PROSE_IDENTIFIERS
                or len(words) >= (1 if later - number <= NEAR else FAR_WORDS)
                or len(rewritten) >= OWN_IDENTIFIERS
            ):
                uses[later] = acted | named | words | rewritten
        return uses

    def _drawn_together(self, number: int, later: int) -> set[str]:
        """Words that stand elsewhere one by one, but nowhere else together."""
        fresh, part = self.fresh[number - 1].words, self.part(later)
        written = fresh & part.own_words
        if len(written) >= WHOLESALE:
            return set(written)
        drawn = fresh & part.action.words
        if len(drawn) < TOGETHER:
            return set()
        between = self.parts[number : later - 1]
        most = max((len(drawn & other.words) for other in between), default=0)
        return set(drawn) if most <= COVERED * len(drawn) else set()

    def _looked_up_again(self, number: int) -> int | None:
        """Where the agent asks for the same long text again: until there it needed this one.

        Once something similar was shown, the agent draws on that, and this one is superseded.
        """
        if len(self.part(number).observed.words) < SAME_WORDS:
            return None
        for later in range(number + 1, self.reading.last + 1):
            if self.shows_again(number, later, SIMILAR_SHARE):
                return later if self.shows_again(number, later) else None
        return None


def _by_next(atoms: Iterable[str], number: int, holders: AtomHolders) -> dict[int, set[str]]:
    """Atoms by where they stand next after `number`, which until there is their last source."""
    found: dict[int, set[str]] = {}
    for atom in atoms:
        later = holders.next_after(atom, number)
        if later is not None:
            found.setdefault(later, set()).add(atom)
    return found


def _shown(atoms: set[str]) -> str:
    shown = ", ".join(atom[:SHOWN_CHARS] for atom in sorted(atoms)[:SHOWN_ATOMS])
    more = len(atoms) - SHOWN_ATOMS
    return f"{shown} and {more} more" if more > 0 else shown
