"""Which record a free cache breakpoint goes to, where the provider caches at breakpoints only.

Such a provider finds a prefix again where a breakpoint stood at its end before, at a new one or a
few blocks in front of it.  Ends of requests are such places, but what stands in front of the end of
the newest rewrite was sent with other records before.  A later rewrite in there would have nearly
everything written again.  So the breakpoint stands at the newest rewrite first, where it finds what
stood before; and then, as each request finds the one before it by the client's own breakpoint, it
goes on from record to record: each gets an entry, and keeps it alive.
"""

from __future__ import annotations

from collections.abc import Sequence

from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Segment, Summary
from statecomp.ledger.commits import Commit
from statecomp.wire.content import blocks

STAYS = 3
"""Steps after a rewrite was decided in which it may go out first: at once, or where that took long
a little later."""
LOOKBACK = 20
"""Blocks, with the one it stands at, in which a breakpoint finds an earlier one."""


def anchor_of(effective: History, raw: History, applied: Sequence[Commit]) -> Summary | None:
    """The record, by what was committed and how many steps ago: no worker needs a memory."""
    records = effective.summaries
    if not records:
        return None
    places = {segment.id: place for place, segment in enumerate(raw.segments)}
    *earlier, newest = sorted({places.get(commit.at, -1) for commit in applied}) or [-1]
    new = {commit.sources for commit in applied if places.get(commit.at, -1) == newest}
    first = next((p for p, record in enumerate(records) if record.sources in new), 0)
    passed = _steps(raw.segments[newest + 1 :]) - STAYS
    if passed > 0:
        return records[(first + passed) % len(records)]
    if first and earlier and not _finds(effective, records[first - 1], records[first]):
        before = raw.segments[earlier[-1] + 1 : places.get(records[first].sources[0], 0)]
        # Nor did a request end there with the records that stood then.
        if _steps(before) <= STAYS:
            return records[first - 1]
    return records[first]


def _finds(effective: History, earlier: Summary, later: Summary) -> bool:
    """Whether a breakpoint at the later record finds one at the earlier."""
    place, stop = effective.segments.index(earlier), effective.segments.index(later)
    between = effective.segments[place + 1 : stop + 1]
    return sum(len(blocks(m.get("content"))) for s in between for m in s.messages) < LOOKBACK


def _steps(segments: Sequence[Segment]) -> int:
    return sum(isinstance(segment, Interaction) for segment in segments)
