"""Who may use the proxy, and what never leaves it."""

from __future__ import annotations

import json
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from statecomp.errors import BadInput
from statecomp.ledger.open import open_ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.sessions import derived_salt, kept_salt
from statecomp.proxy.settings import Limits, ProxySettings
from statecomp.testing.words import BULK, chat_of
from statecomp.traces.secrets import Masker
from tests.proxy.small_upstream import KEY, SmallUpstream, running

TOKEN = "a-token-of-some-length"


async def page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("a page")


def client(**settings: Any) -> TestClient:
    """The app in this process, before an upstream that nobody reaches."""
    pages = [Route("/", page, methods=["GET", "POST"])]
    given = {"upstream": "http://127.0.0.1:9", "trust_env": False, **settings}
    app = build_app(ProxySettings(**given), open_ledger(":memory:"), pages=pages)
    return TestClient(app, base_url="http://127.0.0.1:8484", follow_redirects=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.com"])
def test_an_address_others_can_reach_needs_a_token(host: str) -> None:
    with pytest.raises(BadInput, match="set --token"):
        ProxySettings(host=host)
    assert ProxySettings(host=host, token=TOKEN).host == host


@pytest.mark.parametrize("token", ["short", "with space and more", "ä" * 20])
def test_a_token_is_long_and_fits_into_an_address(token: str) -> None:
    with pytest.raises(BadInput, match="at least 16 characters"):
        ProxySettings(token=token)


@pytest.mark.parametrize(
    "url",
    ["ftp://host", "host:80", "https://user:secret@host", "https://host?key=secret", "http://[::1"],
)
def test_an_upstream_that_could_hold_a_secret_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        ProxySettings(upstream=url)
    assert "secret" not in str(caught.value)


def test_neither_token_nor_salt_is_shown() -> None:
    shown = repr(ProxySettings(token=TOKEN, salt=b"of the sea"))
    assert TOKEN not in shown
    assert "sea" not in shown


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.7", "[::2]"]
)
def test_a_name_that_is_not_ours_is_refused(host: str) -> None:
    """DNS can be made to point any name at this machine; the Host header still says the name."""
    for path in ("/v1/models", "/statecomp/", "/metrics"):
        answer = client().get(path, headers={"host": host})
        assert answer.status_code == 403
        assert answer.headers["x-statecomp-error"] == "1"


@pytest.mark.parametrize(
    "host", ["localhost:8484", "127.0.0.1", "[::1]:8484", "box.local", "LOCALHOST"]
)
def test_our_own_names_are_welcome(host: str) -> None:
    ours = client(hosts=frozenset({"box.local"}))
    assert ours.get("/statecomp/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example"]
)
def test_a_page_of_another_site_may_use_nothing(origin: str) -> None:
    for path in ("/v1/chat/completions", "/statecomp/"):
        assert client().post(path, headers={"origin": origin}).status_code == 403


