"""Whether a store answers questions of one kind, so that it is not asked in vain."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from time import monotonic
from typing import TypeVar

from statecomp.ledger.audit import LedgerFailed

PATIENCE_S = 2.0
"""A question that is open for longer, or failed, keeps the next ones away for a while."""
REST_S = 5.0

Answer = TypeVar("Answer")


class Answering:
    """How questions of one kind fare: what a request reads, what it writes, what is decided."""

    def __init__(self) -> None:
        self.away_until = 0.0
        # Thread -> since when it waits for the store.  Every request comes by here, so no lock:
        # one thread changes only its own entry, and a list of them is made in one step.
        self._asked: dict[int, float] = {}

    def ask(self, question: Callable[[], Answer]) -> Answer:
        thread = get_ident()
        self._asked[thread] = monotonic()
        try:
            return question()
        except Exception:
            self.away_until = monotonic() + REST_S
            raise
        finally:
            self._asked.pop(thread, None)

    def must_answer(self) -> None:
        now = monotonic()
        hangs = any(now - since > PATIENCE_S for since in list(self._asked.values()))
        if hangs or now < self.away_until:
            raise LedgerFailed("the ledger does not answer; it is asked again in a moment")
