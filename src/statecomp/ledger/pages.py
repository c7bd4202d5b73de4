"""Messages as they are stored: masked, compressed, named by what they hold.

A history is re-sent with every request, so most of its messages are stored already; a page has the
same name wherever it occurs.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from statecomp.history.interaction import JsonObject
from statecomp.ledger.audit import LedgerFailed
from statecomp.recent import Recent
from statecomp.wire.assemble import digest

Mask: TypeAlias = Callable[[JsonObject], JsonObject]
"""A JSON object with its secrets masked."""

REMEMBERED_SESSIONS = 128


@dataclass(frozen=True, slots=True)
class Page:
    """One stored message; `name` says what is in it."""

    name: str
    body: bytes


class Pages:
    """Makes pages, each message of a growing history once.  Safe to share between threads."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._last: Recent[str, tuple[tuple[JsonObject, ...], tuple[Page, ...]]] = Recent(
            REMEMBERED_SESSIONS
        )

    def of_history(self, session: str, messages: Sequence[JsonObject]) -> tuple[Page, ...]:
        known, pages = self._last.get(session) or ((), ())
        made = tuple(
            pages[place] if place < len(known) and known[place] == message else self.page(message)
            for place, message in enumerate(messages)
        )
        self._last.put(session, (tuple(messages), made))
        return made

    def page(self, message: JsonObject) -> Page:
        text = written(self._masked(message))
        return Page(digest(text), zlib.compress(text.encode("ascii"), 3))

    def text(self, text: str) -> str:
        """A text with its secrets masked."""
        return str(self._masked({"text": text})["text"]) if text else ""

    def mapping(self, value: Mapping[str, Any]) -> str:
        """A JSON object with its secrets masked, as text."""
        return written(self._masked(value)) if value else "{}"

    def _masked(self, message: JsonObject) -> JsonObject:
        try:
            return self._mask(message)
        except RecursionError as error:
            raise LedgerFailed("a message is nested too deeply to be stored") from error


def written(value: Any) -> str:
    """JSON in ASCII; a value that has no JSON is stored by its own words."""
    try:
        return json.dumps(value, default=_plain)
    except (RecursionError, ValueError, TypeError) as error:
        raise LedgerFailed(f"a message cannot be stored as JSON ({error})") from error


def message_in(body: bytes) -> JsonObject:
    message: JsonObject = json.loads(zlib.decompress(body))
    return message


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
