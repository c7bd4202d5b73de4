"""Bytes pass as they come: nothing is held, nothing is rebuilt, and who leaves is noticed."""

from __future__ import annotations

import json
import socket
import zlib
from itertools import pairwise
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.proxy.settings import Limits
from statecomp.proxy.stream import LONGEST, QUICK, UsageReader
from statecomp.testing.words import chat_of
from statecomp.tokens.usage import MOST_TOKENS, Usage
from tests.growth import growth
from tests.proxy.small_upstream import KEY, Answer, SmallUpstream, running

STREAM = [("content-type", "text/event-stream"), ("x-request-id", "7")]
CHAT = [
    b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',
    b'data: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":9,',
    b'"prompt_tokens_details":{"cached_tokens":40}}}\r\n\r\n',
    b"data: [DONE]\n\n",
]
MESSAGES = [
    b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,'
    b'"cache_read_input_tokens":40,"cache_creation_input_tokens":7,"output_tokens":1}}}\n\n',
    b'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":12}}\n\n',
]
RESPONSES = [
    b'event: response.created\ndata: {"type":"response.created","response":{"usage":null}}\n\n',
    b'event: response.completed\ndata: {"type":"response.completed","response":{"usage":'
    b'{"input_tokens":50,"input_tokens_details":{"cached_tokens":32},"output_tokens":4}}}\n\n',
]
TOLD = [
    (CHAT, Usage(50, 40, 0, 9)),
    (MESSAGES, Usage(50, 40, 7, 12)),
    (RESPONSES, Usage(50, 32, 0, 4)),
]
PATIENCE_S = 30
ABSURD = [10**30, MOST_TOKENS + 1, -5, 1.5, True, "12", None, [3], {}]


def body(*, stream: bool = True, word: str = "p") -> dict[str, Any]:
    return {"model": "small", "stream": stream, "messages": chat_of(word)}


def test_each_piece_arrives_before_the_upstream_sends_the_next() -> None:
    go = Event()
    upstream = SmallUpstream(lambda got: Answer(CHAT, headers=STREAM, go=go))
    with running(upstream) as proxy:
        path = "/v1/chat/completions"
        with proxy.client.stream("POST", path, json=body(word="prrrr"), headers=KEY) as answer:
            pieces = answer.iter_raw()
            assert next(pieces) == CHAT[0]
            assert upstream.sent_chunks == 1  # it waits until we say that we have seen the first
            go.set()
            assert CHAT[0] + b"".join(pieces) == b"".join(CHAT)
            assert answer.headers["x-request-id"] == "7"
        ledger = proxy.drain()
        (session,) = ledger.sessions()
        (request,) = ledger.requests(session.id)
        assert request.usage == Usage(50, 40, 0, 9)


def test_a_client_that_goes_away_ends_the_call_to_the_upstream() -> None:
    upstream = SmallUpstream(lambda got: Answer(CHAT, headers=STREAM, go=Event()))
    with running(upstream) as proxy:
        path = "/v1/chat/completions"
        with proxy.client.stream("POST", path, json=body(), headers=KEY) as answer:
            next(answer.iter_raw())
        assert upstream.left.wait(PATIENCE_S)
        proxy.drain()
        assert proxy.endpoint.open_requests == 0
        assert proxy.endpoint.metrics.value("statecomp_disconnects_total") == 1


def test_a_client_that_goes_away_before_the_answer_begins_ends_it_too() -> None:
    upstream = SmallUpstream(lambda got: Answer([b"{}"], delay_s=PATIENCE_S))
    with running(upstream) as proxy:
        with pytest.raises(httpx.ReadTimeout):
            proxy.client.post("/v1/chat/completions", json=body(), headers=KEY, timeout=0.5)
        assert upstream.left.wait(PATIENCE_S)


def test_an_upload_that_stops_half_way_ends_the_call_to_the_upstream() -> None:
    with running() as proxy:
        host, port = proxy.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as wire:
            head = f"PUT /v1/files HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1000\r\n\r\n"
            wire.sendall(head.encode() + b"x" * 10)
        for _ in range(PATIENCE_S * 50):
            if proxy.endpoint.metrics.value("statecomp_disconnects_total"):
                break
            Event().wait(0.02)
        assert proxy.endpoint.metrics.value("statecomp_disconnects_total") == 1
        assert proxy.client.get("/v1/models").status_code == 200


