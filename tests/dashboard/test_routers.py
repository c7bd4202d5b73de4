"""The page's router desk: what it tells, who may switch, and that it follows the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from statecomp.dashboard.app import routes
from statecomp.dashboard.routers import VIEWERS, RouterDesk
from statecomp.learning.routers import Routers
from statecomp.ledger.audit import Regret
from statecomp.proxy.security import VIEWER
from statecomp.router.shipped import open_bundle
from tests.learning.made_up import entry_at, live, opened

OURS = {"x-statecomp": "1"}


@pytest.fixture
def routers(tmp_path: Path) -> Routers:
    shelf = Routers(tmp_path / "routers")
    measured = {name: {"measures": {"auroc": 0.9}} for name in ("shipped", "yours")}
    about = {"sessions": 9, "labels": "rules", "comparison": {**measured, "against": ["it is not"]}}
    shelf.put(open_bundle(), {"better": True, **about}, "<p>both of them</p>")
    shelf.put(open_bundle(), {"better": False, **about}, "")
    return shelf


@pytest.fixture
def page(tmp_path: Path, routers: Routers) -> Iterator[TestClient]:
    ledger = opened(tmp_path / "ledger.sqlite")
    for seed in range(10):
        name = f"session-{seed:02}"
        entries = [entry_at(name, first, first, 4, score=0.97) for first in (1, 2, 3, 4)]
        back = [Regret(name, 9, f"commit-{name}-1", "repeated call", "read_file")]
        live(ledger, seed, steps=30, entries=entries, regrets=back, client="codex/1")
    with TestClient(Starlette(routes=routes(ledger, routers))) as client:
        yield client
    ledger.close()


def test_it_lists_routers_and_how_scores_hold(page: TestClient) -> None:
    told = page.get("/api/routers").json()
    assert told["in_use"] == "shipped"
    assert told["switchable"] is True
    assert [one["better"] for one in told["routers"]] == [True, False]
    (codex,) = told["watch"]["clients"]
    assert (codex["name"], codex["steps"], codex["wanted"]) == ("codex", 40, 10)
    assert codex["drifts"] is True
    assert codex["caution"] > 1
    assert told["watch"]["curve"][0]["name"] == "codex · 0.95 to 0.98"


def test_the_button_switches_and_refuses_what_is_not_better(
    page: TestClient, routers: Routers
) -> None:
    good, bad = routers.names()
    assert page.post(f"/api/routers/{good}/use", headers=OURS).json()["in_use"] == good
    assert routers.in_use == good
    refused = page.post(f"/api/routers/{bad}/use", headers=OURS)
    assert refused.status_code == 409
    assert "was not better" in refused.json()["error"]
    assert page.post("/api/routers/shipped/use", headers=OURS).json()["in_use"] == "shipped"


def test_another_site_and_another_tenant_may_not_switch(
    page: TestClient, routers: Routers, tmp_path: Path
) -> None:
    good = routers.names()[0]
    assert page.post(f"/api/routers/{good}/use").status_code == 403
    elsewhere = {**OURS, "origin": "https://evil.example"}
    assert page.post(f"/api/routers/{good}/use", headers=elsewhere).status_code == 403

    inner = Starlette(routes=routes(opened(tmp_path / "other.sqlite"), routers))

    async def as_tenant(scope, receive, send):  # type: ignore[no-untyped-def]
        await inner({**scope, VIEWER: "somebody"}, receive, send)

    tenant = TestClient(as_tenant)
    assert tenant.post(f"/api/routers/{good}/use", headers=OURS).status_code == 403
    assert tenant.get("/api/routers").json()["switchable"] is False
    assert tenant.get(f"/api/routers/{good}/page").status_code == 404
    assert routers.in_use == "shipped"


def test_whoever_can_be_many_tenants_fills_no_memory(tmp_path: Path) -> None:
    desk = RouterDesk(opened(tmp_path / "l.sqlite"))
    for number in range(VIEWERS + 10):
        desk._watch(f"tenant {number}")
    assert len(desk._seen) == VIEWERS


def test_the_learned_page_is_shown_and_may_run_nothing(page: TestClient, routers: Routers) -> None:
    shown = page.get(f"/api/routers/{routers.names()[0]}/page")
    assert "both of them" in shown.text
    assert "script-src" not in shown.headers["content-security-policy"]
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert page.get("/api/routers/nowhere/page").status_code == 404


def test_a_router_fixed_on_the_command_line_cannot_be_switched(tmp_path: Path) -> None:
    client = TestClient(Starlette(routes=routes(opened(tmp_path / "l.sqlite"))))
    told = client.get("/api/routers").json()
    assert (told["in_use"], told["switchable"], told["routers"]) == ("", False, [])
    assert client.post("/api/routers/shipped/use", headers=OURS).status_code == 403
