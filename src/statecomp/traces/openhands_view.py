"""What an OpenHands agent sees: events as chat messages, and what a condensation leaves of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from statecomp.history.trajectory import Trajectory
from statecomp.traces.records import Origin, build, listed, mapping
from statecomp.wire.openai_chat.pairing import paired
from statecomp.wire.pairing import RecordedMessage


@dataclass(frozen=True, slots=True)
class Seen:
    """A message with the ids of the events it was made of."""

    entry: RecordedMessage
    events: tuple[str, ...]
    response: str = ""  # the model's answer it belongs to


@dataclass(slots=True)
class ModelView:
    """One agent's conversation while its events are read."""

    id: str
    origin: Origin
    parent: str = ""
    seen: list[Seen] = field(default_factory=list)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)
    delegates: list[ModelView] = field(default_factory=list)
    windows: list[list[Seen]] = field(default_factory=list)

    def add(self, event: Mapping[str, Any], entry: RecordedMessage, response: str = "") -> None:
        self.seen.append(Seen(entry, (str(event.get("id", "")),), response))

    def merge(
        self,
        event: Mapping[str, Any],
        response: str,
        grow: Callable[[RecordedMessage], RecordedMessage],
    ) -> bool:
        """Let a message of the same answer grow by an event; false where there is none."""
        for place in range(len(self.seen) - 1, -1, -1):
            found = self.seen[place]
            if response and found.response == response:
                events = (*found.events, str(event.get("id", "")))
                self.seen[place] = Seen(grow(found.entry), events, response)
                return True
        return False

    def keep(self, event: Mapping[str, Any], *, known: bool = True) -> None:
        self.events.append(event)
        if not known:
            kind = str(event.get("kind") or event.get("action") or event.get("observation"))
            self.unknown[kind] = self.unknown.get(kind, 0) + 1

    def condense(self, forgotten: Callable[[str], bool], told: Mapping[str, Any]) -> None:
        """Begin a new window with what is not forgotten, and the summary where one was made."""
        self.windows.append(list(self.seen))
        self.seen = [s for s in self.seen if not all(map(forgotten, s.events))]
        summary, offset = told.get("summary"), told.get("summary_offset")
        if summary and isinstance(offset, int):
            entry = RecordedMessage(
                {"role": "user", "content": str(summary)}, {"condensation": True}
            )
            # The offset counts events, and one message can hold several.
            place, events = 0, 0
            while place < len(self.seen) and events < offset:
                events += len(self.seen[place].events)
                place += 1
            self.seen.insert(place, Seen(entry, (f"{told.get('id', '')}-summary",)))

    def finished(self, recorded: Mapping[str, Any]) -> Iterator[Trajectory]:
        windows = [w for w in (*self.windows, self.seen) if _answered(w)]
        before = ""
        for place, window in enumerate(windows):
            run_id = f"{self.id}.{place + 1}" if place else self.id
            about: dict[str, Any] = {"parent": self.parent, "continues": before}
            if place == 0:
                about |= {**recorded, "events": self.events, "unknown": self.unknown}
            entries = paired([seen.entry for seen in window])
            calls = any(entry.message.get("tool_calls") for entry in entries)
            protocol = "openai-chat" if calls else "text-action"
            yield build(self.origin, run_id, protocol, entries, about)
            before = run_id

    def delegate(self, parent: ModelView, name: str) -> ModelView:
        """A conversation of its own for an agent that `parent` handed a task to."""
        child = ModelView(f"{self.id}-{name}", replace(self.origin, outcome=None), parent.id)
        self.delegates.append(child)
        return child


def _answered(window: list[Seen]) -> bool:
    return any(seen.entry.message.get("role") == "assistant" for seen in window)


def chat_content(parts: Any) -> Any:
    """OpenHands content as chat content: a plain string where it is all text."""
    if isinstance(parts, str) or parts is None:
        return parts or ""
    if isinstance(parts, Mapping):
        parts = [parts]
    found: list[dict[str, Any]] = []
    for part in map(mapping, listed(parts)):
        for url in listed(part.get("image_urls")):
            found.append({"type": "image_url", "image_url": {"url": url}})
        if isinstance(part.get("text"), str):
            found.append({"type": "text", "text": part["text"]})
        elif "image_urls" not in part:
            found.append(dict(part))
    if all(part.get("type") == "text" and isinstance(part.get("text"), str) for part in found):
        return "\n".join(part["text"] for part in found)
    return found
