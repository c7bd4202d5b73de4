"""Waiting by turns: seconds count only as far as this process was given them.

On a machine where everybody waits for the processor a store that is well takes seconds to answer,
and so does whoever waits for it.  By the clock it would be given up, and other bytes sent.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, wait
from math import ceil
from typing import Any

TURN_S = 0.1


def _turns(patience_s: float) -> range:
    return range(max(1, ceil(patience_s / TURN_S)))


def in_turns(work: Future[Any], patience_s: float) -> bool:
    """Wait in a thread; whether it ended."""
    return any(wait([work], TURN_S).done for _ in _turns(patience_s))


async def in_turns_of_the_loop(work: asyncio.Future[Any], patience_s: float) -> bool:
    """The same where others are served meanwhile."""
    for _ in _turns(patience_s):
        if (await asyncio.wait({work}, timeout=TURN_S))[0]:
            return True
    return False
