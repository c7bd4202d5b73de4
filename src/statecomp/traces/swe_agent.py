"""SWE-agent trajectories (`.traj`): one document with `history`, `trajectory` and `info`.

Versions 0.x (text actions), 1.x (tool calls, thinking blocks) and its retry loop, whose attempts
are runs of one group.  Where a history names several agents, each is a run of its own and
`recorded.parent` names the first's.  The history is what the agent kept; history processors may
have shown the model less.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.identity import canonical, digest
from statecomp.history.interaction import JsonObject
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format
from statecomp.traces.records import Origin, build, listed, mapping, only, without
from statecomp.wire.openai_chat.pairing import paired
from statecomp.wire.pairing import RecordedMessage

NAME = "swe-agent"
_BESIDE = ("message_type", "agent", "is_demo", "thought", "action", "tags", "tool_call_ids")
# What a step repeats of the history; everything else in it is kept.
_REPEATED = ("query", "response", "observation", "thought", "messages")


def recognises(records: Sequence[Any]) -> bool:
    return any(isinstance(record, Mapping) and _is_document(record) for record in records)


def _is_document(record: Mapping[str, Any]) -> bool:
    if any(_is_document(mapping(a)) for a in listed(record.get("attempts"))):
        return True
    steps, history = listed(record.get("trajectory")), listed(record.get("history"))
    acts = any("action" in s and "observation" in s for s in map(mapping, steps))
    told = any("role" in h and "agent" in h for h in map(mapping, history))
    return acts or (told and "trajectory_format" not in record)


def runs(records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]:
    for record in records:
        if not isinstance(record, Mapping) or not _is_document(record):
            yield BadInput("is no SWE-agent trajectory", file=source)
            continue
        attempts = [a for a in listed(record.get("attempts")) if _is_document(mapping(a))]
        for number, attempt in enumerate(attempts or [record], start=1):
            whole = {**without(("attempts", "history", "trajectory"), record), **attempt}
            yield from _attempt_runs(whole, source, number if attempts else 0)


def _attempt_runs(
    document: Mapping[str, Any], source: str, attempt: int
) -> Iterator[Trajectory | BadInput]:
    settings = _settings(document)
    items = listed(document.get("history")) or list(_from_steps(document))
    items = [item for item in map(mapping, items) if item.get("role")]
    if not any(item["role"] == "assistant" for item in items):
        yield BadInput("holds no message of a model", file=source)
        return
    task = str(mapping(settings.get("problem_statement")).get("id") or Path(source).name)
    task = task.split(".traj")[0]
    info = mapping(document.get("info"))
    origin = Origin(
        source=source,
        scaffold="SWE-agent",
        group=f"{NAME}-{task}",
        model=str(mapping(mapping(settings.get("agent")).get("model")).get("name") or ""),
        outcome=only(("exit_status", "submission", "score", "review"), info) or None,
    )
    first = f"{NAME}-{task}-{digest(canonical([dict(item) for item in items]))[:8]}"
    recorded = {
        "attempt": attempt or None,
        "info": without(("exit_status", "submission"), info),
        "environment": document.get("environment"),
        "settings": settings,
        "steps": [without(_REPEATED, mapping(step)) for step in listed(document.get("trajectory"))],
    }
    agents = list(dict.fromkeys(str(item.get("agent") or "") for item in items))
    for place, agent in enumerate(agents):
        own = [item for item in items if str(item.get("agent") or "") == agent]
        about = recorded if place == 0 else {"parent": first, "agent": agent}
        yield _run(origin, first if place == 0 else f"{first}-{agent}", own, about)


def _run(
    origin: Origin, run_id: str, items: Sequence[Mapping[str, Any]], recorded: Mapping[str, Any]
) -> Trajectory:
    entries = paired([entry for item in items for entry in _entries(item)])
    calls = any(entry.message.get("tool_calls") for entry in entries)
    return build(origin, run_id, "openai-chat" if calls else "text-action", entries, recorded)


def _entries(item: Mapping[str, Any]) -> Iterator[RecordedMessage]:
    known = ("role", "content", "tool_calls", "thinking_blocks", "cache_control", *_BESIDE)
    about = {**only(_BESIDE, item), **without(known, item)}
    message: dict[str, Any] = {"role": item["role"], "content": item.get("content") or ""}
    message |= only(("tool_calls", "cache_control"), item)
    if item.get("thinking_blocks"):
        message["reasoning"] = _thoughts(item["thinking_blocks"])
        message["thinking_blocks"] = item["thinking_blocks"]
    if item["role"] != "tool":
        yield RecordedMessage(message, about)
        return
    # One observation answers all calls of its step; each call gets it, or the protocol is broken.
    for call_id in listed(item.get("tool_call_ids")) or [item.get("tool_call_id") or ""]:
        yield RecordedMessage({**message, "tool_call_id": call_id}, about)


def _thoughts(thinking: Any) -> str:
    found = [str(mapping(b).get("thinking") or "") for b in listed(thinking)]
    return "\n".join(text for text in found if text) or "[redacted thinking]"


def _from_steps(document: Mapping[str, Any]) -> Iterator[JsonObject]:
    """Messages where no history was saved: the first query, then each response and observation."""
    steps = [mapping(step) for step in listed(document.get("trajectory"))]
    for message in listed(steps[0].get("query")) if steps else []:
        if mapping(message).get("role"):
            yield message
    for step in steps:
        said = step.get("response") or "\n".join(
            str(step[name]) for name in ("thought", "action") if step.get(name)
        )
        yield {"role": "assistant", "content": said}
        yield {"role": "user", "content": step.get("observation") or ""}


def _settings(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """`replay_config` is a JSON text inside the document."""
    told = document.get("replay_config")
    if isinstance(told, str):
        try:
            told = json.loads(told)
        except (ValueError, RecursionError):
            return {"replay_config": told}
    return mapping(told)


FORMAT = Format(NAME, "SWE-agent trajectories", recognises, runs)
