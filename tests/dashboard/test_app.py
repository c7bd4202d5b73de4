"""The dashboard's addresses: what they answer, to whom, and what they refuse."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from statecomp.dashboard.app import AT_ONCE, routes
from statecomp.dashboard.shared import between, static_files
from statecomp.ledger.audit import Cell, LedgerFailed, Regret, Request, Totals
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.proxy.app import build_app
from statecomp.proxy.security import VIEWER
from statecomp.proxy.settings import ProxySettings
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.writers import ModelRecords
from tests.ledger.samples import chat, commit, entry, request, session

HERE = "http://127.0.0.1:8484"
UNDO = {"x-statecomp": "1"}
TOKEN, ADMIN = "a-token-of-some-length", "a-token-of-the-owner"


def filled() -> Ledger:
    """One session, two requests, one commit with a regret."""
    ledger = open_ledger(":memory:")
    of = commit("s1")
    ledger.commits("t").append("s1", [of])
    regret = Regret("run", 2, of.id, "repeated call", "shell ls")
    ledger.record(session(last_s=1_001.0), request(), [entry(of)], (), chat(3))
    ledger.record(session(last_s=1_002.0), request(number=2), (), [regret], chat(4))
    return ledger


def pages(ledger: Ledger) -> TestClient:
    app = Starlette(routes=[Mount("/statecomp", routes=list(routes(ledger)))])
    return TestClient(app, base_url=HERE)


def proxied(ledger: Ledger, **settings: Any) -> TestClient:
    chosen = ProxySettings(upstream="http://127.0.0.1:9", **settings)
    return TestClient(build_app(chosen, ledger, pages=routes(ledger)), base_url=HERE)


class Counted:
    """A ledger that knows how many read it at once, and lets each wait for others."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = Lock()
        self._reading = self.most = self.read = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def totals(self, **given: Any) -> Totals:
        with self._lock:
            self._reading += 1
            self.most, self.read = max(self.most, self._reading), self.read + 1
        time.sleep(0.02)
        with self._lock:
            self._reading -= 1
        return self._ledger.totals(**given)


class Away:
    """A ledger that cannot be reached."""

    def __getattr__(self, name: str) -> Any:
        raise LedgerFailed("the database is away")


def test_however_many_pages_are_asked_for_few_are_read_at_once() -> None:
    """Forty of a long session took the interpreter, and the store, from everybody's requests."""
    ledger: Any = Counted(filled())
    app = Starlette(routes=[Mount("/statecomp", routes=list(routes(ledger)))])

    async def asked() -> list[int]:
        calls = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE)
        async with calls:
            answers = [calls.get("/statecomp/api/overview") for _ in range(20)]
            return [answer.status_code for answer in await asyncio.gather(*answers)]

    assert asyncio.run(asked()) == [200] * 20
    assert ledger.read == 20
    assert ledger.most <= AT_ONCE


def test_where_the_ledger_lies_is_told_to_its_owner_and_to_no_tenant() -> None:
    away: Any = Away()
    inner = Starlette(routes=[Mount("/statecomp", routes=list(routes(away)))])

    async def as_tenant(scope, receive, send):  # type: ignore[no-untyped-def]
        await inner({**scope, VIEWER: "somebody"}, receive, send)

    for client, told in (
        (TestClient(inner), "The ledger does not answer: the database is away"),
        (TestClient(as_tenant), "The ledger does not answer."),
    ):
        answer = client.get("/statecomp/api/overview")
        assert (answer.status_code, answer.json()["error"]) == (503, told)


def test_every_answer_forbids_foreign_and_inline_code() -> None:
    ours = pages(filled())
    for path in ("", "main.js", "report.css", "no-such-file", "api/overview", "api/sessions/run"):
        headers = ours.get(f"/statecomp/{path}").headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_the_page_loads_only_files_that_are_there_and_holds_no_code_itself() -> None:
    files = static_files()
    page = files["index.html"].body.decode()
    assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?![^>]* src=)", page)
    loaded = set(re.findall(r'(?:src|href)="([\w.]+)"', page))
    for name in [name for name in files if name.endswith(".js")]:
        loaded |= set(re.findall(r'from "\./([\w.]+)"', files[name].body.decode()))
    assert loaded == set(files) - {"index.html"}
    assert not any("//" in name for name in loaded)


def test_no_script_of_the_page_can_write_markup() -> None:
    ways = (
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|DOMParser|srcdoc"
    )
    for name, file in static_files().items():
        if name.endswith(".js"):
            assert not re.search(ways, file.body.decode()), name


