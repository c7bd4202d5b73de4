"""Clients that do not finish what they began are not waited for, and hold nothing open."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from statecomp.ledger.open import open_ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.client import Answer
from statecomp.proxy.patience import (
    LONGEST_ADDRESS,
    LONGEST_HEAD,
    MOST_AHEAD,
    MOST_HEADERS,
    PatientProtocol,
)
from statecomp.proxy.request.outgoing import read_refusal
from statecomp.proxy.settings import Limits, ProxySettings
from statecomp.proxy.stream import UsageReader
from statecomp.testing.provider.serving import serving
from tests.growth import growth
from tests.proxy.small_upstream import SmallUpstream

PATIENCE_S = 30.0
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
WHOLE = HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY
USAGE = json.dumps({"usage": {"prompt_tokens": 7, "completion_tokens": 5}}).encode()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr("statecomp.proxy.patience.HEADERS_S", 0.3)
    with serving(SmallUpstream()) as upstream:
        settings = ProxySettings(upstream=upstream, trust_env=False, limits=Limits(body_s=0.3))
        app = build_app(settings, open_ledger(":memory:"))
        with serving(app, http=PatientProtocol) as url:
            yield urlsplit(url).port or 0


def talk(port: int, *parts: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    for part in parts:
        connection.sendall(part)
    return connection


def to_the_end(connection: socket.socket) -> bytes:
    """All there is until the server closes; it must."""
    with connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("begun", [b"", b"POST /v1/ch", HEAD, HEAD + b"x-half: "])
def test_headers_that_do_not_come_end_their_connection(port: int, begun: bytes) -> None:
    assert to_the_end(talk(port, begun)).startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_rests_between_two_requests_is_kept(port: int) -> None:
    connection = talk(port, WHOLE)
    assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    others = [to_the_end(talk(port, HEAD)) for _ in range(2)]  # longer than headers may take
    connection.sendall(WHOLE)
    assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    connection.sendall(HEAD)
    assert to_the_end(connection).startswith(b"HTTP/1.1 408 ")
    assert len(others) == 2


LONG = b"x" * (2 * LONGEST_HEAD)


@pytest.mark.parametrize(
    "begun",
    [
        HEAD + b"x-long: " + LONG + b"\r\n\r\n",
        HEAD + b"".join(b"x-%d: many\r\n" % n for n in range(2 * MOST_HEADERS)) + b"\r\n",
        HEAD + LONG,
        b"POST /v1/" + LONG,
    ],
    ids=["a long value", "many", "a long name", "a long path"],
)
def test_headers_that_are_too_long_are_refused_while_they_come(port: int, begun: bytes) -> None:
    """A value was put together piece by piece, which takes the square of its length."""
    assert to_the_end(talk(port, begun)).startswith(b"HTTP/1.1 431 ")


def test_what_stands_behind_a_body_in_pieces_is_no_longer_than_headers(port: int) -> None:
    pieces = HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    with suppress(ConnectionError):  # closed, or reset
        assert to_the_end(talk(port, pieces + b"x-trailer: " + LONG + b"\r\n\r\n")) == b""


@pytest.mark.parametrize(("fields", "status"), [(1.1, b"431"), (0.9, b"200")])
def test_an_address_of_very_many_fields_is_refused(port: int, fields: float, status: bytes) -> None:
    """Each was looked at for a key: a fifth of a second, for whoever could connect."""
    query = b"?" + b"&" * int(fields * LONGEST_ADDRESS)
    whole = WHOLE.replace(b" HTTP/1.1", query + b" HTTP/1.1", 1)
    with talk(port, whole) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 " + status)


def test_long_headers_of_a_real_client_pass(port: int) -> None:
    long = b"".join(b"x-%d: %s\r\n" % (n, b"y" * 900) for n in range(100))
    with talk(port, HEAD + long + WHOLE.removeprefix(HEAD)) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_requests_behind_requests_without_end_are_not_kept(port: int) -> None:
    """Each of them holds memory, and thousands of them come in one piece."""
    told = to_the_end(talk(port, WHOLE * (4 * MOST_AHEAD)))
    assert told.count(b"HTTP/1.1 200 ") <= MOST_AHEAD + 1


def test_a_few_requests_behind_each_other_are_answered_one_by_one(port: int) -> None:
    told = to_the_end(talk(port, WHOLE * 5 + HEAD))
    assert told.count(b"HTTP/1.1 200 ") == 5


@pytest.mark.parametrize("sent", [BODY[:10], b""])
def test_a_body_that_does_not_come_ends_its_connection(port: int, sent: bytes) -> None:
    told = to_the_end(talk(port, WHOLE.removesuffix(BODY) + sent))
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close\r\n" in told


@pytest.mark.parametrize(
    "head", [b"content-length: 99\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"]
)
def test_an_upload_that_stops_ends_its_connection(port: int, head: bytes) -> None:
    """What is passed on unread may take its time, and holds a connection to the upstream too."""
    upload = HEAD.replace(b"chat/completions", b"files") + head + b"2\r\nab\r\n"
    told = to_the_end(talk(port, upload))
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close\r\n" in told


def members(*parts: bytes) -> bytes:
    return b"".join(gzip.compress(part) for part in parts)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_usage_is_read_from_an_answer_of_several_members(size: int) -> None:
    answer = members(USAGE[:9], b"", USAGE[9:20], USAGE[20:])
    reader = UsageReader("application/json", "gzip")
    for start in range(0, len(answer), size):
        reader.feed(answer[start : start + size])
    assert (reader.finish().input, reader.usage.output) == (7, 5)


def test_an_answer_of_very_many_members_costs_no_more_than_its_bytes() -> None:
    member = gzip.compress(b" " * 100)

    def read(count: int) -> None:
        reader = UsageReader("application/json", "gzip")
        for _ in range(count // 500):
            reader.feed(member * 500)
        assert reader.finish().input == 0

    assert growth(read, 5_000, 80_000, 16, enough=4) < 4


def test_of_a_piece_that_unpacks_to_very_much_only_a_part_is_unpacked() -> None:
    """Each member had a bound of its own: 256 MB of one piece, while everybody waited."""
    member = gzip.compress(b" " * (1 << 20))

    def read(count: int) -> None:
        reader = UsageReader("text/event-stream", "gzip")
        reader.feed(member * count)
        assert reader.finish().input == 0

    assert growth(read, 4, 64, 16, enough=0.5) < 0.5


def test_what_follows_the_end_of_a_packed_answer_costs_nothing() -> None:
    """It was kept, and copied with each further piece."""

    def read(count: int) -> None:
        reader = UsageReader("text/event-stream", "gzip")
        reader.feed(gzip.compress(b"data: " + USAGE + b"\n"))
        for _ in range(count):
            reader.feed(b"\0" * 65_536)
        assert reader.finish().input == 7

    assert growth(read, 20, 320, 16, enough=4) < 4


def test_a_refusal_in_very_small_pieces_costs_no_more_than_its_bytes() -> None:
    """Its length was counted anew with each piece."""

    async def pieces(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b"x"

    def read(count: int) -> None:
        answer = Answer(400, [], pieces(count), lambda: None)
        assert asyncio.run(read_refusal(answer))[1] == "x" * count

    assert growth(read, 2_000, 32_000, 16, enough=4) < 4


def test_a_stream_that_unpacks_to_no_end_is_not_followed() -> None:
    reader = UsageReader("text/event-stream", "gzip")
    piece = gzip.compress(b"x" * (3 << 20))
    for _ in range(40):
        reader.feed(piece)
    reader.feed(gzip.compress(b"\ndata: " + USAGE + b"\n"))
    assert reader.finish().input == 0
