"""Short answers that would not be given again stay; what can be looked up again does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.controller.holds import ONCE, holds_of
from statecomp.controller.once import shown_once, takes
from statecomp.testing.words import BULK, step
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat

PRICE = "https://offers.example/pages/lake-house"


def held(*turns: tuple[str, dict[str, Any], str]) -> list[int]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Do it."}]
    for place, (tool, arguments, answer) in enumerate(turns):
        messages += step(tool, json.dumps(arguments), answer, call_id=f"c{place}")
    history = parse(messages, OpenAIChat())
    reasons = holds_of(history, ()).reasons
    return [i.number for i in history.interactions if reasons.get(i.id) == ONCE]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("receive_message", "{}", True),
        ("queue.pop", "{}", True),
        ("getNextTicket", "{}", True),
        ("http", '{"url": "https://work.example/jobs/next?worker=3"}', True),
        ("bash", '{"cmd": "redis-cli LPOP jobs"}', True),
        ("bash", '{"cmd": "aws sqs receive-message --queue-url q"}', True),
        ("search_pdf_next_page", "{}", False),
        ("browser_snapshot_navigate_to_next_span", "{}", False),
        ("http", '{"url": "https://docs.example/next/index.html"}', False),
        ("bash", '{"cmd": "grep -rn pop src/next"}', False),
        ("get_messages", "{}", False),
    ],
)
def test_calls_that_take_something_out_are_known_by_their_names(
    tool: str, arguments: str, expected: bool
) -> None:
    assert takes(tool, arguments) is expected


def test_what_was_taken_from_a_queue_stays() -> None:
    job = '{"job": 17, "room": "B 204", "code": "ax-99"}'
    look = ("get_job", {"id": 17}, job)
    assert held(("receive_job", {}, job), look, ("receive_job", {}, "")) == [1]


@pytest.mark.parametrize(
    "said",
    [
        "Token: t-1. It is shown only once.",
        "Your key is k-9 and will not be displayed again.",
        "Enter the one-time code 4711 at the door.",
        "Recovery phrase: blue sea. Copy it now.",
    ],
)
def test_what_says_of_itself_that_it_comes_once_stays(said: str) -> None:
    assert held(("make_token", {}, said), ("read", {"path": "a"}, "plain text of a file")) == [1]


def test_an_address_that_answers_otherwise_shows_each_answer_once() -> None:
    first, second = ("price 120.50, ref o-17", "price 131.00, ref o-18")
    visits = [("http", {"url": PRICE}, answer) for answer in (first, second, second)]
    assert held(*visits) == [1, 2, 3]
    assert held(visits[1], visits[2]) == []


def test_moments_local_servers_and_long_pages_are_not_news() -> None:
    times = [("http", {"url": PRICE}, f"price 120.50 at 10:00:0{n}") for n in (1, 2)]
    local = [("http", {"url": "http://localhost:8000/x"}, f"state of things {n}") for n in (1, 2)]
    long = [("http", {"url": PRICE}, f"{BULK * 3}{n}") for n in (1, 2)]
    assert held(*times, *local, *long) == []


def test_an_answer_that_nothing_was_there_is_no_thing() -> None:
    assert held(("receive_job", {}, "none")) == []
    assert list(shown_once(())) == []
