"""Committed summaries put back where their sources stand, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from statecomp.controller.controller import summary_of
from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment, Summary
from statecomp.ledger.commits import Commit
from statecomp.recent import Weighed
from statecomp.tokens import TokenCounter
from statecomp.wire.protocol import Wire

KEPT = "its replacement was taken back, because one of its steps must stay"


class Replayer:
    """Turns a raw history into the effective one, given what was committed."""

    def __init__(self, wire: Wire, count: TokenCounter) -> None:
        self._wire = wire
        self._count = count
        self._summaries: Weighed[str, Summary] = Weighed(1024, _weight)

    def replay(self, raw: History, commits: Sequence[Commit]) -> tuple[History, tuple[Commit, ...]]:
        """The effective history, and the commits that stand in it."""
        if not commits:
            return raw, ()
        # Where an older ledger holds two over one source, the first stands, as it does since.
        standing = _first_over_each(_with_chapters(raw, commits))
        by_start = {commit.sources[0]: commit for commit in standing}
        segments: list[Segment] = []
        applied: list[Commit] = []
        place = 0
        while place < len(raw.segments):
            commit = by_start.get(raw.segments[place].id)
            if commit is not None and _stand_free(raw, place, commit):
                segments.append(self._summary(commit))
                applied.append(commit)
                place += len(commit.sources)
            else:
                segments.append(raw.segments[place])
                place += 1
        return History(tuple(segments)), tuple(applied)

    def _summary(self, commit: Commit) -> Summary:
        return self._summaries.get(commit.id) or self._summaries.put(
            commit.id,
            summary_of(
                commit.text, commit.sources, commit.first, commit.last, self._wire, self._count
            ),
        )


def claimed_and_kept(commits: Sequence[Commit], applied: Sequence[Commit]) -> Mapping[str, str]:
    """Sources of commits that something since then took back: no other commit may claim them.

    A span over one of them would be refused whole, and with it all that could go beside them.
    """
    standing = {commit.id for commit in applied}
    return {
        source: KEPT for commit in commits if commit.id not in standing for source in commit.sources
    }


def _weight(summary: Summary) -> int:
    """Bytes it takes, about."""
    return 1000 + 3 * len(summary.text) + 96 * len(summary.sources)


def _with_chapters(raw: History, commits: Sequence[Commit]) -> Sequence[Commit]:
    """Without what a chapter is over, and without chapters that cannot stand here."""
    if not any(commit.over for commit in commits):
        return commits
    places = {segment.id: place for place, segment in enumerate(raw.segments)}
    standing = [
        commit
        for commit in commits
        if not commit.over or _stand_free(raw, places.get(commit.sources[0], 0), commit)
    ]
    gone = {name for commit in standing for name in commit.over}
    return [commit for commit in standing if commit.id not in gone]


def _first_over_each(commits: Sequence[Commit]) -> list[Commit]:
    taken: set[str] = set()
    first = []
    for commit in commits:
        if taken.isdisjoint(commit.sources):
            taken.update(commit.sources)
            first.append(commit)
    return first


def _stand_free(raw: History, place: int, commit: Commit) -> bool:
    """Whether the commit's sources stand here; a pin set since then takes them back."""
    sources = raw.segments[place : place + len(commit.sources)]
    return tuple(s.id for s in sources) == commit.sources and not any(
        isinstance(s, Interaction) and s.locked for s in sources
    )
