"""Every commit in the ledger says which router decided it, also after a switch and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from statecomp.config.learned import following
from statecomp.controller.spans import Gates
from statecomp.dashboard.app import routes
from statecomp.learning import routers as shelf
from statecomp.learning.routers import Routers
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.app import build_app
from statecomp.proxy.settings import ProxySettings
from statecomp.router.calibrate import Beta
from statecomp.router.shipped import open_bundle
from statecomp.testing.provider.serving import serving
from tests.proxy.conversations import CHAT
from tests.proxy.serving import Proxied, converse
from tests.proxy.upstream import TASK, upstream

OURS = {"x-statecomp": "1"}
GATES = Gates(threshold=0.01, longer_than=1, min_source_tokens=50)


def learned(routers: Routers, *, better: bool) -> str:
    shipped = open_bundle()
    assert isinstance(shipped.calibration, Beta)
    sure = replace(shipped, calibration=replace(shipped.calibration, bias=9.0))
    return routers.put(sure, {"better": better, "comparison": {}}, "")


def test_commits_carry_the_name_of_the_router_that_decided_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "FRESH_S", 0.0)
    routers = Routers(tmp_path / "routers")
    mine, worse = learned(routers, better=True), learned(routers, better=False)
    ledger, model = open_ledger(":memory:"), upstream()
    method = following(Method(rule=GATES), routers)
    with serving(model.app) as direct:
        settings = ProxySettings(upstream=direct, commit="now")
        app = build_app(settings, ledger, method, pages=routes(ledger, routers))
        with serving(app) as url:
            proxy = Proxied(url, direct, model, ledger)

            def decided_by(task: str) -> set[str]:
                """The routers of a new conversation's commits."""
                known = {session.id for session in proxy.sessions}
                converse(proxy, CHAT, [*CHAT.user(f"{TASK} {task}"), *CHAT.run(6)])
                new = [entry for entry in proxy.entries if entry.session not in known]
                assert new
                return {str(entry.ruling["router"]) for entry in new}

            def asked(path: str) -> httpx.Response:
                return httpx.post(f"{url}/statecomp/api/routers/{path}", headers=OURS)

            assert decided_by("first") == {"shipped"}
            assert asked(f"{mine}/use").json()["in_use"] == mine
            assert decided_by("second") == {mine}
            refused = asked(f"{worse}/use")
            assert refused.status_code == 409
            assert "was not better than the shipped one" in refused.json()["error"]
            assert decided_by("third") == {mine}
            told = asked("back").json()
            assert (told["in_use"], told["before"]) == ("shipped", mine)
            assert decided_by("fourth") == {"shipped"}
            entry = proxy.entries[0]
            shown = httpx.get(f"{url}/statecomp/api/commits/{entry.commit.id}").json()
            assert shown["router"] == entry.ruling["router"]
    ledger.close()
