"""What every format makes: messages, with what was recorded beside them, as a run in our layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.history.interaction import JsonObject
from statecomp.history.trajectory import Trajectory
from statecomp.wire.content import text_of
from statecomp.wire.pairing import NOTHING, RecordedMessage
from statecomp.wire.providers import provider_named

TASK_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Origin:
    """What all runs of one source share; `extra` stands beside the messages, as in a request."""

    source: str
    scaffold: str
    group: str
    model: str = ""
    source_repo: str = ""
    task: str = ""
    outcome: Any = None
    extra: JsonObject = field(default_factory=lambda: NOTHING)


def build(
    origin: Origin,
    run_id: str,
    protocol: str,
    entries: Sequence[RecordedMessage],
    recorded: Mapping[str, Any],
) -> Trajectory:
    """A run in the layout of our recordings; `recorded.messages` is aligned with the messages."""
    messages = tuple(entry.message for entry in entries)
    beside = [dict(entry.about) for entry in entries]
    kept = {name: value for name, value in recorded.items() if value not in (None, "", [], {})}
    if any(beside):
        kept["messages"] = beside
    about = {
        "id": run_id,
        "domain": "",
        "source_repo": origin.source_repo,
        "license": "",
        "scaffold": origin.scaffold,
        "model": origin.model,
        "task": origin.task or task_of(messages),
        "group": origin.group,
        "outcome": origin.outcome,
        "style": "text-action" if provider_named(protocol).user_answers else "tool-calls",
        "protocol": protocol,
        **origin.extra,
        "recorded": kept,
    }
    return Trajectory(
        id=run_id,
        messages=messages,
        protocol=protocol,
        group=origin.group,
        source=origin.source,
        about=about,
    )


def as_record(run: Trajectory) -> dict[str, Any]:
    """The JSON object that stands for a run in a file of ours."""
    named = {"id": run.id, "domain": run.domain, "group": run.group, "protocol": run.protocol}
    return {**run.about, **named, "messages": list(run.messages)}


def task_of(messages: Iterable[JsonObject]) -> str:
    """The first words of a user that no harness wrote."""
    for message in messages:
        if message.get("role") == "user":
            text = text_of(message.get("content")).strip()
            if text and not text.startswith("<"):
                return text[:TASK_CHARACTERS]
    return ""


def only(fields: Sequence[str], record: Mapping[str, Any]) -> dict[str, Any]:
    """The named fields that a record has."""
    return {name: record[name] for name in fields if record.get(name) not in (None, "", [], {})}


def without(fields: Sequence[str], record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in fields}


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is a JSON object, else an empty one: sources leave fields out."""
    return value if isinstance(value, Mapping) else NOTHING


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
