"""Secrets of every kind through a whole proxy: none is in what it stores, shows or exports."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any

import pytest
from click.testing import CliRunner

from statecomp.cli.app import app
from statecomp.config.places import open_store
from statecomp.dashboard import answers
from statecomp.history.history import History
from statecomp.ledger.writing import TITLE
from statecomp.proxy.settings import Limits
from statecomp.proxy.tenants import secrets_among
from statecomp.testing.words import BULK, OneLiner, WordScorer, chat_of, step
from statecomp.traces.secrets import PART
from tests.proxy.small_upstream import EAGER, Running, running
from tests.traces.kinds import KINDS, Kind

STEPS = "p" + "r" * 9


def conversation(kind: Kind, *, first: bool) -> list[dict[str, Any]]:
    """A secret that one output gives away, and that the agent uses again, before or behind it."""
    messages = chat_of(STEPS, bulk=BULK)
    shown, used = (1, 4) if first else (7, 1)
    output = messages[2 * shown]
    output["content"] = f"$ cat settings\n{kind.shown}\n{BULK}"
    part = kind.alone[-1]
    call = messages[2 * used - 1]
    call["tool_calls"][0]["function"]["arguments"] = json.dumps({"cmd": f"login '{part}' now"})
    call["content"] = f"I will try {part} against src/app.py"
    messages[2 * used]["content"] = f"error: {part} was refused by /srv/login.conf\n{BULK}"
    return messages


def stored(path: Path) -> Iterator[str]:
    """Every value in the file, unpacked."""
    connection = sqlite3.connect(path)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in names:
        for row in connection.execute(f"SELECT * FROM {table}"):
            for value in row:
                yield zlib.decompress(value).decode() if isinstance(value, bytes) else str(value)
    connection.close()


def shown(ledger: Any) -> str:
    """What the pages say."""
    told: list[Any] = [answers.overview(ledger)]
    for session in ledger.sessions():
        told.append(answers.session_detail(ledger, session, 0))
        told += [answers.commit_detail(ledger, entry) for entry in ledger.entries(session.id)]
    return json.dumps(told)


@pytest.mark.parametrize("first", [True, False], ids=["shown first", "used first"])
def test_no_secret_is_stored_shown_or_exported(first: bool, tmp_path: Path) -> None:
    path, runs = tmp_path / "ledger.sqlite", tmp_path / "runs.jsonl"
    ledger = open_store(str(path), {})
    with running(ledger=ledger) as proxy:
        for name, kind in KINDS.items():
            messages = conversation(kind, first=first)
            messages[0]["content"] = f"task {name}"
            for stop in (9, 15, 19):
                assert proxy.chat(messages[:stop]).status_code == 200
        proxy.drain()
        assert ledger.totals().commits > len(KINDS)
        page = shown(ledger)
    ledger.close()
    done = CliRunner().invoke(app, ["export", "--store", str(path), "-o", str(runs)])
    assert done.exit_code == 0, done.output
    # What the record of a commit says is what was sent: it cannot be taken back when a later
    # message gives it away.  Everything else can.
    places = [page, runs.read_text(), "\n".join(stored(path)) if first else ""]
    found = {
        (name, number)
        for name, kind in KINDS.items()
        for part in kind.alone
        for number, place in enumerate(places)
        if part in place or json.dumps(part)[1:-1] in place
    }
    assert found == set()


def test_no_half_of_a_secret_is_left_where_a_title_is_cut(tmp_path: Path) -> None:
    """A title is short: what stood at its end was no secret by its shape any more."""
    path = tmp_path / "ledger.sqlite"
    ledger = open_store(str(path), {})
    halves: dict[str, str] = {}
    with running(ledger=ledger) as proxy:
        for name, kind in KINDS.items():
            secret = kind.alone[0]
            before = TITLE - 1 - kind.shown.index(secret) - 2 * len(secret) // 3
            halves[name] = secret[: len(secret) // 2]
            task = f"{name} {'to do ' * TITLE}"[: max(0, before)] + "\n" + kind.shown
            assert proxy.chat([{"role": "user", "content": task}]).status_code == 200
        proxy.drain()
        titles = [session.title for session in ledger.sessions(1000)]
    ledger.close()
    told = "\n".join([*titles, *stored(path)])
    assert {name for name, half in halves.items() if half in told} == set()
    assert len(titles) == len(KINDS)
    assert all(len(title) <= TITLE for title in titles)


def test_a_key_in_the_place_of_a_name_is_not_stored(tmp_path: Path) -> None:
    """As a client sends it whose settings were mixed up."""
    path = tmp_path / "ledger.sqlite"
    ledger = open_store(str(path), {})
    key = KINDS["openai"].alone[0]
    body = {"model": key, "messages": chat_of("pr")}
    with running(ledger=ledger) as proxy:
        sent = {"authorization": "Bearer other", "user-agent": f"agent/{key} (x)"}
        assert proxy.client.post("/v1/chat/completions", json=body, headers=sent).is_success
        proxy.drain()
        assert ledger.totals().requests == 1
    ledger.close()
    assert key not in "\n".join(stored(path))


def test_no_record_that_shortens_a_call_tells_the_beginning_of_a_secret(tmp_path: Path) -> None:
    """Two thirds of a token stood in a record: a check for whole ones did not see them."""
    path = tmp_path / "ledger.sqlite"
    ledger = open_store(str(path), {})
    kind = KINDS["jwt"]
    with running(ledger=ledger) as proxy:
        for length in range(280, 700, 60):
            fields = ", ".join(f'"k{n}": {n}' for n in range(90))[:length]
            given = json.dumps({"cmd": "echo", "env": {"a": fields, "b": kind.shown}})
            messages = [{"role": "user", "content": f"task {length}"}]
            messages += step("bash", given, BULK, call_id="c0")
            for number in range(1, 5):
                messages += step("read", f'{{"n": {number}}}', BULK, call_id=f"c{number}")
            assert proxy.chat(messages).status_code == 200
        proxy.drain()
        assert ledger.totals().requests == 7
    ledger.close()
    assert [half for half in stored(path) if kind.alone[0][:30] in half] == []


def test_a_text_with_the_beginning_or_the_end_of_a_secret_tells_it() -> None:
    """Whatever the secret was known by; short ones could be ordinary words."""
    kinds = ("jwt", "github", "aws-secret", "rsa")
    told = secrets_among(KINDS[name].shown for name in kinds)
    for secret in (part for name in kinds for part in KINDS[name].alone):
        assert told(f"echo {secret[: PART + 1]} ... -> done")
        assert told(f"echo ... {secret[-PART - 1 :]}")
        assert not told(f"echo {secret[: PART // 2]}")
    assert not told("echo nothing of them")
    assert not secrets_among(["password=hunter2-and-more"])("hunter2-and is a word")


PASSWORD = "Zx81kqPw22Lm"
PATIENCE_S = 30.0


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy proxy: what it knew of a session is forgotten when a few others came."""
    monkeypatch.setattr("statecomp.ledger.pages.REMEMBERED_SESSIONS", 2)


