"""Who reads a request: the thread that serves everybody, or one beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from threading import current_thread
from typing import Any

import pytest

from statecomp.history.interaction import JsonObject
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.account.exchange import Exchange
from statecomp.proxy.backoff import Backoff
from statecomp.proxy.metrics import Metrics
from statecomp.proxy.request.arrived import Arrived, RequestProgress, route_in
from statecomp.proxy.request.preparing import Prepared
from statecomp.proxy.request.reading import RequestReader
from statecomp.proxy.request.sending import Sender
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.tenants import TenantCompressors
from statecomp.testing.words import chat_of
from statecomp.tokens import ESTIMATE
from tests.proxy.small_upstream import Answer, Got, Joined, SmallUpstream
from tests.proxy.upstream import KEY

SETTINGS = ProxySettings(upstream="http://127.0.0.1:9", salt=b"s" * 32)
PATH = "/v1/chat/completions"
HERE = current_thread().name


class Told:
    """A token counter that knows in which threads it was asked."""

    name, exact = "told", False

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def __call__(self, text: str) -> int:
        self.threads.add(current_thread().name)
        return ESTIMATE(text)

    def taken(self) -> set[str]:
        threads, self.threads = self.threads, set()
        return threads


@pytest.fixture
def count() -> Told:
    return Told()


@pytest.fixture
def reader(count: Told) -> Iterator[RequestReader]:
    ledger = open_ledger(":memory:")
    reader = RequestReader(SETTINGS, TenantCompressors(SETTINGS, Method(count=count), ledger))
    yield reader
    reader.close()
    ledger.close()


def read(reader: RequestReader, messages: list[JsonObject]) -> None:
    body = json.dumps({"model": "gpt-5", "messages": messages}).encode()
    headers = [(b"authorization", f"Bearer {KEY}".encode())]
    scope = {"method": "POST", "path": PATH, "query_string": b"", "headers": headers}
    asyncio.run(reader.read(Arrived.of(scope, route_in(scope), SETTINGS), body))


def test_a_long_history_nobody_has_seen_is_not_read_by_the_thread_that_serves(
    reader: RequestReader, count: Told
) -> None:
    long: list[JsonObject] = [
        {"role": "user", "content": "The task."},
        *chat_of("r" * 40, "line of a log\n" * 100),
    ]
    read(reader, long)
    assert HERE not in count.taken()
    read(reader, [*long, {"role": "user", "content": "Go on."}])
    assert count.taken() == {HERE}


def test_a_short_history_is_read_at_once(reader: RequestReader, count: Told) -> None:
    read(reader, [{"role": "user", "content": "The task."}, *chat_of("rr")])
    assert count.taken() == {HERE}


MESSAGES: list[JsonObject] = [{"role": "user", "content": f"line {n}"} for n in range(4000)]
VALUES: list[JsonObject] = [
    {"role": "user", "content": [{"type": "text", "text": f"{n}", "odd": [[]] * 3000}]}
    for n in range(9)
]


@pytest.mark.parametrize("said", [MESSAGES, VALUES], ids=["messages", "values"])
def test_what_takes_long_again_each_time_is_not_read_by_the_thread_that_serves(
    reader: RequestReader, count: Told, said: list[JsonObject]
) -> None:
    """What is no step yet is read again with each request: a quarter of a second for these."""
    read(reader, said)
    count.taken()
    read(reader, [*said, {"role": "user", "content": "and?"}])
    assert HERE not in count.taken()


class Bytes(bytes):
    """A body that knows in which threads it was read."""

    threads: set[str]

    def decode(self, *how: Any, **named: Any) -> str:
        self.threads.add(current_thread().name)
        return super().decode(*how, **named)


def thinking(steps: int) -> Bytes:
    """A conversation whose thinking its model may refuse as stale."""
    thought = {"type": "thinking", "thinking": "Let me think. " * 500, "signature": "s"}
    steps_of: list[JsonObject] = [
        {"role": role, "content": [thought] if role == "assistant" else "Go on."}
        for _ in range(steps)
        for role in ("user", "assistant")
    ]
    body = Bytes(json.dumps({"model": "claude-fable-5-1", "messages": steps_of}).encode())
    body.threads = set()
    return body


def stale_at_first(got: Got) -> Answer:
    return Answer([b"{}"]) if b"drop_block" in got.body else Answer([b"thinking"], status=400)


@pytest.mark.parametrize("known", [True, False], ids=["known to be stale", "refused as stale"])
def test_a_long_request_with_stale_thinking_is_not_read_by_the_thread_that_serves(
    reader: RequestReader, *, known: bool
) -> None:
    """What asks for stale thinking to be dropped is put into the bytes that came."""

    async def sent(body: Bytes) -> Any:
        headers = [(b"x-api-key", KEY.encode())]
        scope = {"method": "POST", "path": "/v1/messages", "query_string": b"", "headers": headers}
        arrived = Arrived.of(scope, route_in(scope), SETTINGS)
        request = await reader.read(arrived, body)
        sender = Sender(SETTINGS, reader.engines.ledger, Backoff(), Metrics())
        sender._client = Joined(upstream)
        if known:
            sender._stale.put(request.session, 1)
        body.threads.clear()
        prepared = Prepared(arrived, body, request)
        progress = RequestProgress(Exchange("anthropic", "compress"))
        going = await sender.first(prepared)
        answer = await sender.answered(prepared, going, progress, lambda: None)
        await sender.close()
        return answer.status

    upstream = SmallUpstream(stale_at_first)
    for steps, where in ((2, True), (60, False)):
        body = thinking(steps)
        assert asyncio.run(sent(body)) == 200
        assert b"drop_block" in upstream.received[-1].body
        assert (body.threads == {HERE}) == where
        assert (HERE in body.threads) == where
