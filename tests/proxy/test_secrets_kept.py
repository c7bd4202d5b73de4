"""Secrets of every kind through a whole proxy: none is in what it stores, shows or exports."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from statecomp.cli.app import app
from statecomp.config.places import open_store
from statecomp.dashboard import answers
from statecomp.testing.words import BULK, chat_of
from tests.proxy.small_upstream import running
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
