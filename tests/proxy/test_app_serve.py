"""`statecomp serve` as a person starts it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from statecomp.cli.serve import serve
from statecomp.cli.server import greeting, listening
from statecomp.errors import BadInput
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.settings import ProxySettings
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.testing.provider.serving import free_port, serving
from statecomp.testing.words import chat_of
from statecomp.writers import ModelRecords
from tests.proxy.small_upstream import KEY, SmallUpstream

PATIENCE_S = 60
TOKEN = "0123456789abcdef-mine"
EAGER = ("--scorer", "age:after=2", "--longer-than", "1", "--min-source-tokens", "50")


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "statecomp", "serve", "--port", str(port), *options],
        env={**os.environ, "XDG_DATA_HOME": str(folder), "OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        limit = monotonic() + PATIENCE_S
        while monotonic() < limit and process.poll() is None:
            try:
                if httpx.get(f"{url}/healthz", timeout=5).status_code == 200:
                    break
            except httpx.HTTPError:
                sleep(0.05)
        yield url, process
    finally:
        process.kill()
        process.communicate()


def test_it_serves_compresses_logs_and_ends_with_everything_written(tmp_path: Path) -> None:
    upstream = SmallUpstream()
    options = (*EAGER, "--commit", "now")
    with (
        serving(upstream) as direct,
        served(tmp_path, "--upstream", direct, *options) as (url, process),
    ):
        for word in ("prrrr", "prrrrr"):
            body = {"model": "small", "messages": chat_of(word)}
            answer = httpx.post(f"{url}/v1/chat/completions", json=body, headers=KEY, timeout=30)
            assert answer.status_code == 200
            for name in ("server", "date"):  # the upstream's own, and no other
                assert len(answer.headers.get_list(name)) == 1
        assert "statecomp" in httpx.get(f"{url}/statecomp", follow_redirects=True).text.lower()
        overview = httpx.get(f"{url}/statecomp/api/overview")
        assert overview.json()["sessions"]
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert b"[Record of past steps 1-2" in upstream.received[-1].body
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    told = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in told] == [200, 200]
    assert told[1]["sent_tokens"] < told[1]["raw_tokens"]
    assert "Bearer" not in log
    ledger = open_ledger(
        str(tmp_path / "statecomp" / "ledger.sqlite"), mask=lambda message, known: message
    )
    assert ledger.totals().requests == 2
    ledger.close()
    for name in ("salt", "ledger.sqlite"):
        assert (tmp_path / "statecomp" / name).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--host", "0.0.0.0"], "set --token"),
        (["--upstream", "http://127.0.0.1:8484"], "this proxy itself"),
        (["--upstream", "a b=http://x"], "no identifier"),
        (["--upstream", "http://key@host"], "nothing more"),
        (["--scorer", "labels:x.jsonl"], "not live ones"),
        (["--scorer", "magic"], "known are"),
        (["--records", "magic"], "known are"),
        (["--threshold", "7"], "must lie in"),
        (["--prices", "nowhere.toml"], "cannot be read"),
        (["--store", "ftp://x"], "known are a path and postgresql"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(
    options: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    result = CliRunner().invoke(serve, options)
    assert result.exit_code != 0
    assert problem in str(result.exception)
    assert isinstance(result.exception, Exception)


def test_a_port_that_is_taken_is_said_in_one_sentence_before_anything_else(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = subprocess.run(
            [sys.executable, "-m", "statecomp", "serve", "--port", str(port), *EAGER],
            env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    assert ended.returncode != 0
    said = ended.stderr.strip()
    assert len(said.splitlines()) == 1
    assert f"port {port}: is taken" in said
    assert "--port" in said
    assert "OPENAI_BASE_URL" not in said
    assert "Errno" not in said


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_that_is_not_ours_is_said_to_be_that(host: str) -> None:
    with pytest.raises(BadInput, match=f"address {host}:8484: cannot be listened on"):
        listening(host, 8484)


def test_a_name_with_several_addresses_is_listened_on_at_all_of_them() -> None:
    port = free_port()
    taken = listening("localhost", port)
    try:
        assert {one.getsockname()[1] for one in taken} == {port}
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
    finally:
        for one in taken:
            one.close()


def test_a_salt_that_was_cut_short_is_not_replaced_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "statecomp").mkdir()
    (tmp_path / "statecomp" / "salt").write_bytes(b"short")
    result = CliRunner().invoke(serve, [])
    assert isinstance(result.exception, BadInput)


@pytest.mark.parametrize(
    ("given", "base", "pages"),
    [
        ({}, "http://127.0.0.1:8484", "http://127.0.0.1:8484/statecomp/"),
        ({"token": TOKEN}, "http://127.0.0.1:8484/t/TOKEN", "/statecomp/own answers to your agent"),
        (
            {"token": TOKEN, "admin_token": "a" * 16},
            "http://127.0.0.1:8484/t/TOKEN",
            "look at http://127.0.0.1:8484/t/ADMIN_TOKEN/statecomp/",
        ),
    ],
    ids=["loopback", "a token", "an administrator too"],
)
def test_the_addresses_that_are_told_at_the_start_are_those_that_work(
    given: dict[str, Any], base: str, pages: str
) -> None:
    told = greeting(ProxySettings(**given), 8484, Method())
    assert f"OPENAI_BASE_URL={base}/v1 or ANTHROPIC_BASE_URL={base};" in told
    assert told.endswith(pages)
    assert TOKEN not in told


@pytest.mark.parametrize(
    ("given", "about"),
    [
        ({"session_dollars": 1.0, "day_dollars": 10.0}, "$1.00 a session and $10.00 a day"),
        ({"model": "gpt-5-mini"}, "records by gpt-5-mini."),
    ],
)
def test_who_writes_records_and_for_how_much_is_told_at_the_start(
    given: dict[str, Any], about: str
) -> None:
    method = Method(records=ModelRecords(ExtractiveSummarizer(), **given))
    assert about in greeting(ProxySettings(), 8484, method)
    assert "records" not in greeting(ProxySettings(), 8484, Method())
