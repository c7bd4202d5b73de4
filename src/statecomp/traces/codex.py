"""Codex rollouts: lines of `session_meta`, `response_item`, `event_msg`, `compacted` and others.

Also read: the rollouts of 2025 whose lines are bare items behind a header line, and the single
document of the first Codex (`session` and `items`).

Compaction: a `compacted` line ends a context window, and with it a run.  The next run begins with
the replacement history the line holds (older rollouts hold a summary only: then with the user's
own messages and that summary, as Codex itself resumes them); `recorded.continues` names the run
before.  A sub-thread is a file of its own: it becomes a run in its session's group, and
`recorded.parent` names the thread that spawned it.  Turns that were rolled back are in
`recorded.abandoned`; all that is no item of the model's input is in `recorded.events`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.interaction import JsonObject
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format
from statecomp.traces.records import Origin, build, listed, mapping, only, task_of, without
from statecomp.wire.content import text_of
from statecomp.wire.openai_responses.items import Maker, kind_of, maker_of
from statecomp.wire.openai_responses.pairing import paired
from statecomp.wire.pairing import RecordedMessage

NAME = "codex"
TELLING = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
LINES = frozenset(
    {*TELLING, "world_state", "security_risk_score", "token_usage_record"}
    | {"inter_agent_communication", "inter_agent_communication_metadata"}
)
# Not part of the model's input, though some versions write them as items.
_NO_INPUT = ("ghost_snapshot", "other", "compaction_trigger")
# User messages that Codex writes itself: they begin no turn.
_CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<")


def recognises(records: Sequence[Any]) -> bool:
    found = [record for record in records if isinstance(record, Mapping)]
    lines = any(r.get("type") in TELLING and isinstance(r.get("payload"), Mapping) for r in found)
    return lines or _is_bare(found) or any(_is_document(record) for record in found)


def _is_bare(records: Sequence[Mapping[str, Any]]) -> bool:
    """A header without a type, then items, each of a type of its own."""
    head = records[0] if records else {}
    header = "id" in head and "timestamp" in head and "type" not in head and "messages" not in head
    rest = [record for record in records[1:] if "record_type" not in record]
    return header and bool(rest) and all(_is_item(record) for record in rest)


def _is_item(record: Mapping[str, Any]) -> bool:
    return "payload" not in record and "type" in record and maker_of(record) is not Maker.UNKNOWN


def _is_document(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("session"), Mapping) and isinstance(record.get("items"), list)


def runs(records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]:
    reader = _Reader(source)
    for record in records:
        if not isinstance(record, Mapping):
            yield BadInput("holds a record that is no JSON object", file=source)
        elif _is_document(record):
            reader.header(record["session"])
            for item in record["items"]:
                reader.item(mapping(item), {})
        else:
            reader.line(record)
    yield from reader.finished()


@dataclass(slots=True)
class _Reader:
    """What was read so far of one rollout: the window that is open, and what stands beside it."""

    source: str
    meta: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    entries: list[RecordedMessage] = field(default_factory=list)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    abandoned: list[JsonObject] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)
    compaction: Mapping[str, Any] = field(default_factory=dict)
    outcome: Any = None
    task: str = ""
    done: list[Trajectory] = field(default_factory=list)

    def line(self, record: Mapping[str, Any]) -> None:
        kind, payload = record.get("type"), record.get("payload")
        if not isinstance(payload, Mapping):
            if _is_item(record):
                self.item(record, {})
            elif "record_type" in record or not self._header_line(record):
                self.keep(record)
            return
        about = only(("timestamp", "ordinal", "metadata"), record)
        if kind == "response_item":
            self.item(payload, about)
        elif kind == "inter_agent_communication":
            self.item(_agent_message(payload), about)
        elif kind == "compacted":
            self.close()
            self.restart(payload)
        elif kind == "session_meta" and not self.meta:
            self.header(payload)
        else:
            self.keep(record)

    def _header_line(self, record: Mapping[str, Any]) -> bool:
        if self.meta or "id" not in record or "type" in record:
            return False
        self.header(record)
        return True

    def header(self, meta: Mapping[str, Any]) -> None:
        self.meta = meta

    def item(self, payload: JsonObject, about: Mapping[str, Any]) -> None:
        if kind_of(payload) in _NO_INPUT or not payload:
            self.keep({**about, "type": "response_item", "payload": payload})
            return
        self.entries.append(RecordedMessage(payload, about))

    def keep(self, record: Mapping[str, Any]) -> None:
        """Anything that is no input: kept beside, after looking at what it says."""
        self.events.append(record)
        kind, payload = str(record.get("type")), mapping(record.get("payload"))
        if kind not in LINES and "record_type" not in record:
            self.unknown[kind] = self.unknown.get(kind, 0) + 1
        if kind == "turn_context" and payload.get("model"):
            self.model = str(payload["model"])
        event = str(payload.get("type"))
        if kind != "event_msg":
            return
        if event == "token_count":
            self._used(mapping(payload.get("info")))
        elif event in ("task_complete", "turn_complete", "turn_aborted"):
            self.outcome = {"ended": event, **only(("reason", "error"), payload)}
        elif event == "thread_rolled_back":
            self._roll_back(int(payload.get("num_turns") or 0))

    def _used(self, info: Mapping[str, Any]) -> None:
        """Usage comes in an event behind the answer it counts."""
        usage = info.get("last_token_usage")
        for place in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[place]
            if maker_of(entry.message) is Maker.MODEL:
                if usage and "usage" not in entry.about:
                    about = {**entry.about, "usage": usage}
                    self.entries[place] = RecordedMessage(entry.message, about)
                return

    def _roll_back(self, turns: int) -> None:
        begun = [n for n, entry in enumerate(self.entries) if _begins_turn(entry.message)]
        if turns and begun:
            cut = begun[max(0, len(begun) - turns)]
            self.abandoned += [entry.message for entry in self.entries[cut:]]
            del self.entries[cut:]

    def restart(self, payload: Mapping[str, Any]) -> None:
        """The window behind a compaction begins with what the compaction left."""
        history = payload.get("replacement_history")
        if isinstance(history, list):
            metadata = listed(payload.get("replacement_history_metadata"))
            told = metadata if len(metadata) == len(history) else [{}] * len(history)
            pairs = zip(history, told, strict=True)
            self.entries = [
                RecordedMessage(item, {"metadata": m} if m else {}) for item, m in pairs
            ]
        else:
            asked = [entry for entry in self.entries if _begins_turn(entry.message)]
            self.entries = [*asked, RecordedMessage(_user(str(payload.get("message") or "")))]
        self.compaction = without(("replacement_history", "replacement_history_metadata"), payload)

    def close(self) -> None:
        """End the window; it is a run where the model did anything in it."""
        entries = paired(self.entries)
        if not any(maker_of(entry.message) is Maker.MODEL for entry in entries):
            return
        thread = str(self.meta.get("id") or "thread")
        run_id = f"{NAME}-{thread}.{len(self.done) + 1}" if self.done else f"{NAME}-{thread}"
        asked = (entry.message for entry in self.entries if _begins_turn(entry.message))
        self.task = self.task or task_of(asked)
        recorded = {
            "parent": f"{NAME}-{parent}" if (parent := _parent(self.meta)) else "",
            "continues": self.done[-1].id if self.done else "",
            "session": without(("base_instructions",), self.meta),
            **self._beside(),
        }
        origin = self._origin(thread)
        self.done.append(build(origin, run_id, "openai-responses", entries, recorded))
        self.events, self.abandoned, self.unknown = [], [], {}

    def _beside(self) -> dict[str, Any]:
        names = ("compaction", "abandoned", "events", "unknown")
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    def _origin(self, thread: str) -> Origin:
        meta = self.meta
        # `instructions`, in older rollouts, were the user's; they stand among the items too.
        told = meta.get("base_instructions")
        instructions = told.get("text") if isinstance(told, Mapping) else told
        return Origin(
            source=self.source,
            scaffold="Codex",
            group=f"{NAME}-{meta.get('session_id') or _parent(meta) or thread}",
            model=self.model or str(meta.get("model") or ""),
            source_repo=str(mapping(meta.get("git")).get("repository_url") or ""),
            task=self.task,
            outcome=self.outcome,
            extra={"instructions": instructions} if instructions else {},
        )

    def finished(self) -> list[Trajectory | BadInput]:
        before = len(self.done)
        self.close()
        if not self.done:
            return [BadInput("holds no message of a model", file=self.source)]
        if before < len(self.done):
            return [*self.done]
        # The session ended behind a compaction, before the model was asked again.
        last = self.done[-1]
        unasked = {**self._beside(), "entries": [entry.message for entry in self.entries]}
        about = {**last.about, "recorded": {**last.about["recorded"], "unasked": unasked}}
        return [*self.done[:-1], replace(last, about=about)]


def _begins_turn(item: JsonObject) -> bool:
    if kind_of(item) != "message" or item.get("role") != "user":
        return False
    return not text_of(item.get("content")).lstrip().startswith(_CONTEXT)


def _user(text: str) -> JsonObject:
    content = [{"type": "input_text", "text": text or "(no summary available)"}]
    return {"type": "message", "role": "user", "content": content}


def _agent_message(payload: Mapping[str, Any]) -> JsonObject:
    """What another agent said, as the item Codex makes of it for the model."""
    text = str(payload.get("content") or "")
    content: list[JsonObject] = [{"type": "input_text", "text": text}] if text else []
    if payload.get("encrypted_content"):
        sealed = payload["encrypted_content"]
        content.append({"type": "encrypted_content", "encrypted_content": sealed})
    named = without(("content", "encrypted_content"), payload)
    return {"type": "agent_message", **named, "content": content}


def _parent(meta: Mapping[str, Any]) -> str:
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return str(meta.get("parent_thread_id") or spawned.get("parent_thread_id") or "")


FORMAT = Format(NAME, "Codex rollouts", recognises, runs)