def test_a_report_without_its_marks_is_noticed_at_once() -> None:
    with pytest.raises(LookupError, match="small tools"):
        between("nothing", "/* ---- small tools ---- */", "/* ---- header ---- */")


def test_only_the_files_of_the_page_are_served() -> None:
    ours = pages(filled())
    assert ours.get("/statecomp/").headers["content-type"] == "text/html; charset=utf-8"
    assert ours.get("/statecomp/main.js").headers["content-type"].startswith("text/javascript")
    for path in ("app.py", "..%2fapp.py", "static/main.js", "%2e%2e/app.py", "api"):
        assert ours.get(f"/statecomp/{path}").status_code == 404


def test_a_file_and_an_unchanged_answer_are_not_sent_twice() -> None:
    ours = pages(filled())
    for path in ("", "main.js", "api/overview", "api/sessions/run?after=1", "api/commits/s1-0"):
        first = ours.get(f"/statecomp/{path}")
        again = ours.get(f"/statecomp/{path}", headers={"if-none-match": first.headers["etag"]})
        assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


def test_a_new_request_and_an_undo_change_the_answers() -> None:
    ledger = filled()
    ours = pages(ledger)
    tags = [ours.get("/statecomp/api/sessions/run").headers["etag"]]
    ledger.record(session(last_s=1_003.0), request(number=3))
    tags.append(ours.get("/statecomp/api/sessions/run").headers["etag"])
    ledger.undo("s1-0")
    tags.append(ours.get("/statecomp/api/sessions/run").headers["etag"])
    assert len(set(tags)) == 3


def test_the_overview_tells_totals_and_sessions_but_no_tenant() -> None:
    value = pages(filled()).get("/statecomp/api/overview").json()
    assert value["totals"]["raw_tokens"] == 2000
    assert value["totals"]["sent_dollars"] > value["totals"]["raw_dollars"]
    (listed,) = value["sessions"]
    assert (listed["id"], listed["title"], listed["totals"]["requests"]) == (
        "run",
        "task of run",
        2,
    )
    assert "tenant" not in listed


def test_what_records_cost_today_stands_beside_what_they_may() -> None:
    ledger = filled()
    now = time.time()
    ledger.record(session(last_s=now), request(number=3, when_s=now, record_dollars=0.25))
    ledger.record(session(last_s=now), request(number=4, when_s=now - 9e5, record_dollars=0.5))
    records = ModelRecords(ExtractiveSummarizer(), session_dollars=1.0, day_dollars=10.0)
    app = Starlette(routes=[Mount("/statecomp", routes=list(routes(ledger, records=records)))])
    ours = TestClient(app, base_url=HERE)
    overview = ours.get("/statecomp/api/overview").json()
    assert overview["records"] == {"today": 0.25, "day": 10.0}
    assert overview["totals"]["record_dollars"] == 0.75
    assert ours.get("/statecomp/api/sessions/run").json()["record_limit"] == 1.0
    unbounded = routes(ledger, records=ModelRecords(ExtractiveSummarizer()))
    app = Starlette(routes=[Mount("/statecomp", routes=list(unbounded))])
    told = TestClient(app, base_url=HERE).get("/statecomp/api/overview").json()
    assert told["records"]["day"] is None


def test_a_session_is_told_whole_or_from_a_request_on() -> None:
    ours = pages(filled())
    whole = ours.get("/statecomp/api/sessions/run").json()
    assert [r["number"] for r in whole["requests"]] == [1, 2]
    assert whole["requests"][0]["states"] == "skl"
    assert whole["requests"][0]["scores"] == [0.9, 0.25, None]
    (told,) = whole["commits"]
    assert (told["state"], told["regrets"], told["lowest"]) == ("live", 1, 0.75)
    assert told["when_s"] == whole["requests"][0]["when_s"]
    later = ours.get("/statecomp/api/sessions/run?after=1").json()
    assert [r["number"] for r in later["requests"]] == [2]
    for odd in ("-1", "x", "٣", "9" * 5000):
        assert len(ours.get("/statecomp/api/sessions/run", params={"after": odd}).json()) == 7


