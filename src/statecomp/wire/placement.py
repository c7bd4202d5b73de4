"""Putting summaries among kept messages, and re-homing cache markers that went with a span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from statecomp.history.history import History
from statecomp.history.interaction import Interaction, JsonObject, Summary
from statecomp.tokens import TokenCounter, count_message
from statecomp.wire.content import blocks, markers
from statecomp.wire.protocol import Wire


def render(history: History, wire: Wire) -> list[JsonObject]:
    """The message list to send; kept messages are the very objects that came in."""
    if not history.summaries:
        return history.messages
    messages = [message for _, message in _placed(history, wire)]
    if not wire.placement.merge or wire.placement.role != "user":
        return messages
    summaries = {id(m) for summary in history.summaries for m in summary.messages}
    return list(_merged(messages, summaries))


def lead_in_tokens(history: History, wire: Wire, count: TokenCounter) -> int:
    """What rendering adds to the tokens of the segments."""
    if not history.summaries:
        return 0
    return sum(count_message(message, count) for own, message in _placed(history, wire) if not own)


def _placed(history: History, wire: Wire) -> Iterator[tuple[bool, JsonObject]]:
    """Every message in order, and whether a segment holds it.

    The same segments always give the same messages: what was cached stays cached.
    """
    before: JsonObject | None = None
    for segment in history.segments:
        if isinstance(segment, Summary) and before is not None:
            for message in wire.lead_in(before):
                yield False, message
        for message in segment.messages:
            yield True, message
            before = message


def _merged(messages: Sequence[JsonObject], summaries: set[int]) -> Iterator[JsonObject]:
    """Two user messages in a row become one where one of them is a summary."""
    for speaks, run in groupby(messages, key=lambda message: message.get("role") == "user"):
        together = list(run)
        if speaks and any(id(message) in summaries for message in together):
            yield _joined(together, next(m for m in together if id(m) in summaries))
        else:
            yield from together


def _joined(messages: Sequence[JsonObject], summary: JsonObject) -> JsonObject:
    contents = [message.get("content") for message in messages]
    if all(isinstance(content, str) for content in contents):
        return {**messages[0], "content": "\n\n".join(map(str, contents))}
    # Protocols name their text blocks differently; the summary was written in the right one.  Only
    # the name is taken: a cache marker given to the summary is not everyone's.
    kind = blocks(summary.get("content"))[0].get("type")
    parts = [
        [{"type": kind, "text": content}] if isinstance(content, str) else blocks(content)
        for content in contents
    ]
    return {**messages[0], "content": [block for part in parts for block in part]}


def rehome_markers(effective: History, raw: History) -> History:
    """Give each summary the last cache marker its replaced messages carry in this request.

    A breakpoint that vanished with its message would silently end prompt caching there; two in
    one span fold into one, so the provider's limit of four still holds.
    """
    if not effective.summaries:
        return effective
    sources = {s.id: s for s in raw.segments if isinstance(s, Interaction)}
    return History(
        tuple(
            _with_marker(segment, sources) if isinstance(segment, Summary) else segment
            for segment in effective.segments
        )
    )


def _with_marker(summary: Summary, sources: dict[str, Interaction]) -> Summary:
    found = [
        marker
        for source in summary.sources
        if source in sources
        for message in sources[source].messages
        for marker in markers(message)
    ]
    if not found:
        return summary
    name, marker = found[-1]
    message = summary.messages[-1]
    parts = blocks(message.get("content"))
    marked = [*parts[:-1], {**parts[-1], name: marker}]
    return replace(summary, messages=(*summary.messages[:-1], {**message, "content": marked}))
