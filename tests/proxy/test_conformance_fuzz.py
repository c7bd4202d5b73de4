"""Random histories through the whole proxy, in one process: no request it makes is invalid."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.app import build_app
from statecomp.proxy.settings import ProxySettings
from statecomp.testing.provider.dialects import CHAT, MESSAGES, RESPONSES, Dialect
from statecomp.testing.provider.refusals import Refused
from statecomp.testing.provider.signing import sign_items, sign_messages
from statecomp.testing.words import OneLiner
from tests.proxy.small_upstream import Joined
from tests.proxy.upstream import upstream
from tests.wire import histories

PROTOCOLS = {
    "chat": (CHAT, histories.chat_messages),
    "responses": (RESPONSES, histories.responses_items),
    "messages": (MESSAGES, histories.anthropic_messages),
}
FILLER = " nothing to see here" * 30
VERSION = {"anthropic-version": "2023-06-01"}
THINKING = [None, {"type": "adaptive"}, {"type": "enabled", "budget_tokens": 1024}]
MODELS = {"chat": ["gpt-5"], "responses": ["gpt-5"], "messages": ["claude-fable-5-1", "claude-5"]}


@dataclass
class InProcess:
    """Client, proxy and upstream joined by function calls; one event loop for all of them."""

    after: int
    served: int = 0
    rewritten: int = 0
    keys: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.model = upstream()
        method = Method(
            lambda: AgeScorer(self.after),
            lambda account: OneLiner(),
            Gates(longer_than=0, min_source_tokens=0),
        )
        chosen = ProxySettings(upstream="http://127.0.0.1:9", commit="now")
        app = build_app(chosen, open_ledger(":memory:"), method)
        app.endpoint.sender._client = Joined(self.model.app)
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
        )
        self._runner = asyncio.Runner()

    def send(self, dialect: Dialect, key: str, body: Mapping[str, Any]) -> httpx.Response:
        content = json.dumps(body).encode()
        headers = {"authorization": f"Bearer {key}", **VERSION}
        answer = self._runner.run(self._client.post(dialect.path, content=content, headers=headers))
        self.served += 1
        self.rewritten += self.model.received[-1].raw != content
        return answer

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()


@contextmanager
def in_process(after: int) -> Iterator[InProcess]:
    joined = InProcess(after)
    try:
        yield joined
    finally:
        joined.close()


def accepted(dialect: Dialect, body: Mapping[str, Any], joined: InProcess) -> bool:
    try:
        dialect.check(body, VERSION, joined.model.rules)
    except Refused:
        return False
    return True


def bulky(value: Any) -> Any:
    """The same messages with results that are worth replacing."""
    if isinstance(value, list):
        return [bulky(part) for part in value]
    if not isinstance(value, dict):
        return value
    made = {key: bulky(part) for key, part in value.items()}
    is_result = made.get("role") in ("tool", "function") or "tool_use_id" in made
    field = "content" if is_result else "output"
    if isinstance(made.get(field), str):
        made[field] += FILLER
    return made


def body_of(name: str, messages: list[Any], model: str, thinking: Any) -> dict[str, Any]:
    messages = bulky(messages)
    body: dict[str, Any] = {"model": model, PROTOCOLS[name][0].key: messages}
    if name == "responses":
        return {**body, "input": sign_items(messages), "store": False}
    if name == "messages":
        body |= {"max_tokens": 100} | ({"thinking": thinking} if thinking else {})
        return sign_messages(body)
    return body


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_request_of_a_random_growing_history_is_ever_refused(name: str, after: int) -> None:
    dialect, lists = PROTOCOLS[name]
    with in_process(after) as joined:

        @settings(max_examples=45)
        @given(
            messages=lists(),
            model=st.sampled_from(MODELS[name]),
            thinking=st.sampled_from(THINKING),
        )
        def check(messages: list[Any], model: str, thinking: Any) -> None:
            whole = body_of(name, messages, model, thinking)
            key = f"sk-{next(joined.keys)}"
            for stop in range(1, len(messages) + 1):
                body = {**whole, dialect.key: whole[dialect.key][:stop]}
                if accepted(dialect, body, joined):
                    assert joined.send(dialect, key, body).status_code == 200
            assert joined.model.refusals == []

        check()
        assert joined.served > 150
        assert joined.rewritten > 20


@pytest.mark.parametrize("name", PROTOCOLS)
def test_retries_forks_and_edits_of_a_random_history_are_never_refused(name: str) -> None:
    dialect, lists = PROTOCOLS[name]
    with in_process(after=1) as joined:

        @settings(max_examples=30)
        @given(messages=lists(), data=st.data())
        def check(messages: list[Any], data: st.DataObject) -> None:
            key = f"sk-{next(joined.keys)}"
            for _ in range(4):
                stop = data.draw(st.integers(1, len(messages)))
                history = json.loads(json.dumps(messages[:stop]))
                if data.draw(st.booleans()):  # the user edits the task
                    history[0]["content"] = data.draw(st.sampled_from(["other", "third"]))
                body = body_of(name, history, MODELS[name][0], None)
                if accepted(dialect, body, joined):
                    first = joined.send(dialect, key, body)
                    sent = joined.model.received[-1].raw
                    assert first.status_code == joined.send(dialect, key, body).status_code == 200
                    # An option that forgives stale thinking may join; what is said stays the same.
                    again = json.loads(joined.model.received[-1].raw)
                    before = json.loads(sent)
                    assert {**again, "thinking": None} == {**before, "thinking": None}
            assert joined.model.refusals == []

        check()
        assert joined.served > 60
