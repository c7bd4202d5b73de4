"""Logs of requests: OpenAI chat and Responses bodies, Anthropic bodies, bare or wrapped.

An agent sends its whole history with every request, so a log holds each conversation many times.
A request that extends an earlier one, found by content, is the same run: the longest is kept, with
the answer it got.  System messages, cache markers and reasoning do not count for that: clients
change, move and drop them.  The usage of every request is in `recorded.requests`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from statecomp.errors import BadInput
from statecomp.history.identity import canonical, digest
from statecomp.history.trajectory import Trajectory
from statecomp.traces.format import Format
from statecomp.traces.records import Origin, build, listed, mapping, only, without
from statecomp.wire.anthropic.thinking import THINKING
from statecomp.wire.content import blocks, strip_markers
from statecomp.wire.openai_chat.wire import REASONING_KEYS
from statecomp.wire.pairing import RecordedMessage
from statecomp.wire.providers import detect, provider_named

NAME = "requests"
_WRAPPERS = (
    *("request", "body", "kwargs", "request_body", "json", "payload", "params", "data"),
    *("json_body", "parameters", "entry", "llm_request", "optional_params"),
)
_ANSWERS = ("response", "response_body", "output", "result", "completion", "llm_response")
_TIMES = (
    *("timestamp", "time", "created_at", "start_time", "startTime", "ts", "id", "request_id"),
    *("duration_ms", "latency", "status", "status_code", "cost", "response_cost", "url"),
)
# Rendered beside the messages, and read by whoever reads the run as a request.
_BESIDE = ("system", "instructions", "tools")
_DEPTH = 3


def recognises(records: Sequence[Any]) -> bool:
    return any(_body_in(record) is not None for record in records)


def runs(records: Iterable[Any], source: str) -> Iterator[Trajectory | BadInput]:
    log = _Log()
    for number, record in enumerate(records, start=1):
        body = _body_in(record)
        if body is None:
            yield BadInput(f"holds a record that is no request (number {number})", file=source)
            continue
        problem = log.add(body, mapping(record))
        if problem:
            yield BadInput(f"{problem} (request {number})", file=source)
    for talk in log.talks:
        yield talk.run(source)


@dataclass(slots=True)
class _Talk:
    """The longest request of one conversation so far, and what was answered to it."""

    id: str
    protocol: str
    body: Mapping[str, Any]
    messages: list[Mapping[str, Any]]
    answer: list[Mapping[str, Any]]
    requests: list[dict[str, Any]] = field(default_factory=list)

    def run(self, source: str) -> Trajectory:
        model = self.body.get("model") or next(
            (r["model"] for r in reversed(self.requests) if r.get("model")), ""
        )
        origin = Origin(
            source=source,
            scaffold="request log",
            group=self.id,
            model=str(model),
            extra=only(_BESIDE, self.body),
        )
        settings = without(("messages", "input", "model", *_BESIDE), self.body)
        recorded = {"requests": self.requests, "parameters": settings}
        entries = [RecordedMessage(message) for message in (*self.messages, *self.answer)]
        return build(origin, self.id, self.protocol, entries, recorded)


class _Log:
    """Conversations by the chain of their messages' contents."""

    def __init__(self) -> None:
        self.talks: list[_Talk] = []
        self._ends: dict[str, _Talk] = {}  # chain of a whole request -> its conversation
        self._inside: dict[str, _Talk] = {}  # chain of a part of one

    def add(self, body: Mapping[str, Any], record: Mapping[str, Any]) -> str:
        """Take a request in; says what is wrong with it, or nothing."""
        protocol = detect(body)
        messages = _messages(body)
        if not messages or not all(isinstance(m, Mapping) for m in messages):
            return "a request has no list of messages"
        chain = list(_chain(protocol, messages))
        answer, problem = _answer(protocol, record)
        talk = self._find(chain)
        if talk is None:
            talk = _Talk(f"request-{chain[-1][:16]}", protocol, body, messages, answer)
            self.talks.append(talk)
        elif len(messages) >= len(talk.messages):
            talk.body, talk.messages = body, messages
            talk.answer = answer or (talk.answer if chain[-1] in self._ends else [])
        talk.requests.append(_request_facts(len(messages), record))
        self._ends[chain[-1]] = talk
        self._inside.update(dict.fromkeys(chain, talk))
        return problem

    def _find(self, chain: Sequence[str]) -> _Talk | None:
        """The conversation this request is a part of, or goes on with."""
        if chain[-1] in self._inside:
            return self._inside[chain[-1]]
        return next((self._ends[link] for link in reversed(chain) if link in self._ends), None)


def _chain(protocol: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    link = protocol
    for message in messages:
        if message.get("role") not in ("system", "developer"):
            link = digest(link, canonical(_essence(message)))
        yield link


def _essence(message: Mapping[str, Any]) -> Any:
    kept = without((*REASONING_KEYS, "id", "status"), message)
    if isinstance(kept.get("content"), list):
        spoken = [b for b in blocks(kept["content"]) if mapping(b).get("type") not in THINKING]
        kept = {**kept, "content": spoken}
    return strip_markers(kept)


def _messages(body: Mapping[str, Any]) -> list[Any]:
    given = body.get("messages", body.get("input"))
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return listed(given)


def _body_in(record: Any, depth: int = 0) -> Mapping[str, Any] | None:
    """The request body in a log record; loggers wrap it, some as a JSON text."""
    record = _unwrapped(record)
    if not isinstance(record, Mapping):
        return None
    if _is_body(record):
        return record
    if depth < _DEPTH:
        for name in _WRAPPERS:
            found = _body_in(record[name], depth + 1) if name in record else None
            if found is not None:
                return found
    return None


def _is_body(record: Mapping[str, Any]) -> bool:
    messages = record.get("messages")
    if isinstance(messages, list):
        return any("role" in m or "type" in m for m in map(mapping, messages))
    return "model" in record and isinstance(record.get("input"), list | str)


def _unwrapped(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _answer(protocol: str, record: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], str]:
    """What the model answered, as messages of the protocol; and what is wrong with it."""
    told = _answer_in(record)
    if isinstance(told, str):
        return [], "an answer is a stream or plain text and was left out"
    return provider_named(protocol).answer(told), ""


def _answer_in(record: Mapping[str, Any], depth: int = 0) -> Mapping[str, Any] | str:
    for name in (*_ANSWERS, *(_WRAPPERS if depth else ())):
        told = _unwrapped(record.get(name))
        if isinstance(told, str) and told.strip():
            return told
        if isinstance(told, Mapping):
            shaped = any(key in told for key in ("choices", "output", "content"))
            return told if shaped or depth >= _DEPTH else _answer_in(told, depth + 1) or told
    return {}


def _request_facts(messages: int, record: Mapping[str, Any]) -> dict[str, Any]:
    answer = mapping(_answer_in(record))
    found = {"messages": messages, **only(_TIMES, record)}
    return found | only(("usage", "model", "stop_reason", "status"), answer)


FORMAT = Format(NAME, "logs of OpenAI and Anthropic requests", recognises, runs)