def test_a_client_that_does_not_read_holds_the_upstream_back() -> None:
    """Otherwise one slow reader could fill the memory of the proxy."""
    chunk, count = b"x" * 65_536, 800
    upstream = SmallUpstream(lambda got: Answer([chunk] * count, headers=STREAM))
    with running(upstream) as proxy:
        path = "/v1/chat/completions"
        with proxy.client.stream("POST", path, json=body(), headers=KEY) as answer:
            pieces = answer.iter_raw()
            got = len(next(pieces))
            seen = -1
            while seen != upstream.sent_chunks:  # until it stands still
                seen = upstream.sent_chunks
                Event().wait(0.5)
            assert upstream.sent_chunks < count
            assert got + sum(map(len, pieces)) == len(chunk) * count


def test_a_stream_that_breaks_off_breaks_off_for_the_client() -> None:
    upstream = SmallUpstream(lambda got: Answer(CHAT[:2], headers=STREAM, breaks=True))
    with running(upstream) as proxy:
        path = "/v1/chat/completions"
        with (
            proxy.client.stream("POST", path, json=body(), headers=KEY) as answer,
            pytest.raises(httpx.RemoteProtocolError),
        ):
            list(answer.iter_raw())
        ledger = proxy.drain()
        (session,) = ledger.sessions()
        assert ledger.requests(session.id)[0].note == "the upstream broke off"


def test_an_upstream_that_says_nothing_is_a_timeout_of_the_proxy() -> None:
    upstream = SmallUpstream(lambda got: Answer([b"{}"], delay_s=PATIENCE_S))
    with running(upstream, limits=Limits(silence_s=0.3)) as proxy:
        answer = proxy.client.post("/v1/messages", json={"messages": []}, headers=KEY)
        assert answer.status_code == 504
        assert answer.json()["error"]["type"] == "timeout_error"


def test_a_connection_the_upstream_has_left_is_replaced_by_a_new_one() -> None:
    """Upstreams close idle connections at any moment, also while a request is on its way.

    A question that changes nothing is then asked again; what may have been taken is not.
    """
    reply = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"

    def once_each(listening: socket.socket) -> None:
        for _ in range(2):
            wire, _ = listening.accept()
            with wire:
                wire.recv(65_536)
                wire.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=once_each, args=(listening,), daemon=True).start()
        with running(url=f"http://127.0.0.1:{listening.getsockname()[1]}", mode="off") as proxy:
            for _ in range(2):
                answer = proxy.client.get("/v1/models", headers=KEY)
                assert (answer.status_code, answer.content) == (200, b"{}")


@given(st.sampled_from(TOLD), st.lists(st.integers(0, 400), max_size=8), st.booleans())
def test_usage_is_read_however_a_stream_is_cut(
    told: tuple[list[bytes], Usage], cuts: list[int], packed: bool
) -> None:
    pieces, usage = told
    whole = zlib.compress(b"".join(pieces)) if packed else b"".join(pieces)
    reader = UsageReader("text/event-stream; charset=utf-8", "deflate" if packed else "")
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    for start, stop in pairwise(places):
        reader.feed(whole[start:stop])
    assert reader.finish() == usage


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 0, 0, 2)),
        ({"input_tokens": 5, "output_tokens": 2}, Usage(5, 0, 0, 2)),
        (
            {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 2},
            Usage(9, 4, 0, 2),
        ),
        ({"prompt_tokens": "many"}, Usage()),
        (None, Usage()),
    ],
)
def test_usage_of_a_plain_answer(usage: Any, read: Usage) -> None:
    reader = UsageReader("application/json")
    reader.feed(json.dumps({"usage": usage}).encode())
    assert reader.finish() == read


