"""Whose account the pages and commands show: one's own, or an administrator's, of all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from statecomp.cli.app import app as commands
from statecomp.config.places import open_store
from statecomp.dashboard.app import routes
from statecomp.errors import BadInput
from statecomp.ledger.ledger import Ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.sessions import kept_salt, tenant_of, view_token, viewer_named, viewer_of
from statecomp.proxy.settings import ProxySettings
from tests.ledger.samples import chat, commit, entry, request, session

TOKEN, ADMIN = "the-token-of-all-clients", "the-token-of-the-owner"
OURS = {"x-statecomp": "1"}
KEYS = {"ann": "sk-of-ann-0123456789", "bob": "sk-of-bob-0123456789"}
MADE = commit("s1")  # both had the very same history, so their commits have one id


def own(name: str) -> dict[str, str]:
    return {"x-statecomp-token": TOKEN, "authorization": f"Bearer {KEYS[name]}"}


@pytest.fixture
def salt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return kept_salt(tmp_path / "statecomp")


@pytest.fixture
def ledger(tmp_path: Path, salt: bytes) -> Iterator[Ledger]:
    ledger = open_store(str(tmp_path / "ledger.sqlite"), {})
    for name, key in KEYS.items():
        tenant = tenant_of({b"authorization": f"Bearer {key}".encode()}, salt)
        ledger.commits(tenant).append("s1", [MADE])
        told = entry(MADE, name, originals=({"role": "tool", "content": f"file of {name}"},))
        ledger.record(session(name, tenant=tenant), request(name), [told], messages=chat(2, name))
    yield ledger
    ledger.close()


@pytest.fixture
def client(ledger: Ledger, salt: bytes) -> TestClient:
    settings = ProxySettings(token=TOKEN, admin_token=ADMIN, salt=salt)
    app = build_app(settings, ledger, pages=routes(ledger))
    return TestClient(app, base_url="http://127.0.0.1:8484", follow_redirects=False)


def told(client: TestClient, path: str, headers: dict[str, str]) -> Any:
    answer = client.get(f"/statecomp/api/{path}", headers=headers)
    return answer.json() if answer.status_code == 200 else answer.status_code


def test_a_tenant_sees_its_own_and_an_administrator_all(client: TestClient) -> None:
    seen = {
        name: sorted(s["id"] for s in told(client, "overview", headers)["sessions"])
        for name, headers in (
            ("ann", own("ann")),
            ("bob", own("bob")),
            ("owner", {"x-statecomp-token": ADMIN}),
            ("stranger", {**own("ann"), "authorization": "Bearer sk-of-nobody"}),
        )
    }
    assert seen == {"ann": ["ann"], "bob": ["bob"], "owner": ["ann", "bob"], "stranger": []}
    assert told(client, "overview", own("ann"))["totals"]["requests"] == 1
    assert told(client, "overview", {"x-statecomp-token": ADMIN})["totals"]["requests"] == 2


def test_the_token_of_all_clients_alone_opens_no_pages(client: TestClient) -> None:
    for path in ("/statecomp/", "/statecomp/api/overview", "/statecomp/api/sessions/ann"):
        assert client.get(path, headers={"x-statecomp-token": TOKEN}).status_code == 403
    assert client.get("/metrics", headers={"x-statecomp-token": TOKEN}).status_code == 200


def test_nobody_reads_or_undoes_what_is_anothers(client: TestClient, ledger: Ledger) -> None:
    assert told(client, "sessions/bob", own("ann")) == 404
    assert "file of ann" in json.dumps(told(client, f"commits/{MADE.id}", own("ann")))
    assert "file of bob" in json.dumps(told(client, f"commits/{MADE.id[:3]}", own("bob")))
    stranger = {**own("ann"), "authorization": "Bearer sk-of-nobody"}
    path = f"/statecomp/api/commits/{MADE.id}/undo"
    assert client.post(path, headers={**stranger, **OURS}).status_code == 404
    assert client.post(path, headers={**own("ann"), **OURS}).status_code == 200
    states = {name: ledger.entries(name)[0].state for name in KEYS}
    assert states == {"ann": "undone", "bob": "live"}


def test_a_browser_is_told_where_a_tenants_own_pages_are(client: TestClient) -> None:
    address = client.get("/statecomp/own", headers=own("bob")).text.strip()
    opened = client.get(address)
    assert (opened.status_code, opened.headers["location"]) == (303, "/statecomp/")
    cookie = {"cookie": opened.headers["set-cookie"].partition(";")[0]}
    assert TOKEN not in cookie["cookie"]
    assert [s["id"] for s in told(client, "overview", cookie)["sessions"]] == ["bob"]
    token = address.split("/")[2]
    assert client.get("/v1/models", headers={"x-statecomp-token": token}).status_code == 401
    forged = token[:-1] + ("0" if token[-1] != "0" else "1")
    assert client.get(f"/t/{forged}/statecomp/").status_code == 401
    assert client.get("/statecomp/own", headers={"x-statecomp-token": TOKEN}).status_code == 400


def test_a_view_token_is_one_tenants_of_one_store() -> None:
    token = view_token("ab" * 16, b"salt")
    assert viewer_of(token, b"salt") == "ab" * 16
    assert viewer_of(token, b"another") == viewer_of("", b"salt") == viewer_of("é", b"salt") == ""
    assert viewer_named("", b"salt") == ""
    with pytest.raises(BadInput, match="no view token of this store"):
        viewer_named("wrong", b"salt")


def test_commands_show_a_tenants_own_with_its_own_token(
    ledger: Ledger, salt: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = tenant_of({b"authorization": f"Bearer {KEYS['ann']}".encode()}, salt)
    store = ("--store", str(tmp_path / "ledger.sqlite"))

    def said(*command: str) -> str:
        return CliRunner().invoke(commands, [*command, *store], env=dict(os.environ)).output

    assert "ann" in said("sessions", "--json")
    assert "bob" in said("sessions", "--json")
    monkeypatch.setenv("STATECOMP_VIEW_TOKEN", view_token(tenant, salt))
    assert "bob" not in said("sessions", "--json")
    assert "file of ann" in said("diff", MADE.id)
    assert "is undone" in said("undo", MADE.id)
    assert [ledger.entries(name)[0].state for name in KEYS] == ["undone", "live"]


def test_an_administrators_token_is_another_one() -> None:
    for token, admin in (("", ADMIN), (TOKEN, TOKEN)):
        with pytest.raises(BadInput, match="admin token"):
            ProxySettings(token=token, admin_token=admin)
