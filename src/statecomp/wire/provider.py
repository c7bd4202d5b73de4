"""What a provider is, as one value: all that is not the same for every one of them.

Whoever needs something of a provider (the proxy, the importers, the ledger's readers) asks this
value, so a new provider is a file that makes one, and a line in `wire/providers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from statecomp.history.interaction import JsonObject
from statecomp.llm.http import HttpChat
from statecomp.tokens.usage import Usage
from statecomp.wire.pairing import RecordedMessage
from statecomp.wire.protocol import Adapted, Placement, Wire

Json: TypeAlias = Mapping[str, Any]


def _never(given: Any) -> bool:
    return False


def _unread(found: Json) -> Usage | None:
    return None


def _as_recorded(entries: Sequence[RecordedMessage]) -> list[RecordedMessage]:
    return list(entries)


def _no_answer(told: Json) -> list[JsonObject]:
    return []


@dataclass(frozen=True, slots=True)
class Errors:
    """How a provider says that a request failed: its word for each status, and the JSON around."""

    words: Mapping[int, str]
    shape: Callable[[int, str, str], dict[str, Any]]

    def body(self, status: int, message: str) -> dict[str, Any]:
        return self.shape(status, self.words.get(status, "api_error"), message)


@dataclass(frozen=True)
class Provider:
    """One provider's protocol: messages, paths, errors, usage, caching, recordings.

    The defaults are those of a protocol that is only ever recorded.
    """

    name: str
    wire: Callable[[Placement], Wire]
    """Messages to histories and back, what is untouchable, what a rewrite must tell."""

    paths: tuple[str, ...] = ()
    """How the path of a request with a history ends; one with a `^` before it is the whole path."""
    counts: str = ""
    """What stands behind such a path where only a token count is asked for."""
    home: str = ""
    """Where its clients send requests when nobody says where."""
    known_by: frozenset[bytes] = frozenset()
    """Headers that only its clients send."""
    errors: Errors | None = None
    """How it says that a request failed; without, as OpenAI does."""

    caches_unasked: bool = True
    """False where nothing is cached but what the client marks."""
    drop_stale: Callable[[Json, Sequence[JsonObject], int], Adapted] | None = None
    """A body that asks for thinking made behind another prefix to be dropped, where that is needed;
    raises InvalidHistory where the client forbids it."""
    usage: Callable[[Json], Usage | None] = _unread
    """What a `usage` object says, or None where it is not of this provider's shape."""

    chat: type[HttpChat] | None = None
    """How a question of our own is asked, about labels or for records; None: it cannot be."""
    chat_name: str = ""
    """What people write before a model's name to have it asked so; one name a company."""

    tells: Callable[[JsonObject], bool] = _never
    """Whether a message can only be of this protocol."""
    asks: Callable[[Json], bool] = _never
    """Whether a request body can only be of this protocol, whatever its messages."""
    answer: Callable[[Json], list[JsonObject]] = _no_answer
    """A recorded answer as messages."""
    paired: Callable[[Sequence[RecordedMessage]], list[RecordedMessage]] = _as_recorded
    """A recording's messages with each call answered once, at once."""
    user_answers: bool = False
    """True where the user message behind an action is its observation."""

    def serves(self, path: str) -> bool:
        """Whether a request to this path, of a history or of its count, is this provider's."""
        end = path.removesuffix(self.counts)
        return any(end == p[1:] if p[0] == "^" else end.endswith(p) for p in self.paths)

    def is_count(self, path: str) -> bool:
        return bool(self.counts) and path.endswith(self.counts)
