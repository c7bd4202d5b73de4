"""What is learned of each client from the ledger while serving: how long its sessions go on,
whether more comes back than the scores of what was replaced said, and what a return reads again."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from threading import Lock, Thread
from time import monotonic, time

from statecomp.controller.horizon import Horizon
from statecomp.learning.watch import OVER_S, Watched, product, watched
from statecomp.learning.watch import SESSIONS as WATCHED
from statecomp.ledger.audit import Session
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.own import account_of

LOG = logging.getLogger("statecomp.proxy")
SESSIONS = 400
FRESH_S = 600.0


class Horizons:
    """One horizon for each client and model, one caution for each client; read again now and then,
    by whoever decides.

    A ledger that fails, or that knows no session, leaves the prior.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: Mapping[tuple[str, str], Horizon] = {}
        self._watched = Watched()
        self._read_s = -FRESH_S
        self._lock = Lock()
        self.watching: Thread | None = None

    def of(self, client: str, model: str) -> Horizon | None:
        self._refresh()
        return self._known.get((product(client), model))

    def caution(self, client: str) -> float:
        """How many times warier to be with this client."""
        self._refresh()
        return self._watched.caution(client)

    def reread(self, client: str) -> float | None:
        """The part of a replaced output it reads again; None where it was not seen to."""
        self._refresh()
        return self._watched.reread(client)

    def _refresh(self) -> None:
        with self._lock:
            due = monotonic() - self._read_s >= FRESH_S
            if due:
                self._read_s = monotonic()
        if due:
            try:
                sessions = self._ledger.sessions(SESSIONS)
                self._known = _lengths(sessions)
            except Exception:  # noqa: BLE001  what was learned before is still good
                return
            # Apart: it looks through what every session replaced, and nobody waits for that.
            self.watching = Thread(target=self._watch, args=(sessions[:WATCHED],), daemon=True)
            self.watching.start()

    def _watch(self, sessions: Sequence[Session]) -> None:
        try:
            self._heed(watched(account_of(self._ledger, ""), sessions))
        except Exception as error:  # noqa: BLE001  the cautions of before still hold
            LOG.info("the scores could not be watched (%s)", type(error).__name__)

    def _heed(self, seen: Watched) -> None:
        """Stricter gates, or those of before, and a line in the log that says so."""
        for client in {*seen.clients, *self._watched.clients}:
            was, now = self._watched.caution(client), seen.caution(client)
            if round(was, 1) != round(now, 1):
                fields = {"client": client, "caution": round(now, 2), "before": round(was, 2)}
                LOG.warning(
                    "gates of a client changed with what came back", extra={"fields": fields}
                )
        self._watched = seen


def _lengths(sessions: Sequence[Session]) -> Mapping[tuple[str, str], Horizon]:
    ended = time() - OVER_S
    lengths: dict[tuple[str, str], list[int]] = {}
    for session in sessions:
        if session.last_s < ended:
            key = (product(session.client), session.model)
            lengths.setdefault(key, []).append(session.totals.requests)
    return {key: Horizon.of(found) for key, found in lengths.items()}
