"""The log: a line for each request."""

from __future__ import annotations

import logging
import re

from statecomp.proxy.account.exchange import Exchange

LOG = logging.getLogger("statecomp.proxy")


def log_request(exchange: Exchange, *, counts: bool, total_ms: float) -> None:
    """One line a request; numbers and names of our own, never content."""
    if not LOG.isEnabledFor(logging.INFO):
        return
    fields = {
        "protocol": exchange.protocol,
        "session": exchange.session,
        "mode": exchange.mode,
        "status": exchange.status,
        "raw_tokens": exchange.raw_tokens,
        "sent_tokens": exchange.view_tokens,
        "counts": counts,
        "own_ms": round(exchange.own_ms, 2),
        "total_ms": round(total_ms, 1),
        "note": shown_note(exchange.note),
    }
    LOG.info("request", extra={"fields": fields})


def shown_note(note: str) -> str:
    """A note for the log: what it quotes came out of a request, so it is left out.

    From the first quote to the last: what is quoted can hold quotes of both kinds.
    """
    return re.sub(r"['\"].*['\"]|['\"].*", "'...'", note, count=1, flags=re.DOTALL)[:200]
