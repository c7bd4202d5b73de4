"""Requests as odd clients begin them: they go out with the body and the headers they came with."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from statecomp.ledger.open import open_ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.patience import PatientProtocol
from statecomp.proxy.settings import ProxySettings
from statecomp.proxy.upstream import keys_in
from statecomp.testing.provider.serving import serving
from tests.proxy.small_upstream import Got, SmallUpstream

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()
FIRST = b"POST /v1/chat/completions%s HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: %s\r\n"
SIZED = b"content-length: %d\r\n\r\n" % len(BODY)


@dataclass
class Door:
    port: int
    upstream: SmallUpstream

    def told(self, *parts: bytes) -> bytes:
        """What a client is told that sends these parts and waits for the end."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as wire:
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for part in parts:
                wire.sendall(part)
            return b"".join(iter(lambda: wire.recv(65536), b""))

    @property
    def arrived(self) -> Got:
        (got,) = self.upstream.received
        return got


@pytest.fixture
def door() -> Iterator[Door]:
    model = SmallUpstream()
    with serving(model) as upstream:
        app = build_app(ProxySettings(upstream=upstream, trust_env=False), open_ledger(":memory:"))
        with serving(app, http=PatientProtocol) as url:
            yield Door(urlsplit(url).port or 0, model)


@pytest.mark.parametrize("query", [b"?q=%C3%A9", b"?q=%ff", b"?key=%ff&q", b"?=&&%", b"?%ff=1"])
def test_whatever_is_encoded_in_an_address_the_request_goes_out(door: Door, query: bytes) -> None:
    """Letters that are not ASCII were answered with an error of ours."""
    told = door.told(FIRST % (query, b"close"), SIZED + BODY)
    assert told.startswith(b"HTTP/1.1 200 ")
    assert "?" + door.arrived.query == query.decode()
    assert door.arrived.body == BODY


def test_keys_in_an_address_are_found_however_they_are_encoded() -> None:
    assert keys_in(b"a=1&key=%ffx+y&K%65Y=2&api_key") == {b"?key": b"2", b"?api_key": b""}
    assert keys_in(b"key=%ffx+y") == {b"?key": b"\xffx y"}


@pytest.mark.parametrize("cut", [0, 40])
def test_a_client_that_offers_http_2_loses_no_body(door: Door, cut: int) -> None:
    """Java's own client offers it with each first request; the parser then reads no body."""
    offer = b"Upgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n"
    whole = FIRST % (b"", b"close, Upgrade, HTTP2-Settings") + offer + SIZED + BODY
    told = door.told(whole[cut:] if not cut else whole[:-cut], whole[-cut:] if cut else b"")
    assert told.startswith(b"HTTP/1.1 200 ")
    assert door.arrived.body == BODY
    assert not door.arrived.header("upgrade") + door.arrived.header("http2-settings")


def test_an_offer_that_comes_in_pieces_is_refused_and_its_body_never_lost(door: Door) -> None:
    whole = FIRST % (b"", b"close, Upgrade") + b"upgrade: h2c\r\n" + SIZED + BODY
    told = b""
    with suppress(ConnectionError):  # who is refused early may find the door shut while it sends
        told = door.told(*(whole[n : n + 1] for n in range(len(whole))))
        assert told.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 400 "))
    assert [got.body for got in door.upstream.received] == [BODY] * told.count(b"HTTP/1.1 200 ")


def test_what_stands_behind_a_body_is_no_header(door: Door) -> None:
    """It could name another host, tenant or upstream than those who looked at the headers saw."""
    head = FIRST % (b"", b"close") + b"transfer-encoding: chunked\r\n\r\n"
    body = b"%x\r\n%s\r\n0\r\n" % (len(BODY), BODY)
    told = door.told(head + body + b"host: evil\r\nauthorization: Bearer x\r\nx-late: 1\r\n\r\n")
    assert told.startswith(b"HTTP/1.1 200 ")
    assert door.arrived.body == BODY
    assert not door.arrived.header("authorization") + door.arrived.header("x-late")
