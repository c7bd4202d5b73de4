"""How long summaries turned out, so that none is written again that cannot pay.

A run that is READY grows by a step with every request.  Its summary would be written each time,
and each time found too long to pay, if nobody remembered how long the last one was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from statecomp.history.interaction import Segment
from statecomp.recent import LruCache

REMEMBERED = 1024


class _Written(NamedTuple):
    last: str
    members: int
    source_tokens: int
    summary_tokens: int


class Lengths:
    """By the interaction a span begins with; safe to share between threads."""

    def __init__(self) -> None:
        self._written: LruCache[str, _Written] = LruCache(REMEMBERED)

    def learn(self, span: Sequence[Segment], summary_tokens: int) -> None:
        source = sum(segment.tokens for segment in span)
        self._written.put(span[0].id, _Written(span[-1].id, len(span), source, summary_tokens))

    def expected(self, span: Sequence[Segment], ratio: float, frame_tokens: int) -> int:
        """Tokens of a summary: as long as the last one of these steps, and a share of what is new.

        Of steps that nobody has written a summary of, the frame and that share.
        """
        source = sum(segment.tokens for segment in span)
        known = self._written.get(span[0].id)
        if known is None or known.members > len(span) or span[known.members - 1].id != known.last:
            return frame_tokens + round(source * ratio)
        return known.summary_tokens + round((source - known.source_tokens) * ratio)
