"""What an interaction holds that another could need: identifiers and telling words.

Three voices are told apart, because they weigh differently: what the agent did (its action), what
it thought or said beside it (its prose), and what it was told (the observation).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from statecomp.annotation.records import Reading
from statecomp.history.interaction import Call, Interaction, Pinned
from statecomp.history.text import identifier_set

_WORD = re.compile(r"\w+(?:[.\-/:@]\w+)*")
# Words any agent uses on any task: finding one again says nothing about where it came from.
_EVERYDAY = """
    about above access add added after again all already also always and any are available because
    been before being below best better between both but call can cannot case change check code
    complete contains content could create created current data did does doing done down during each
    either else end entire error even every example existing expected fail false few file files find
    first fix follow following for form format found from full function further general get give
    given good had has have having help here how include included including information instead into
    issue its just keep key know last least left let like line lines list look looking main make
    many may message might missing more most much must name need needed new next none not note now
    number off once one only open option order other our out output over own page part path per
    please point possible previous problem process provide provided put question ready related
    remaining request required response result results return right run running same say search
    second section see seems select self set should show shown similar simple since single some
    something specific start starting state step still string such sure system take task test text
    than that the their them then there these they thing this those three through time title
    together too total true try two type under understand update updated use used useful user using
    value values various version very via view want was way well were what when where whether which
    while who whose why will with within without work working would write yes yet you your
"""
_PLAIN = frozenset(_EVERYDAY.split())


@dataclass(frozen=True)
class Voice:
    """One voice of an interaction, read once."""

    text: str

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return identifier_set(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for word in set(_WORD.findall(self.text)) if _is_telling(word))


@dataclass(frozen=True)
class AtomParts:
    """An interaction by voice."""

    action: Voice
    prose: Voice
    observed: Voice

    @cached_property
    def own_identifiers(self) -> frozenset[str]:
        return self.action.identifiers | self.prose.identifiers

    @cached_property
    def own_words(self) -> frozenset[str]:
        return self.action.words | self.prose.words

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return self.own_identifiers | self.observed.identifiers

    @cached_property
    def words(self) -> frozenset[str]:
        return self.own_words | self.observed.words


@dataclass(frozen=True)
class Atoms:
    """Identifiers and words apart: an identifier weighs more than a word."""

    identifiers: frozenset[str]
    words: frozenset[str]

    def __len__(self) -> int:
        return len(self.identifiers) + len(self.words)


class AtomHolders:
    """For each atom, the interactions that hold it, in order."""

    def __init__(self, atoms_by_interaction: Iterable[frozenset[str]]) -> None:
        self._numbers: dict[str, list[int]] = {}
        for number, atoms in enumerate(atoms_by_interaction, start=1):
            for atom in atoms:
                self._numbers.setdefault(atom, []).append(number)

    def next_after(self, atom: str, number: int) -> int | None:
        """Where the atom stands next: until there, `number` is its last source."""
        numbers = self._numbers.get(atom, [])
        place = bisect_right(numbers, number)
        return numbers[place] if place < len(numbers) else None


def parts_of(reading: Reading) -> tuple[AtomParts, ...]:
    """Every interaction by voice; in a run that has shown no calls, what is said is the action."""
    parts = []
    with_calls = False
    for interaction in reading.interactions:
        with_calls = with_calls or bool(interaction.calls)
        parts.append(_parts(interaction, with_calls))
    return tuple(parts)


def pinned_voices(reading: Reading) -> tuple[Voice, ...]:
    """For each interaction the task, and all else that stands before it and is never replaced."""
    voices = []
    voice = Voice("")
    for segment in reading.history.segments:
        if isinstance(segment, Pinned):
            voice = Voice(f"{voice.text}\n{segment.text}")
        elif isinstance(segment, Interaction):
            voices.append(voice)
    return tuple(voices)


def fresh_atoms(parts: Sequence[AtomParts], pinned: Sequence[Voice]) -> tuple[Atoms, ...]:
    """What each observation told the agent that neither the task nor its own words hold.

    A word the agent wrote before is its own by now; an identifier is not, because what it stands
    for may have changed.
    """
    fresh = []
    spoken: set[str] = set()
    for part, known in zip(parts, pinned, strict=True):
        spoken |= part.own_words
        fresh.append(
            Atoms(
                part.observed.identifiers - known.identifiers - part.own_identifiers,
                part.observed.words - known.words - spoken,
            )
        )
    return tuple(fresh)


def _parts(interaction: Interaction, with_calls: bool) -> AtomParts:
    observed = Voice(_unescaped(interaction.observed))
    if not with_calls:
        return AtomParts(Voice(interaction.said), Voice(interaction.reasoning), observed)
    action = "\n".join(_argued(call) for call in interaction.calls)
    prose = f"{interaction.reasoning}\n{interaction.said}"
    return AtomParts(Voice(_unescaped(action)), Voice(prose), observed)


def _argued(call: Call) -> str:
    """The values of a call; its outermost keys are the tool's own words, not the agent's."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    return "\n".join(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in values
    )


def _unescaped(text: str) -> str:
    """Results often hold JSON inside JSON: an escaped line break would stick to the next word."""
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def _is_telling(word: str) -> bool:
    if word.isdigit():
        return len(word) >= 2
    return len(word) >= 3 and word.lower() not in _PLAIN
