"""Two adapters on one loop: the first that sees a request acts on it, and the others let it pass.

A middleware and a callback of the library below it, the same middleware listed twice, an adapter
in front of another: each would judge what the one before it made.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from weakref import ReferenceType, WeakSet, ref

from statecomp.history.interaction import JsonObject
from statecomp.records.record import OPENING
from statecomp.wire.content import text_of

_LATEST: ContextVar[tuple[ReferenceType[object], str] | None] = ContextVar(
    "statecomp_latest", default=None
)
"""Who looked last in this task or thread, and what the newest message was then."""
_DONE: WeakSet[object] = WeakSet()
"""Those that were closed, wherever that was; whoever acts again is none of them."""


def is_record(message: JsonObject) -> bool:
    return message.get("role") == "user" and text_of(message.get("content")).startswith(OPENING)


def claimed_by_another(who: object, messages: Sequence[JsonObject]) -> bool:
    """Whether somebody else acts on this request; if not, it is ours from now on.

    The same newest message with nothing between tells a second look at one request from another
    run over the same task.  Where frameworks hide the first look, its records show it.
    """
    if any(map(is_record, messages)):
        return True
    newest = text_of(messages[-1].get("content") or messages[-1].get("output"))
    latest = _LATEST.get()
    owner = latest[0]() if latest else None
    if latest and owner not in (None, who) and owner not in _DONE and latest[1] == newest:
        return True
    _DONE.discard(who)
    _LATEST.set((ref(who), newest))
    return False


def release(who: object) -> None:
    """Whoever comes next may act: this one is done."""
    _DONE.add(who)
