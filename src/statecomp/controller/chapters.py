"""Chapters: records of a finished task that may become one, written anew from the originals.

The client sends the originals with every request, so nothing is told at second hand.  A task is
finished when the user has spoken since, the agent has taken some steps, and what these name hardly
stands in it: who says "go on" is still at the same task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from statecomp.history.facts import facts_of
from statecomp.history.history import History, Span
from statecomp.history.interaction import Interaction, Pinned, Segment, Summary
from statecomp.ledger.commits import Commit

FOLLOWED = 4
"""So many steps of another task are needed to tell that it is one."""
SHARED = 0.25
"""Of what these steps name, the share from which on they are about the same."""


def with_originals(effective: History, raw: History, applied: Sequence[Commit]) -> History:
    """The history whose records of finished tasks carry what they stand for.

    Not those that are chapters already: that is done once.
    """
    spoke = _moved_on(effective)
    plain = {commit.sources for commit in applied if not commit.over}
    done = effective.segments[:spoke]
    runs = _runs(done, lambda record: record.sources in plain)
    if not runs:
        return effective
    sources = {interaction.id: interaction for interaction in raw.interactions}
    named = _named_since(raw, effective.segments[spoke].id)
    segments = list(effective.segments)
    for run in runs:
        told = [
            replace(record, originals=tuple(sources[name] for name in record.sources))
            for record in _records(done[run.start : run.stop])
        ]
        if _is_another(named, told):
            segments[run.start : run.stop] = told
    return History(tuple(segments))


def chapters_of(history: History) -> list[Span]:
    """Where one record may stand for several."""
    return _runs(history.segments, lambda record: bool(record.originals))


def carried_since(history: History, span: Span) -> int:
    """Requests that carried these records after their task was finished."""
    for segment in history.segments[_next_words(history, span.stop) :]:
        if isinstance(segment, Interaction | Summary):
            first = segment.number if isinstance(segment, Interaction) else segment.first
            return history.checkpoint - first
    return 0


def _next_words(history: History, start: int) -> int:
    places = range(start, len(history.segments))
    return next((p for p in places if _is_user(history.segments[p])), len(history.segments))


def _moved_on(history: History) -> int:
    """The place of the last words of the user that enough steps have followed; else 0."""
    steps = 0
    for place in range(len(history.segments) - 1, 0, -1):
        segment = history.segments[place]
        if isinstance(segment, Interaction):
            steps += 1
        elif isinstance(segment, Summary):
            steps += len(segment.sources)
        elif _is_user(segment) and steps >= FOLLOWED:
            return place
    return 0


def _is_user(segment: Segment) -> bool:
    return isinstance(segment, Pinned) and segment.role == "user"


def _runs(segments: Sequence[Segment], among: Callable[[Summary], bool]) -> list[Span]:
    """Unbroken runs of two such records and more."""
    runs, start = [], 0
    for place, segment in enumerate((*segments, None)):
        if isinstance(segment, Summary) and among(segment):
            continue
        if place - start > 1:
            runs.append(Span(start, place))
        start = place + 1
    return runs


def _records(segments: Sequence[Segment]) -> list[Summary]:
    return [segment for segment in segments if isinstance(segment, Summary)]


def _named_since(raw: History, words: str) -> frozenset[str]:
    """What the agent has named since the user's words of this id."""
    names: set[str] = set()
    for segment in reversed(raw.segments):
        if segment.id == words:
            break
        if isinstance(segment, Interaction):
            names |= facts_of(segment).own
    return frozenset(names)


def _is_another(named: frozenset[str], records: Sequence[Summary]) -> bool:
    facts = [facts_of(original) for record in records for original in record.originals]
    known = frozenset[str]().union(*(one.own | one.observed for one in facts))
    return bool(named) and len(named & known) < SHARED * len(named)
