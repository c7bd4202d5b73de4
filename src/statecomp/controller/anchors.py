"""Which record a free cache breakpoint goes to, where the provider caches at breakpoints only.

Such a provider finds a prefix again where a breakpoint stood at its end before, or a little way
behind that.  Ends of requests are such places, but those in front of the newest rewrite were sent
with other records, and so was what stands between its records and its end.  A rewrite there would
have nearly everything written again.  So the breakpoint stands at the newest rewrite first, where
it finds what stood before; and then, as each request finds the one before it by the client's own
breakpoint, it goes on from record to record: each gets an entry, and keeps it alive.
"""

from __future__ import annotations

from collections.abc import Sequence

from statecomp.history.history import History
from statecomp.history.interaction import Interaction, Summary
from statecomp.ledger.commits import Commit

STAYS = 1
"""Steps after a rewrite was decided in which it may go out first: at once, or with the next."""


def anchor_of(effective: History, raw: History, applied: Sequence[Commit]) -> Summary | None:
    """The record, by what was committed and how many steps ago: no worker needs a memory."""
    records = effective.summaries
    if not records:
        return None
    places = {segment.id: place for place, segment in enumerate(raw.segments)}
    newest = max((places.get(commit.at, -1) for commit in applied), default=-1)
    new = {commit.sources for commit in applied if places.get(commit.at, -1) == newest}
    first = next((p for p, record in enumerate(records) if record.sources in new), 0)
    steps = sum(isinstance(segment, Interaction) for segment in raw.segments[newest + 1 :])
    return records[(first + max(0, steps - STAYS)) % len(records)]
