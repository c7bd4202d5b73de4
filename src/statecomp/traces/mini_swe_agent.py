"""mini-swe-agent trajectories (`.traj.json`): `messages`, `info` and a `trajectory_format`.

Formats mini-swe-agent-1 (text actions) and 1.1 (tool calls, or Responses objects as messages).
What a message carries under `extra` (actions, cost, time, return code) is in `recorded.messages`;
the closing message that says how the run ended is the run's `outcome`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.identity import canonical, digest
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format
from statecomp.traces.records import Origin, build, listed, mapping, only, without
from statecomp.wire.openai_chat.wire import REASONING_KEYS
from statecomp.wire.pairing import RecordedMessage
from statecomp.wire.providers import provider_named

NAME = "mini-swe-agent"
_RESULT = "function_call_output"


def recognises(records: Sequence[Any]) -> bool:
    return any(isinstance(record, Mapping) and _is_document(record) for record in records)


def _is_document(record: Mapping[str, Any]) -> bool:
    if not isinstance(record.get("messages"), list):
        return False
    info = mapping(record.get("info"))
    named = str(record.get("trajectory_format") or "").startswith(NAME)
    return named or "mini_version" in info or ("exit_status" in info and "model_stats" in info)


def runs(records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]:
    for record in records:
        if not isinstance(record, Mapping) or not _is_document(record):
            yield BadInput("is no mini-swe-agent trajectory", file=source)
            continue
        messages = [m for m in record["messages"] if isinstance(m, Mapping)]
        if len(messages) < len(record["messages"]):
            yield BadInput("is not only JSON objects", file=source, field="messages")
        ends = [m for m in messages if m.get("role") == "exit"]
        spoken = [m for m in messages if m.get("role") != "exit"]
        if not any(_answers(m) for m in spoken):
            yield BadInput("holds no message of a model", file=source)
            continue
        yield _run(record, spoken, ends, source)


def _answers(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" or message.get("object") == "response"


def _run(
    record: Mapping[str, Any],
    messages: Sequence[Mapping[str, Any]],
    ends: Sequence[Mapping[str, Any]],
    source: str,
) -> Trajectory:
    info = mapping(record.get("info"))
    model = mapping(mapping(info.get("config")).get("model"))
    task = str(record.get("instance_id") or Path(source).name.split(".traj")[0])
    protocol = _protocol(messages)
    read = _READERS.get(protocol, _chat_entries)
    entries = provider_named(protocol).paired([e for m in messages for e in read(m)])
    origin = Origin(
        source=source,
        scaffold="mini-swe-agent",
        group=f"{NAME}-{task}",
        model=str(model.get("model_name") or ""),
        outcome=only(("exit_status", "submission"), info) or None,
    )
    recorded = {
        "format": record.get("trajectory_format"),
        "info": without(("exit_status", "submission"), info),
        "exit": list(ends),
        "document": without(("messages", "info", "trajectory_format"), record),
    }
    content = digest(canonical([dict(m) for m in messages]))[:8]
    return build(origin, f"{NAME}-{task}-{content}", protocol, entries, recorded)


def _protocol(messages: Sequence[Mapping[str, Any]]) -> str:
    if any(m.get("object") == "response" or m.get("type") == _RESULT for m in messages):
        return "openai-responses"
    calls = any(m.get("tool_calls") or m.get("role") == "tool" for m in messages)
    return "openai-chat" if calls else "text-action"


def _chat_entries(message: Mapping[str, Any]) -> Iterator[RecordedMessage]:
    plain = {k: v for k, v in without(("extra",), message).items() if v is not None}
    plain.setdefault("content", None if plain.get("tool_calls") else "")
    extra = mapping(message.get("extra"))
    answer = mapping(extra.get("response"))
    choice = mapping((listed(answer.get("choices")) or [None])[0])
    # The first format kept the answer's text alone; its reasoning is in the raw response.
    thought = only(REASONING_KEYS, mapping(choice.get("message")))
    if message.get("role") == "assistant":
        plain = {**thought, **plain}
    yield RecordedMessage(plain, _beside(message))


def _response_entries(message: Mapping[str, Any]) -> Iterator[RecordedMessage]:
    if message.get("object") != "response":
        yield RecordedMessage(without(("extra",), message), _beside(message))
        return
    about = {**without(("output", "extra", "object"), message), **_beside(message)}
    told = {name: value for name, value in about.items() if value not in (None, [], {})}
    for place, item in enumerate(listed(message.get("output"))):
        plain = {k: v for k, v in mapping(item).items() if v is not None and k != "extra"}
        yield RecordedMessage(plain, told if place == 0 else {})


def _beside(message: Mapping[str, Any]) -> dict[str, Any]:
    """What stands under `extra`; a response whose text is the message itself is not kept twice."""
    extra = dict(mapping(message.get("extra")))
    answer = extra.get("response")
    if message.get("role") == "assistant" and isinstance(answer, Mapping):
        extra["response"] = without(("choices",), answer)
    return extra


_READERS = {"openai-responses": _response_entries}


FORMAT = Format(NAME, "mini-swe-agent trajectories", recognises, runs)
