"""Messages as they are stored: masked, compressed, named by what they hold.

A history is re-sent with every request, so most of its messages are stored already; a page has the
same name wherever it occurs.  A secret found anywhere in a conversation is masked everywhere in it,
so what one message gives away changes the pages of the others.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from statecomp.history.identity import digest
from statecomp.history.interaction import JsonObject
from statecomp.history.patient_json import dumps
from statecomp.ledger.audit import LedgerFailed
from statecomp.recent import LruCache, Weighed

Known: TypeAlias = dict[str, str]
"""The secrets of a conversation, and what stands for each."""
Mask: TypeAlias = Callable[[JsonObject, Known], JsonObject]
"""A JSON object with its secrets masked, also those known; it adds what it finds to them."""

REMEMBERED_SESSIONS = 128
SHORT, FEW = 4000, 32
"""Characters of a text, and secrets, that it is remembered with."""
UNPACKED = 8
"""How many times its stored bytes a message takes in memory, about."""
SECRET_BYTES = 300
"""What a secret takes in memory beside its letters, about."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One stored message; `name` says what is in it."""

    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class SeenHistory:
    """A history as its session last told it: its messages, stored, and all they give away.

    All are remembered and forgotten together: pages without the secrets would let the next message
    tell them.  What is said `outside` of the messages gives away more, and has no page.
    """

    messages: tuple[JsonObject, ...] = ()
    pages: tuple[StoredMessage, ...] = ()
    secrets: Known = field(default_factory=dict)
    outside: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        texts = sum(1000 + UNPACKED * len(page.body) for page in self.pages)
        texts += sum(map(len, self.outside))
        return texts + sum(SECRET_BYTES + len(secret) for secret in self.secrets)


NOTHING_SEEN = SeenHistory()


class Pages:
    """Makes pages, each message of a growing history once.  Safe to share between threads."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._last: Weighed[str, SeenHistory] = Weighed(
            REMEMBERED_SESSIONS, lambda seen: seen.bytes
        )
        self._texts: LruCache[tuple[str, tuple[tuple[str, str], ...]], str] = LruCache(
            REMEMBERED_SESSIONS
        )

    def seen(self, session: str) -> SeenHistory:
        """What is remembered of this session."""
        return self._last.get(session) or NOTHING_SEEN

    def of_history(
        self, session: str, messages: Sequence[JsonObject], outside: tuple[str, ...] = ()
    ) -> SeenHistory:
        last = self.seen(session)
        secrets = dict(last.secrets)
        for text in outside if outside != last.outside else ():
            self._masked({"text": text}, secrets)
        made = tuple(
            last.pages[place]
            if place < len(last.messages) and last.messages[place] == message
            else self.page(message, secrets)
            for place, message in enumerate(messages)
        )
        if new := secrets.keys() - last.secrets.keys():
            made = tuple(
                self.page(message, secrets) if holds_any(message, new) else page
                for message, page in zip(messages, made, strict=True)
            )
        return self._last.put(session, SeenHistory(tuple(messages), made, secrets, outside))

    def page(self, message: JsonObject, known: Known) -> StoredMessage:
        text = written(self._masked(message, known))
        return StoredMessage(digest(text), zlib.compress(text.encode("ascii"), 3))

    def text(self, text: str, known: Known) -> str:
        """A text with its secrets masked."""
        if not text:
            return ""
        # A session's title and note are the same for many requests, and looked through for each.
        key = (text, tuple(known.items())) if len(text) <= SHORT and len(known) <= FEW else None
        masked = self._texts.get(key) if key is not None else None
        if masked is None:
            masked = str(self._masked({"text": text}, known)["text"])
            if key is not None and len(known) == len(key[1]):  # it gave nothing new away
                self._texts.put(key, masked)
        return masked

    def mapping(self, value: Mapping[str, Any], known: Known) -> str:
        """A JSON object with its secrets masked, as text."""
        return written(self._masked(value, known)) if value else "{}"

    def _masked(self, message: JsonObject, known: Known) -> JsonObject:
        try:
            return self._mask(message, known)
        except RecursionError as error:
            raise LedgerFailed("a message is nested too deeply to be stored") from error


def holds_any(value: Any, words: Collection[str]) -> bool:
    """Whether one of these words may stand in a JSON value; very many are not looked for."""
    if len(words) > FEW:
        return True
    if isinstance(value, str):
        return any(word in value for word in words)
    inside = value.values() if isinstance(value, Mapping) else value
    return isinstance(value, Mapping | list | tuple) and any(holds_any(v, words) for v in inside)


def written(value: Any) -> str:
    """JSON in ASCII; a value that has no JSON is stored by its own words."""
    try:
        return dumps(value, default=_plain)
    except (RecursionError, ValueError, TypeError) as error:
        raise LedgerFailed(f"a message cannot be stored as JSON ({error})") from error


def message_in(body: bytes) -> JsonObject:
    message: JsonObject = json.loads(zlib.decompress(body))
    return message


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
