"""From groups of messages to a history: ids by content, interaction numbers, token counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from statecomp.errors import InvalidHistory
from statecomp.history.history import History
from statecomp.history.identity import canonical, digest
from statecomp.history.interaction import Interaction, JsonObject, Pinned, Segment
from statecomp.tokens import ESTIMATE, TokenCounter, count_message
from statecomp.wire.protocol import Group, Wire


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where assembling goes on: the chain of ids so far and the number of the last interaction."""

    chain: str = ""
    number: int = 0


def assemble(
    groups: Iterable[Group], count: TokenCounter, cursor: Cursor = Cursor()
) -> Iterator[tuple[Segment, Cursor]]:
    """Each segment with the cursor behind it.

    An id names the segment together with all that came before it (a rolling hash), so a commit
    found by id can only be found in a history that holds the same past: forks, retries and edits
    need no session id.  System and developer messages are left out of the chain because clients
    put dates and moving state into them.
    """
    for group in groups:
        essence = canonical(group.essence)
        tokens = sum(count_message(message, count) for message in group.messages)
        if group.role in ("system", "developer"):
            yield Pinned(digest(essence), group.messages, tokens, group.role, group.text), cursor
            continue
        chain = digest(cursor.chain, essence)
        if group.role:
            cursor = Cursor(chain, cursor.number)
            yield Pinned(chain, group.messages, tokens, group.role, group.text), cursor
            continue
        cursor = Cursor(chain, cursor.number + 1)
        yield (
            Interaction(
                id=chain,
                number=cursor.number,
                messages=group.messages,
                tokens=tokens,
                reasoning=group.reasoning,
                said=group.said,
                calls=group.calls,
                observations=group.observations,
                locked=group.locked,
            ),
            cursor,
        )


def preamble(wire: Wire, body: Mapping[str, Any], count: TokenCounter) -> tuple[Pinned, ...]:
    """Pinned text outside the message list: it is read and paid for, but rendered by the body."""
    return tuple(
        Pinned(digest(role, text), (), count(text), role, text)
        for role, text in wire.preamble(body)
    )


def parse(
    source: Mapping[str, Any] | Sequence[JsonObject], wire: Wire, count: TokenCounter = ESTIMATE
) -> History:
    """A request body, or a bare message list, as a history."""
    body: Mapping[str, Any] = source if isinstance(source, Mapping) else {wire.key: source}
    messages = message_list(body, wire)
    try:
        segments = tuple(segment for segment, _ in assemble(wire.groups(messages), count))
    except RecursionError as error:
        raise InvalidHistory("is nested too deeply to be read", field=wire.key) from error
    return History((*preamble(wire, body, count), *segments))


def message_list(body: Mapping[str, Any], wire: Wire) -> Sequence[JsonObject]:
    messages = body.get(wire.key)
    if not isinstance(messages, list | tuple):
        raise InvalidHistory("is not a list of messages", field=wire.key)
    for place, message in enumerate(messages):
        # Asking for the type first is fifteen times as fast, for every message of every request.
        if type(message) is not dict and not isinstance(message, Mapping):
            raise InvalidHistory("is not a JSON object", field=f"{wire.key}[{place}]")
    return messages