@given(st.binary(max_size=300), st.sampled_from(["", "gzip", "br"]), st.booleans())
def test_no_answer_upsets_the_reader(noise: bytes, encoding: str, streams: bool) -> None:
    reader = UsageReader("text/event-stream" if streams else "", encoding)
    reader.feed(noise)
    reader.feed(b'data: "usage"\n')
    assert isinstance(reader.finish(), Usage)


def test_the_reader_keeps_little_of_an_endless_line() -> None:
    for kind in ("text/event-stream", "application/json"):
        reader = UsageReader(kind)
        for _ in range(20):
            reader.feed(b"x" * 1_000_000)
            assert len(reader._rest) <= LONGEST
        reader.feed(b"\n" + MESSAGES[0])
        assert (reader.finish() == Usage(50, 40, 7, 1)) == (kind == "text/event-stream")


def long_answer(size: int, *usages: dict[str, int] | None) -> bytes:
    """One that takes long to read: lists in a list."""
    told = "".join(f',"usage" : {json.dumps(usage)}' for usage in usages)
    return ('{"x":[' + "[]," * (size // 3) + "0]" + told + "}").encode()


@pytest.mark.parametrize("stream", [False, True])
def test_of_a_long_answer_only_the_usage_is_read(stream: bool) -> None:
    """All of it was, on the way of everybody's answers, for a third of a second."""
    usage = {"input_tokens": 50, "output_tokens": 7}

    def read(size: int) -> None:
        reader = UsageReader("text/event-stream" if stream else "application/json")
        reader.feed(b"data: " * stream + long_answer(size, usage) + b"\n" * stream)
        assert reader.finish() == Usage(50, 0, 0, 7)

    assert growth(read, QUICK // 2, 8 * QUICK, 16, enough=0.3) < 0.3


@pytest.mark.parametrize("usages", [[], [None], [{"input_tokens": 5}, {"input_tokens": 6}]])
def test_a_long_answer_that_does_not_speak_of_one_usage_tells_none(usages: list[Any]) -> None:
    reader = UsageReader("application/json")
    reader.feed(long_answer(2 * QUICK, *usages))
    assert reader.finish() == Usage()


def test_very_many_lines_cost_no_more_than_one_that_is_as_long() -> None:
    """An answer of ends of lines held everybody up: 66 KB, packed, for eighteen seconds."""

    def read(letter: bytes) -> None:
        reader = UsageReader("text/event-stream")
        reader.feed(letter * 1_000_000)
        reader.feed(b"\n" + MESSAGES[0])
        assert reader.finish() == Usage(50, 40, 7, 1)

    assert growth(read, b" ", b"\n", 1, enough=20) < 20


def test_of_very_many_lines_that_tell_of_usage_a_few_are_looked_at() -> None:
    line = b'data: {"usage": {"input_tokens": 5}}\n'

    def read(count: int) -> None:
        reader = UsageReader("text/event-stream")
        reader.feed(line * count)
        assert reader.finish() == Usage(5)

    assert growth(read, 6_000, 96_000, 16, enough=0.5) < 0.5


@pytest.mark.parametrize("absurd", ABSURD)
def test_a_number_no_request_can_have_is_no_usage(absurd: Any) -> None:
    reader = UsageReader("application/json")
    usage = {"prompt_tokens": absurd, "completion_tokens": absurd}
    reader.feed(json.dumps({"usage": usage}).encode())
    assert reader.finish() == Usage()


def test_no_more_comes_from_the_cache_than_was_asked() -> None:
    reader = UsageReader("application/json")
    details = {"cached_tokens": 900, "cache_write_tokens": 900}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": details}
    reader.feed(json.dumps({"usage": usage}).encode())
    assert reader.finish() == Usage(100, 100, 0, 7)


def test_an_absurd_usage_does_not_keep_a_request_out_of_the_account() -> None:
    absurd = {"choices": [], "usage": {"prompt_tokens": 10**30, "completion_tokens": 10**30}}
    upstream = SmallUpstream(lambda got: Answer([json.dumps(absurd).encode()]))
    with running(upstream) as proxy:
        proxy.chat(chat_of("pr"))
        totals = proxy.drain().totals()
        assert (totals.requests, totals.usage) == (1, Usage())
        assert 0 < totals.raw_dollars < 1