class Watched:
    """A ledger that remembers after which number its requests were read."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.read: list[int] = []

    def requests(self, session: str, *, after: int = 0) -> Sequence[Request]:
        self.read.append(after)
        return self.ledger.requests(session, after=after)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ledger, name)


def test_a_poll_reads_only_the_requests_that_are_new_and_none_where_nothing_is() -> None:
    watched: Any = Watched(filled())
    ours = pages(watched)
    first = ours.get("/statecomp/api/sessions/run?after=1")
    assert (len(first.json()["requests"]), watched.read) == (1, [1])
    known = {"if-none-match": first.headers["etag"]}
    assert ours.get("/statecomp/api/sessions/run?after=1", headers=known).status_code == 304
    assert watched.read == [1]


def test_what_is_not_there_is_said_in_json() -> None:
    ours = pages(filled())
    for path in ("api/sessions/no", "api/commits/no", "nothing.js"):
        answer = ours.get(f"/statecomp/{path}")
        assert answer.status_code == 404
        assert answer.json()["error"]


def test_a_ledger_that_is_away_is_said_and_not_a_crash() -> None:
    away: Any = Away()
    ours = pages(away)
    for path in ("api/overview", "api/sessions/run", "api/commits/x"):
        answer = ours.get(f"/statecomp/{path}")
        assert answer.status_code == 503
        assert "the database is away" in answer.json()["error"]
    assert ours.post("/statecomp/api/commits/x/undo", headers=UNDO).status_code == 503
    assert ours.get("/statecomp/").status_code == 200


def test_undo_changes_the_ledger_and_tells_the_new_state() -> None:
    ledger = filled()
    answer = pages(ledger).post("/statecomp/api/commits/s1-0/undo", headers=UNDO)
    assert (answer.status_code, answer.json()["state"]) == (200, "undone")
    found = ledger.entry("s1-0")
    assert found is not None
    assert found.state == "undone"
    assert ledger.commits("t").held(["s1/i1"])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-statecomp": "0"},
        {**UNDO, "origin": "https://evil.example"},
        {**UNDO, "origin": "null"},
        {**UNDO, "origin": "http://127.0.0.1:9999"},
        {**UNDO, "sec-fetch-site": "cross-site"},
        {**UNDO, "sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_another_site_cannot_undo(headers: dict[str, str]) -> None:
    ledger = filled()
    for ours in (pages(ledger), proxied(ledger)):
        assert ours.post("/statecomp/api/commits/s1-0/undo", headers=headers).status_code == 403
    found = ledger.entry("s1-0")
    assert found is not None
    assert found.state == "live"


def test_undo_wants_a_post_and_a_whole_name() -> None:
    ledger = filled()
    ours = pages(ledger)
    assert ours.get("/statecomp/api/commits/s1-0/undo", headers=UNDO).status_code == 405
    assert ours.get("/statecomp/api/commits/s1").json()["id"] == "s1-0"
    assert ours.post("/statecomp/api/commits/s1/undo", headers=UNDO).status_code == 404
    assert ours.post("/statecomp/api/commits/no/undo", headers=UNDO).status_code == 404
    (told,) = ledger.entries("run")
    assert told.state == "live"


def test_the_proxys_guard_stands_before_every_address() -> None:
    ledger = filled()
    paths = ["", "main.js", "api/overview", "api/sessions/run", "api/commits/s1-0"]
    for path in paths:
        bent = proxied(ledger).get(f"/statecomp/{path}", headers={"host": "evil.example"})
        assert bent.status_code == 403
        closed = proxied(ledger, token=TOKEN).get(f"/statecomp/{path}")
        assert closed.status_code == 401
        cookie = {"cookie": f"statecomp-token={ADMIN}"}
        ours = proxied(ledger, token=TOKEN, admin_token=ADMIN)
        known = ours.get(f"/statecomp/{path}", headers=cookie)
        assert known.status_code == 200
    undo = "/statecomp/api/commits/s1-0/undo"
    assert proxied(ledger, token=TOKEN).post(undo, headers=UNDO).status_code == 401
    same = {**UNDO, "origin": HERE, "sec-fetch-site": "same-origin"}
    assert proxied(ledger).post(undo, headers=same).status_code == 200


def test_numbers_without_json_and_broken_text_still_arrive() -> None:
    ledger = open_ledger(":memory:")
    odd = entry(
        commit("s2", text="lone \ud800 end"),
        scores={1: float("nan"), 2: 0.5},
        ruling={"saving_dollars": float("inf"), "odd": float("nan"), "spans": 2},
        originals=({"role": "tool", "content": "lone \udfff"},),
    )
    grid = (Cell(1, "kept", float("nan")), Cell(3, "kept", 0.25))
    wild = replace(request(), raw_dollars=float("inf"), grid=grid, note="\ud800")
    ledger.record(session(), wild, [odd])
    ours = pages(ledger)
    told = ours.get("/statecomp/api/sessions/run").json()["requests"][0]
    assert (told["states"], told["scores"]) == ("k.k", [None, None, 0.25])
    assert told["note"] == "\ud800"
    detail = ours.get("/statecomp/api/commits/s2-0").json()
    assert detail["scores"] == [[1, None], [2, 0.5]]
    assert detail["summary"] == "lone \ud800 end"
