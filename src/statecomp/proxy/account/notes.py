"""What a request is noted with: what went wrong with it, or why no more was saved."""

from __future__ import annotations

from statecomp.explain import BEFORE, COMMITTED, TOO_LATE, UNDECIDED, UNTOUCHABLE, explain
from statecomp.proxy.account.exchange import STALE_NOTE, Exchange
from statecomp.strategy import View

NOT_YET = f"{UNDECIDED}: deciding took so long that this was written down before"


def note_of(exchange: Exchange, view: View | None, before: str) -> str:
    """One sentence; `before` is that of the request before, if it was sent at the same state."""
    checkpoint = exchange.checkpoint
    if checkpoint is not None and checkpoint.view is None:
        return f"{UNTOUCHABLE}: {exchange.note or checkpoint.note}"
    if exchange.note == STALE_NOTE:
        return f"{_reason(exchange, view, before)} ({STALE_NOTE})"
    return exchange.note or _reason(exchange, view, before)


def _reason(exchange: Exchange, view: View | None, before: str) -> str:
    checkpoint, decision = exchange.checkpoint, exchange.decision
    if checkpoint is None or checkpoint.raw is None:
        return f"{UNDECIDED}: the request was not read"
    if view is not None:
        told = explain(view, checkpoint.raw)
        later = told.startswith(COMMITTED) and exchange.view_tokens == exchange.raw_tokens
        return f"{told}, from the next request on" if later else told
    if decision is not None and decision.exception() is not None:
        return f"{UNDECIDED}: deciding failed ({type(decision.exception()).__name__})"
    if decision is not None:
        return f"{TOO_LATE}: a newer request came first, or too many were waiting"
    if checkpoint.decided:
        told = f"{BEFORE}: the same state was sent before"
        return f"{told} ({before.removeprefix(told).strip(' ()')})" if before else told
    return f"{UNDECIDED}: the client went away before there was time"
