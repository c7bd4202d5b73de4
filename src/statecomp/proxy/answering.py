"""Whether a store answers questions of one kind, so that it is not asked in vain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from time import monotonic

from statecomp.ledger.audit import LedgerFailed

PATIENCE_S = 2.0
"""A question that is open for longer, or failed, keeps the next ones away for a while."""
REST_S = 5.0


class Answering:
    """How questions of one kind fare: what a request reads, what it writes, what is decided."""

    def __init__(self) -> None:
        self.away_until = 0.0
        self._asked: dict[int, float] = {}  # thread -> since when it waits for the store
        self._lock = Lock()

    @contextmanager
    def asking(self) -> Iterator[None]:
        thread = get_ident()
        with self._lock:
            self._asked[thread] = monotonic()
        try:
            yield
        except Exception:
            self.away_until = monotonic() + REST_S
            raise
        finally:
            with self._lock:
                self._asked.pop(thread, None)

    def must_answer(self) -> None:
        now = monotonic()
        with self._lock:
            hangs = any(now - since > PATIENCE_S for since in self._asked.values())
        if hangs or now < self.away_until:
            raise LedgerFailed("the ledger does not answer; it is asked again in a moment")