def used_and_given_away() -> list[dict[str, Any]]:
    """A password in the task and in the first output, which only the last output gives away."""
    messages = chat_of("prrk")
    messages[0]["content"] = f"log in with {PASSWORD}"
    messages[2]["content"] = f"{BULK}\nthe reply was {PASSWORD} and no more\n{BULK}"
    messages[6]["content"] = f"password: {PASSWORD}\n{BULK}"
    return messages


def others(proxy: Running, names: str) -> None:
    for name in names:
        assert proxy.chat([{"role": "user", "content": f"task {name}"}]).status_code == 200


def recorded(proxy: Running, sessions: int) -> bool:
    ends = monotonic() + PATIENCE_S
    while len(proxy.ledger.sessions()) < sessions and monotonic() < ends:
        sleep(0.02)
    return len(proxy.ledger.sessions()) >= sessions


CLAUDE = [
    {"role": "user", "content": "Log in."},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "login", "input": {"with": PASSWORD}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
]
CODEX = [
    {"type": "function_call", "call_id": "t", "name": "login", "arguments": f'["{PASSWORD}"]'},
    {"type": "function_call_output", "call_id": "t", "output": "ok"},
]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {"system": f"password: {PASSWORD}", "messages": CLAUDE}),
        ("/v1/responses", {"instructions": f"password: {PASSWORD}", "input": CODEX}),
    ],
)
def test_what_a_system_prompt_gives_away_is_a_secret_in_its_conversation(
    path: str, body: dict[str, Any], tmp_path: Path
) -> None:
    """It stands outside the messages, and is not stored."""
    ledger = open_store(str(tmp_path / "ledger.sqlite"), {})
    with running(ledger=ledger) as proxy:
        assert proxy.client.post(path, json={"model": "m", **body}).status_code == 200
        proxy.drain()
        assert ledger.totals().requests == 1
    ledger.close()
    kept = "\n".join(stored(tmp_path / "ledger.sqlite"))
    assert "login" in kept
    assert PASSWORD not in kept


@pytest.mark.usefixtures("forgetful")
def test_a_request_that_comes_again_tells_no_secret_that_was_forgotten_meanwhile(
    tmp_path: Path,
) -> None:
    """Its messages are stored already, and what they gave away was known no more."""
    ledger = open_store(str(tmp_path / "ledger.sqlite"), {})
    with running(ledger=ledger) as proxy:
        for names in ("abcd", "efgh"):
            assert proxy.chat(used_and_given_away()).status_code == 200
            others(proxy, names)
            proxy.drain()
        assert len(ledger.sessions()) == 9
    ledger.close()
    assert PASSWORD not in "\n".join(stored(tmp_path / "ledger.sqlite"))


@dataclass
class Late(WordScorer):
    """Says nothing until it may."""

    go: Event
    asked: Event

    def score(self, history: History) -> Mapping[str, float]:
        self.asked.set()
        assert self.go.wait(PATIENCE_S)
        return super().score(history)


@pytest.mark.usefixtures("forgetful")
def test_a_decision_that_comes_late_tells_no_secret_that_was_forgotten_meanwhile(
    tmp_path: Path,
) -> None:
    ledger = open_store(str(tmp_path / "ledger.sqlite"), {})
    go, asked = Event(), Event()
    method = replace(EAGER, scorer=lambda: Late(go, asked), summarizer=lambda _: OneLiner())
    limits = Limits(records=12)  # of which half may wait for a decision
    with running(method=method, ledger=ledger, commit="background", limits=limits) as proxy:
        assert proxy.chat(used_and_given_away()).status_code == 200
        assert asked.wait(PATIENCE_S)
        others(proxy, "abcdefghij")
        assert recorded(proxy, 5)
        go.set()
        proxy.drain()
        assert [e for s in ledger.sessions() for e in ledger.entries(s.id)]
    ledger.close()
    assert PASSWORD not in "\n".join(stored(tmp_path / "ledger.sqlite"))
