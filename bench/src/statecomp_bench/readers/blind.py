"""Readers who must not know what they are shown: opaque names, and who gets what.

A study holds pages.  Pages with the same subject show the same thing in different ways, so nobody
may get two of them: the second would be read with what the first one told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from secrets import token_hex
from types import MappingProxyType

NAME_BYTES = 6


def opaque() -> str:
    """A name that says nothing."""
    return token_hex(NAME_BYTES)


def dealt(
    pages: Mapping[str, str], most: int, kinds: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[str, ...]]:
    """Hands of at most `most` pages, none with two of one subject; `pages` are subjects by name.

    Each subject's pages go to different hands in turn.  Where their kinds are told, every hand gets
    as many of one as of another, as far as the numbers allow; else it is a matter of chance.
    """
    subjects: dict[str, list[str]] = {}
    for name in sorted(pages):
        subjects.setdefault(pages[name], []).append(name)
    hands: list[list[str]] = [[] for _ in range(max(map(len, subjects.values()), default=0))]
    for place, subject in enumerate(sorted(subjects)):
        names = subjects[subject]
        Random(subject).shuffle(names)
        names.sort(key=lambda name: kinds.get(name, ""))
        for turn, name in enumerate(names):
            hands[(place + turn) % len(hands)].append(name)
    return [part for hand in hands for part in _parts(hand, most)]


def _parts(hand: Sequence[str], most: int) -> Iterable[tuple[str, ...]]:
    """Equal parts, none longer than `most`."""
    count = -(-len(hand) // most)
    return (tuple(hand[n::count]) for n in range(count))
