"""How long sessions of each client go on, learned from the ledger while serving."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from time import monotonic, time

from statecomp.controller.horizon import Horizon
from statecomp.ledger.audit import Ledger

SESSIONS = 400
OVER_S = 3600.0
"""A session nobody has heard of for so long is taken to have ended."""
FRESH_S = 600.0


class Horizons:
    """One horizon for each client and model; read again now and then, by whoever decides.

    A ledger that fails, or that knows no session, leaves the prior.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: Mapping[tuple[str, str], Horizon] = {}
        self._read_s = -FRESH_S
        self._lock = Lock()

    def of(self, client: str, model: str) -> Horizon | None:
        with self._lock:
            due = monotonic() - self._read_s >= FRESH_S
            if due:
                self._read_s = monotonic()
        if due:
            try:
                self._known = self._learned()
            except Exception:  # noqa: BLE001  what was learned before is still good
                return self._known.get((product(client), model))
        return self._known.get((product(client), model))

    def _learned(self) -> Mapping[tuple[str, str], Horizon]:
        ended = time() - OVER_S
        lengths: dict[tuple[str, str], list[int]] = {}
        for session in self._ledger.sessions(SESSIONS):
            if session.last_s < ended:
                key = (product(session.client), session.model)
                lengths.setdefault(key, []).append(session.totals.requests)
        return {key: Horizon.of(found) for key, found in lengths.items()}


def product(client: str) -> str:
    """A client without its version: a new one works like the old one."""
    return client.partition("/")[0]