def test_pages_answer_to_themselves_only() -> None:
    own = {"origin": "http://127.0.0.1:8484"}
    with client() as ours:
        assert ours.post("/statecomp/", headers=own).status_code == 200
        for origin in ("http://localhost:3000", "http://127.0.0.1:9999", "vscode-webview://x"):
            assert ours.post("/statecomp/", headers={"origin": origin}).status_code == 403
            assert ours.post("/v1/responses", headers={"origin": origin}).status_code == 502
        assert ours.get("/statecomp/", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_unknown_pages_are_never_asked_of_the_upstream() -> None:
    with running() as proxy:
        assert proxy.client.get("/statecomp/nothing").status_code == 404
        assert proxy.received == []


def test_the_pages_are_also_found_without_the_last_slash() -> None:
    with running() as proxy:
        answer = proxy.client.get("/statecomp")
        assert (answer.status_code, answer.headers["location"]) == (307, "/statecomp/")
        assert proxy.received == []


def test_with_a_token_nothing_but_health_is_open() -> None:
    ours = client(token=TOKEN)
    for path in ("/v1/models", "/metrics", "/statecomp/", "/t/wrong/v1/models", "/t//metrics"):
        assert ours.get(path).status_code == 401
    assert ours.get("/metrics", headers={"x-statecomp-token": "wrong"}).status_code == 401
    assert ours.get("/metrics", headers={"x-statecomp-token": TOKEN}).status_code == 200
    assert ours.get("/healthz").status_code == 200


def test_a_token_in_the_address_serves_sdks_and_goes_no_further() -> None:
    with running(token=TOKEN) as proxy:
        path = f"/t/{TOKEN}/v1/chat/completions?x=1"
        assert proxy.client.post(path, json={"messages": []}, headers=KEY).status_code == 200
        headers = {"x-statecomp-token": TOKEN, "cookie": f"a=1; statecomp-token={TOKEN}"}
        proxy.client.get("/v1/models", headers=headers)
        for got in proxy.received:
            assert TOKEN not in repr(got)
        assert proxy.received[0].path == "/v1/chat/completions"
        assert proxy.received[0].query == "x=1"
        assert proxy.received[1].header("cookie") == ["a=1"]


@pytest.mark.parametrize("letter", ["%74", "%54", "t%2F", "t%2f.."])
def test_a_token_behind_an_encoded_path_goes_no_further(letter: str) -> None:
    with running(token=TOKEN) as proxy:
        for headers in (KEY, {**KEY, "x-statecomp-token": TOKEN}):
            proxy.client.get(f"/{letter}/{TOKEN}/v1/models", headers=headers)
        assert TOKEN not in repr(proxy.received)


def test_keys_in_the_address_are_told_apart() -> None:
    with running() as proxy:
        for key in ("one", "two"):
            path = f"/v1/chat/completions?beta=true&key={key}"
            proxy.client.post(path, json={"messages": chat_of("prrrrr")})
        ledger = proxy.drain()
        assert len({session.tenant for session in ledger.sessions()}) == 2
        assert [got.query for got in proxy.received] == ["beta=true&key=one", "beta=true&key=two"]


@pytest.mark.parametrize("around", ["{}", 'it\'s "{}"', "'\"{}", "\"'{}'\"", "\\'{}\\\""])
def test_nothing_of_a_request_stands_in_the_log(
    around: str, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "sk-ant-" + "a1B2" * 9
    odd = around.format(secret)
    call = {"id": odd, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    bodies: list[list[dict[str, Any]]] = [
        [{"role": odd, "content": "hello"}],
        [{"role": "tool", "tool_call_id": odd, "content": "answer to nothing"}],
        [{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "well?"}],
    ]
    with caplog.at_level("INFO", "statecomp.proxy"), running() as proxy:
        for messages in bodies:
            proxy.chat(messages)
        proxy.drain()
    shown = [str(getattr(record, "fields", "")) for record in caplog.records]
    assert any("'...'" in line for line in shown)
    assert "a1B2" not in "".join(shown)


def test_what_a_library_logs_shows_nothing_of_a_request() -> None:
    """The loop tells of a task that nobody heard failing, with the words of its error."""
    program = """
import asyncio, gc
from statecomp.cli.terminal import log_as_json

log_as_json()

async def fails():
    raise ValueError("a1B2 of a request")

async def main():
    task = asyncio.create_task(fails())
    await asyncio.sleep(0.01)
    del task
    gc.collect()

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    line = json.loads(done.stderr)
    assert (line["event"], line["error"]) == ("Task exception was never retrieved", "ValueError")
    assert "a1B2" not in done.stderr


def test_a_browser_gets_a_cookie_for_the_pages_and_only_those() -> None:
    ours = client(token="the-token-of-all-clients", admin_token=TOKEN)
    answer = ours.get(f"/t/{TOKEN}/statecomp/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/statecomp/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    given = {"cookie": f"statecomp-token={TOKEN}"}
    assert ours.get("/statecomp/", headers=given).status_code == 200
    assert ours.get("/v1/models", headers=given).status_code == 401


def test_an_address_of_a_page_cannot_end_the_header_that_repeats_it() -> None:
    ours = client(token="the-token-of-all-clients", admin_token=TOKEN)
    answer = ours.get(f"/t/{TOKEN}/statecomp/%0d%0aset-cookie:%20a=b")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/statecomp/%0d%0aset-cookie:%20a=b"


def test_with_a_token_the_machine_may_be_called_by_its_address() -> None:
    ours = client(token="the-token-of-all-clients", admin_token=TOKEN, host="0.0.0.0")
    headers = {"host": "192.168.1.5:8484", "x-statecomp-token": TOKEN}
    assert ours.get("/statecomp/", headers=headers).status_code == 200
    headers["host"] = "evil.example"
    assert ours.get("/statecomp/", headers=headers).status_code == 403


@pytest.mark.parametrize("declared", [True, False])
def test_a_request_that_is_too_large_is_refused_in_the_protocols_shape(declared: bool) -> None:
    limits = Limits(body_bytes=1000)
    with running(limits=limits) as proxy:
        content: Any = b"x" * 2000 if declared else iter([b"x" * 600] * 3)
        answer = proxy.client.post("/v1/messages", content=content, headers=KEY)
        assert answer.status_code == 413
        assert answer.json()["error"]["type"] == "request_too_large"
        assert proxy.received == []


def test_a_body_that_does_not_come_is_a_timeout() -> None:
    with running(limits=Limits(body_s=0.2)) as proxy:
        host, port = proxy.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as wire:
            head = f"POST /v1/responses HTTP/1.1\r\nhost: {host}\r\ncontent-length: 9\r\n\r\n"
            wire.sendall(head.encode())
            assert b" 408 " in wire.recv(4096)


def test_an_error_of_ours_repeats_nothing_of_the_request() -> None:
    with running(url="http://127.0.0.1:9") as proxy:
        answer = proxy.client.post(
            "/v1/chat/completions?key=query-secret", json={"a": "body-secret"}, headers=KEY
        )
    for secret in ("query-secret", "body-secret", "sk-test"):
        assert secret not in answer.text


def test_no_credential_is_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with running(ledger=open_ledger(str(path), mask=lambda message, known: message)) as proxy:
        proxy.chat([{"role": "user", "content": "hello"}], **{"x-api-key": "key-in-a-header"})
        proxy.drain().close()
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"key-in-a-header" not in held
    assert b"sk-test" not in held


def test_a_secret_in_a_tools_output_is_neither_committed_nor_stored(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    ledger = open_ledger(str(tmp_path / "ledger.db"), mask=Masker().masked)
    with running(ledger=ledger) as proxy:
        messages = chat_of("prrrrrrrr", bulk=f"token={secret}\n" + BULK)
        assert proxy.chat(messages).status_code == 200
        proxy.drain().close()
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in held


def test_a_request_to_no_path_reaches_the_upstream_and_nobody_else() -> None:
    with running() as proxy:
        host, port = proxy.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as wire:
            wire.sendall(f"OPTIONS * HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
            assert wire.recv(4096).startswith(b"HTTP/1.1 ")
        for got in proxy.received:
            assert got.header("host") == [proxy.endpoint.settings.upstream.removeprefix("http://")]


def test_who_shares_a_database_shares_the_salt() -> None:
    assert derived_salt("postgresql://a") == derived_salt("postgresql://a")
    assert derived_salt("postgresql://a") != derived_salt("postgresql://b")


def test_a_kept_salt_stays_and_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    salt = kept_salt(tmp_path / "new")
    assert salt == kept_salt(tmp_path / "new")
    mode = stat.S_IMODE((tmp_path / "new" / "salt").stat().st_mode)
    assert mode == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    (tmp_path / "new" / "salt").write_bytes(b"cut")
    with pytest.raises(BadInput, match="put it back from a backup"):
        kept_salt(tmp_path / "new")


def test_who_start_together_for_the_first_time_have_one_salt(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from statecomp.proxy.sessions import kept_salt\n"
        "sys.stdin.read(); print(kept_salt(Path(sys.argv[1])).hex())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "new")]
    pipe = subprocess.PIPE
    started = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(6)]
    with ThreadPoolExecutor(len(started)) as threads:
        salts = set(threads.map(lambda process: process.communicate(timeout=60)[0], started))
    assert [process.returncode for process in started] == [0] * len(started)
    assert len(salts) == 1


def test_a_start_that_was_cut_off_leaves_a_salt_nobody_used(tmp_path: Path) -> None:
    (tmp_path / "salt").touch()
    salt = kept_salt(tmp_path)
    assert len(salt) == 32
    assert kept_salt(tmp_path) == salt
    assert stat.S_IMODE((tmp_path / "salt").stat().st_mode) == 0o600


def test_a_websocket_is_refused() -> None:
    with running(SmallUpstream()) as proxy:
        headers = {
            "connection": "Upgrade",
            "upgrade": "websocket",
            "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
            "sec-websocket-version": "13",
        }
        answer = httpx.get(f"{proxy.url}/v1/responses", headers=headers)
        assert answer.status_code == 426
        assert "plain HTTP" in answer.json()["error"]["message"]
        assert proxy.received == []
