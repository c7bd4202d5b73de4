"""What is remembered: enough for many conversations at once, and no more than was said."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from statecomp.cli.server import COLLECT
from statecomp.history.interaction import JsonObject
from statecomp.ledger.open import open_ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.settings import MEGABYTE, Limits, ProxySettings
from statecomp.testing.words import chat_of
from statecomp.tokens import ESTIMATE
from statecomp.wire.conversations import ConversationCache
from statecomp.wire.incremental import IncrementalReader
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.proxy.small_upstream import EAGER, REPLY, Joined

MANY = 64


class Counting:
    """A token counter that knows how often it was asked."""

    name, exact = "counting", False

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, text: str) -> int:
        self.asked += 1
        return ESTIMATE(text)


def conversation(number: int, word: str = "rrrrrr") -> list[JsonObject]:
    system = {"role": "system", "content": "The same for all. " * 50}
    return [system, {"role": "user", "content": f"task {number}"}, *chat_of(word)]


def again(messages: list[JsonObject]) -> list[JsonObject]:
    """The same messages as the next request brings them: other objects."""
    copied: list[JsonObject] = json.loads(json.dumps(messages))
    return copied


def test_many_conversations_that_begin_alike_are_each_read_once() -> None:
    count = Counting()
    reader = IncrementalReader(OpenAIChat(), count, shelf=ConversationCache(MANY))
    talks = [conversation(number) for number in range(MANY)]
    first = [reader.read({"messages": talk}) for talk in talks]
    asked = count.asked
    second = [reader.read({"messages": again(talk)}) for talk in talks]
    assert count.asked == asked
    assert [h.segments for h in first] == [h.segments for h in second]


def test_a_fork_stands_beside_the_run_it_came_from() -> None:
    count = Counting()
    reader = IncrementalReader(OpenAIChat(), count)
    run, fork = conversation(1, "rrrrrr"), conversation(1, "rrrkkk")
    for talk in (run, fork):
        reader.read({"messages": talk})
    asked = count.asked
    for talk in (run, fork, run):
        reader.read({"messages": again(talk)})
    assert count.asked == asked


def test_a_shelf_stays_within_its_bounds_and_forgets_the_longest_unread() -> None:
    one = IncrementalReader(OpenAIChat()).read({"messages": conversation(0)}).tokens
    by_number, by_tokens = ConversationCache(3), ConversationCache(100, tokens=3 * one + one // 2)
    for shelf in (by_number, by_tokens):
        count = Counting()
        reader = IncrementalReader(OpenAIChat(), count, shelf=shelf)
        for number in (0, 1, 2, 0, 3):  # 1 was not read for longest
            reader.read({"messages": conversation(number)})
        assert len(shelf) == 3
        asked = count.asked
        for number in (0, 2, 3):
            reader.read({"messages": conversation(number)})
        assert count.asked == asked
        reader.read({"messages": conversation(1)})
        assert count.asked > asked


def test_readers_on_one_shelf_see_nothing_of_each_other() -> None:
    shelf, counts = ConversationCache(), [Counting(), Counting()]
    for count in counts:
        IncrementalReader(OpenAIChat(), count, shelf=shelf).read({"messages": conversation(1)})
    assert counts[0].asked == counts[1].asked > 0
    assert len(shelf) == 2


class Straight:
    """The proxy without sockets, before an upstream without sockets."""

    def __init__(self, store: Path) -> None:
        settings = ProxySettings(
            upstream="http://up",
            commit="now",
            limits=Limits(conversations=32, memory_bytes=4 * MEGABYTE),
        )
        self.app = build_app(
            settings, open_ledger(str(store), mask=lambda message, known: message), EAGER
        )
        self.endpoint = self.app.endpoint
        self.endpoint.sender._client = Joined(JSONResponse(REPLY))

    async def post(self, body: bytes) -> int:
        parts: Iterator[Any] = iter([{"type": "http.request", "body": body, "more_body": False}])
        statuses: list[int] = []

        async def receive() -> Any:
            if (part := next(parts, None)) is not None:
                return part
            return await asyncio.Event().wait()

        async def send(message: Any) -> None:
            statuses.extend([message["status"]] if "status" in message else [])

        scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions"}
        headers = [(b"host", b"127.0.0.1"), (b"authorization", b"Bearer sk-test")]
        await self.app({**scope, "query_string": b"", "headers": headers}, receive, send)
        return statuses[0]


def resident_bytes() -> int:
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_memory_does_not_grow_with_what_went_through(tmp_path: Path) -> None:
    straight, sizes = Straight(tmp_path / "ledger.sqlite"), []

    async def all_of_them() -> None:
        for number in range(320):
            # Long and dull: what is remembered of a text is small beside the text.
            talk = conversation(number, "rrrr")
            talk[-1] = {**talk[-1], "content": "all of it is dull " * 3000}
            body = json.dumps({"model": "small", "messages": talk}).encode()
            assert await straight.post(body) == 200
            if number + 1 in (160, 320):  # the caches are full by then
                straight.endpoint.accountant.flush()
                sizes.append(resident_bytes())
            went.append(len(body))

    went: list[int] = []
    asyncio.run(all_of_them())
    assert sizes[1] - sizes[0] < sum(went[160:]) / 2


def test_the_collector_looks_at_few_new_objects_at_once() -> None:
    """It stops everybody meanwhile: 400,000 of them took a quarter of a second."""
    looked: list[int] = []

    def noted(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] < 2:
            young = range(info["generation"] + 1)
            looked.append(sum(len(gc.get_objects(generation=number)) for number in young))

    before = gc.get_threshold()
    gc.callbacks.append(noted)
    gc.set_threshold(*COLLECT)
    try:
        kept = [[number] for number in range(500_000)]
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(noted)
    assert len(kept) == 500_000
    assert len(looked) > 100
    assert max(looked) < 50_000


def test_a_message_that_is_the_same_object_is_looked_at_again_unless_nobody_changes_any() -> None:
    for unchanging, told in ((False, "other"), (True, "fine")):
        reader = IncrementalReader(OpenAIChat(), shelf=ConversationCache(unchanging=unchanging))
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": "task"},
            {"role": "assistant", "content": "fine"},
        ]
        reader.read({"messages": messages})
        messages[1]["content"] = "other"
        assert reader.read({"messages": messages}).segments[-1].text == told
