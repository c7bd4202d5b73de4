"""The way to the upstream: the bytes that were given go out, those that came are handed on."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from statecomp.proxy.settings import Limits
from tests.proxy.small_upstream import KEY, Answer, Got, SmallUpstream, running

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
PATIENCE_S = 30


def taken(wire: socket.socket) -> bytes:
    """One request, with as much body as it declares."""
    got = b""
    while b"\r\n\r\n" not in got:
        if not (piece := wire.recv(65_536)):
            return got
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    missing = int(lengths[0].split(b":")[1]) - len(body) if lengths else 0
    while missing > 0 and (piece := wire.recv(missing)):
        got, missing = got + piece, missing - len(piece)
    return got


@contextmanager
def listening(
    talk: Callable[[socket.socket], None],
    connections: int = 1,
    secure: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """A server that talks on each of so many connections; its address."""

    def serve() -> None:
        for _ in range(connections):
            try:
                wire, _ = server.accept()
                if secure is not None:
                    wire = secure.wrap_socket(wire, server_side=True)
            except OSError:  # the test is over, or the other side did not like our certificate
                continue
            with wire:
                talk(wire)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"{'https' if secure else 'http'}://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE_S)


def raw_request(url: str, request: bytes) -> bytes:
    """What comes back on a connection of its own, until it is closed."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as wire:
        wire.sendall(request)
        return b"".join(iter(lambda: wire.recv(65_536), b""))


def answered(answer: bytes, *, post: bytes = b"{}") -> bytes:
    """What a client sees of an upstream's bytes; the upstream closes behind them."""

    def talk(wire: socket.socket) -> None:
        taken(wire)
        wire.sendall(answer)

    head = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
    length = b"content-length: %d\r\n\r\n" % len(post)
    with listening(talk) as url, running(url=url, mode="off") as proxy:
        return raw_request(proxy.url, head + length + post)


def test_nothing_is_added_to_the_headers_and_nothing_lost() -> None:
    seen: list[bytes] = []

    def talk(wire: socket.socket) -> None:
        seen.append(taken(wire))
        wire.sendall(OK)

    lines = [b"x-title: caf\xc3\xa9 \xf0\x9f\xa6\x8a", b"x-twice: 1", b"x-twice: 2", b"cookie: a=1"]
    with listening(talk) as url, running(url=url, mode="off") as proxy:
        head = b"POST /v1/messages?a=%2F&b HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        given = b"\r\n".join(lines) + b"\r\ncontent-length: 2\r\n\r\n{}"
        assert raw_request(proxy.url, head + given).endswith(b"{}")
    first, *sent = seen[0].partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert first == b"POST /v1/messages?a=%2F&b HTTP/1.1"
    host = url.removeprefix("http://").encode()
    assert sorted(sent) == sorted([b"Host: " + host, *lines, b"Content-Length: 2"])


def test_long_headers_informational_answers_and_an_answer_without_length_pass() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    long = b"x-long: " + b"y" * 100_000 + b"\r\n"
    got = answered(early + b"HTTP/1.1 299 So So\r\nX-One: \xe9\r\n" + long + b"\r\nall of it")
    assert got.startswith(b"HTTP/1.1 299 ")
    assert long in got
    assert b"x-one: \xe9\r\n" in got
    assert b"all of it" in got
    assert got.endswith(b"0\r\n\r\n")  # the end of the connection was its end


