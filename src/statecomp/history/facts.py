"""Which identifiers an effective history holds, and in whose words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, KeysView, Mapping
from dataclasses import dataclass, field

from statecomp.history.interaction import Interaction, Pinned, Segment
from statecomp.history.text import (
    COMMON,
    Kind,
    argument_text,
    identifier_set,
    identifiers,
    words_of,
)
from statecomp.recent import Weighed

REMEMBERED = 4096
"""Segments whose identifiers are kept; a history is read again at every checkpoint."""
NAME_BYTES = 110
"""What one identifier takes in memory, about."""


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    """The identifiers of one segment: in the agent's own words, and in what it was told."""

    own: frozenset[str]
    observed: frozenset[str]
    words: frozenset[str] = frozenset()  # of the agent, or of whoever gave it its task
    shown: Mapping[str, Kind] = field(default_factory=dict)  # what was observed, in its order

    def weight(self) -> int:
        """Bytes it takes, about."""
        names = len(self.own) + len(self.observed) + len(self.shown) + len(self.words)
        return NAME_BYTES * (10 + names)


_memory: Weighed[tuple[str, int], SegmentFacts] = Weighed(REMEMBERED, SegmentFacts.weight)


def facts_of(segment: Segment) -> SegmentFacts:
    """The identifiers of a segment, read once and remembered by its id."""
    # The hash guards against two histories that give one id to different texts.
    key = (segment.id, _content_hash(segment))
    return _memory.get(key) or _memory.put(key, _read(segment))


def _content_hash(segment: Segment) -> int:
    # Strings remember their hash, so this is near free for a segment that was seen before.
    if isinstance(segment, Interaction):
        return hash((segment.reasoning, segment.said, segment.calls, segment.observations))
    return hash(segment.text)


def _read(segment: Segment) -> SegmentFacts:
    if not isinstance(segment, Interaction):
        asked = segment.text if isinstance(segment, Pinned) and segment.role == "user" else ""
        return SegmentFacts(frozenset(), identifier_set(segment.text), frozenset(words_of(asked)))
    own = own_words(segment)
    shown = identifiers(segment.observed)
    observed = frozenset(shown.keys() - COMMON)
    return SegmentFacts(identifier_set(own), observed, frozenset(words_of(own)), shown)


def own_words(interaction: Interaction) -> str:
    """Reasoning, visible text and calls, with the escapes of the arguments undone."""
    calls = (f"{call.name}\n{argument_text(call.arguments)}" for call in interaction.calls)
    return "\n".join((interaction.reasoning, interaction.said, *calls))


class FactIndex:
    """Counts, for every identifier, the segments that hold it; follows a history as it changes."""

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._own: Counter[str] = Counter()
        self._observed: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._spoken: Counter[str] = Counter()
        self._held: dict[str, SegmentFacts] = {}
        for segment in segments:
            self.add(segment)

    def add(self, segment: Segment) -> None:
        """Index a segment; one that is indexed already counts once."""
        if segment.id in self._held:
            return
        facts = facts_of(segment)
        self._held[segment.id] = facts
        self._own.update(facts.own)
        self._observed.update(facts.observed)
        (self._spoken if isinstance(segment, Interaction) else self._asked).update(facts.words)

    def remove(self, segment: Segment) -> None:
        """Forget a segment; one that is not indexed is no mistake."""
        facts = self._held.pop(segment.id, None)
        if facts is None:
            return
        _take(self._own, facts.own)
        _take(self._observed, facts.observed)
        _take(self._spoken if isinstance(segment, Interaction) else self._asked, facts.words)

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._own or identifier in self._observed

    def agent_used(self, identifier: str) -> bool:
        """Whether the agent itself wrote it, in any indexed segment."""
        return identifier in self._own

    def agent_names(self) -> Iterable[str]:
        """Every identifier the agent itself wrote."""
        return self._own.keys()

    @property
    def asked_words(self) -> KeysView[str]:
        """The words of the user, as they are now."""
        return self._asked.keys()

    @property
    def spoken_words(self) -> KeysView[str]:
        """The words of the agent, as they are now."""
        return self._spoken.keys()

    def asked(self, word: str) -> bool:
        """Whether the word is in what the user wrote."""
        return word in self._asked

    def spoken(self, word: str) -> bool:
        """Whether the agent itself said the word, in any indexed segment."""
        return word in self._spoken


def _take(counts: Counter[str], names: frozenset[str]) -> None:
    for name in names:
        if counts[name] > 1:
            counts[name] -= 1
        else:
            del counts[name]