@pytest.mark.parametrize(
    "rest",
    [
        b"content-length: 10\r\n\r\nhalf",
        b"transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
)
def test_an_answer_that_is_not_whole_does_not_look_whole(rest: bytes) -> None:
    got = answered(b"HTTP/1.1 200 OK\r\n" + rest)
    assert b"half" in got
    assert not got.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize(
    "noise",
    [b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno chunk\r\n"],
)
def test_what_is_no_http_is_a_failed_connection(noise: bytes) -> None:
    assert answered(noise).startswith(b"HTTP/1.1 502 ")


@pytest.mark.parametrize("status", [b"101 Switching Protocols", b"600 Odd", b"999 Odd", b"099 Odd"])
def test_a_status_that_cannot_be_passed_on_is_told_as_a_failure(status: bytes) -> None:
    """The client was left without an answer, or told to change a protocol it had not asked for."""
    got = answered(b"HTTP/1.1 " + status + b"\r\ncontent-length: 2\r\n\r\n{}")
    assert got.startswith(b"HTTP/1.1 502 ")
    assert b"x-statecomp-error: 1" in got


def test_a_header_that_no_server_may_send_takes_the_answer_of_no_client() -> None:
    got = answered(b"HTTP/1.1 200 OK\r\nx-odd: a\x01b\r\nx-one: 1\r\ncontent-length: 2\r\n\r\n{}")
    assert got.startswith(b"HTTP/1.1 200 ")
    assert b"x-one: 1\r\n" in got
    assert b"x-odd" not in got
    assert got.endswith(b"\r\n\r\n{}")


def test_a_new_connection_that_is_dropped_is_not_tried_again() -> None:
    """A model may be at work on the request already: a second one would be paid for too."""
    seen: list[bytes] = []
    with listening(lambda wire: seen.append(taken(wire)), 2) as url:
        with running(url=url, mode="off") as proxy:
            answer = proxy.client.post("/v1/messages", content=b"{}", headers=KEY)
        assert answer.status_code == 502
    assert len(seen) == 1


@pytest.mark.parametrize(("method", "times"), [("POST", 2), ("GET", 3)])
def test_a_kept_connection_that_is_dropped_is_tried_again_only_where_that_does_no_harm(
    method: str, times: int
) -> None:
    """The upstream takes the second request, and closes instead of answering it."""
    seen: list[bytes] = []

    def talk(wire: socket.socket) -> None:
        if got := taken(wire):
            seen.append(got)
            wire.sendall(OK)
        if got := taken(wire):
            seen.append(got)

    with listening(talk, 2) as url, running(url=url, mode="off") as proxy:
        content = b"{}" if method == "POST" else b""
        first, second = (
            proxy.client.request(method, "/v1/messages", content=content, headers=KEY)
            for _ in range(2)
        )
    assert first.status_code == 200
    assert (second.status_code, len(seen)) == (502 if method == "POST" else 200, times)


@pytest.mark.parametrize("chunked", [True, False])
def test_a_client_of_http_1_0_gets_no_chunks(chunked: bool) -> None:
    def answer(got: Got) -> Answer:
        length = [] if chunked else [("content-length", "10")]
        return Answer([b"first", b"other"], headers=length)

    with running(SmallUpstream(answer), mode="off") as proxy:
        for request in (b"GET /v1/models HTTP/1.0\r\nhost: localhost\r\n\r\n",):
            got = raw_request(proxy.url, request)
    head, _, body = got.partition(b"\r\n\r\n")
    assert body == b"firstother"
    assert b"chunked" not in head.lower()
    assert b"content-length: 10" in head.lower()


def test_an_answer_without_end_is_not_held_for_a_client_of_http_1_0(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It gets its answer whole, so all of it is in memory until then."""
    monkeypatch.setattr("statecomp.proxy.security.MOST_WHOLE", 100_000)
    upstream = SmallUpstream(
        lambda got: Answer([b"x" * 65_536] * (1000 if got.header("x-long") else 1))
    )
    with running(upstream) as proxy:
        for path in (b"GET /v1/models", b"POST /v1/messages"):
            head = path + b" HTTP/1.0\r\nhost: localhost\r\nx-long: 1\r\ncontent-length: 0\r\n\r\n"
            got = raw_request(proxy.url, head)
            assert got.startswith(b"HTTP/1.1 502 ")
            assert b"use HTTP/1.1" in got
            assert proxy.client.get("/v1/models").status_code == 200
    assert upstream.left.is_set()


def test_an_upstream_that_does_not_take_the_request_is_not_waited_for() -> None:
    done = Event()

    def talk(wire: socket.socket) -> None:
        done.wait(PATIENCE_S)

    limits = Limits(body_s=3.0)  # thirty megabytes have to come from the client within it, too
    with listening(talk) as url, running(url=url, mode="off", limits=limits) as proxy:
        answer = proxy.client.post("/v1/messages", content=b"x" * (30 << 20), headers=KEY)
        done.set()
    assert answer.status_code == 504


def test_the_environment_names_the_proxy_on_the_way_and_what_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[bytes] = []

    def talk(wire: socket.socket) -> None:
        seen.append(taken(wire))
        wire.sendall(OK)

    with listening(talk) as url:
        monkeypatch.setenv("http_proxy", url.replace("//", "//me:word@"))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        far = {"far": "http://models.invalid", "near": "http://127.0.0.1:9"}
        with running(mode="off", upstreams=far, trust_env=True) as proxy:
            answer = proxy.client.post("/u/far/v1/messages", content=b"{}", headers=KEY)
            assert answer.status_code == 200
            answer = proxy.client.post("/u/near/v1/messages", content=b"{}", headers=KEY)
            assert answer.status_code == 502
    assert seen[0].startswith(b"POST http://models.invalid/v1/messages HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " in seen[0]
    assert b"authorization: " + KEY["authorization"].encode() in seen[0]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody but itself has signed, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    path = tmp_path / "own.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = [*command, "-keyout", str(tmp_path / "key.pem"), "-out", str(path)]
    subprocess.run(made, check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + (tmp_path / "key.pem").read_bytes())
    return path


def test_an_upstream_is_spoken_to_only_if_its_certificate_is_trusted(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bytes] = []

    def talk(wire: socket.socket) -> None:
        seen.append(taken(wire))
        wire.sendall(OK)

    def ask() -> httpx.Response:
        secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.load_cert_chain(certificate)
        with listening(talk, secure=secure) as url, running(url=url, mode="off") as proxy:
            return proxy.client.post("/v1/messages", content=b"{}", headers=KEY)

    assert ask().status_code == 502
    assert seen == []
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ask().status_code == 200
    assert len(seen) == 1
