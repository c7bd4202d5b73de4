"""Two routers on the same live traffic, through the real proxy, with nothing rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from statecomp.controller.age import AgeScorer
from statecomp.controller.spans import Gates
from statecomp.dashboard.app import routes
from statecomp.errors import ScoringFailed
from statecomp.history.history import History
from statecomp.learning.watch import interval
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from statecomp.method import Method
from statecomp.proxy.app import build_app
from statecomp.proxy.rivals.rivals import Rivals
from statecomp.proxy.security import VIEWER
from statecomp.proxy.settings import ProxySettings
from statecomp.router.bundle import save
from statecomp.router.calibrate import Beta
from statecomp.router.shipped import open_bundle
from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.serving import serving
from tests.proxy.conversations import CHAT, post
from tests.proxy.serving import PATIENCE_S, served
from tests.proxy.upstream import TASK, upstream

SMALL = Gates(longer_than=1, min_source_tokens=50)
SOON = Method(scorer=lambda: AgeScorer(2), rule=SMALL)
LATE = Method(scorer=lambda: AgeScorer(6), rule=SMALL)


@dataclass(frozen=True)
class Observed:
    url: str
    upstream: ScriptedUpstream
    ledger: Ledger
    rivals: Rivals

    def send(self, messages: list[dict[str, Any]]) -> None:
        """One request, and both routers' word on it."""
        asked = len(self.upstream.requests())
        assert post(self.url, CHAT, CHAT.body(messages)).status_code == 200
        until(lambda: self.rivals.as_json()["requests"] > asked)


def until(there: Callable[[], bool]) -> None:
    limit = monotonic() + PATIENCE_S
    while not there() and monotonic() < limit:
        sleep(0.02)
    assert there()


@contextmanager
def observed(one: Method = SOON, other: Method = LATE) -> Iterator[Observed]:
    rivals = Rivals({"soon": one, "late": other})
    ledger, model = open_ledger(":memory:"), upstream()
    pages = routes(ledger, None, rivals.as_json)
    with serving(model.app) as direct:
        settings = ProxySettings(upstream=direct, mode="observe", commit="now")
        app = build_app(settings, ledger, one, pages=pages, rivals=rivals)
        with serving(app) as url:
            yield Observed(url, model, ledger, rivals)
    ledger.close()


def turn(number: int, part: int) -> list[dict[str, Any]]:
    """Step `number` reads a part."""
    made = {"name": "read", "arguments": f'{{"part": {part}}}'}
    call = {"id": f"call_{number}", "type": "function", "function": made}
    result = f"part {part}: " + "all is well with it. " * 60
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
    ]


def growing(steps: int) -> Iterator[list[dict[str, Any]]]:
    messages = CHAT.user(TASK)
    for number in range(1, steps + 1):
        messages = [*messages, *turn(number, number)]
        yield messages


def test_both_are_counted_and_nothing_is_rewritten() -> None:
    with observed() as proxy:
        for messages in growing(10):
            proxy.send(messages)
            assert proxy.upstream.requests()[-1].body["messages"] == messages
        told = httpx.get(f"{proxy.url}/statecomp/api/routers").json()["rivals"]
        metrics = httpx.get(f"{proxy.url}/metrics").text
    soon, late = told["sides"]
    assert told["requests"] == 10
    assert (soon["name"], late["name"]) == ("soon", "late")
    assert soon["replaced"] > late["replaced"] > 0
    assert soon["tokens"] > late["tokens"] > 0
    assert 0.0 < told["agreement"] < 1.0
    assert told["both"] == late["replaced"]
    assert (late["alone"], soon["alone"]) == (0, soon["replaced"] - late["replaced"])
    assert 'statecomp_rival_tokens_total{router="soon",kind="sent"} ' in metrics
    assert 'statecomp_rival_steps_total{router="late",fate="open"} ' in metrics
    assert "statecomp_rival_agreement 0." in metrics


def test_what_a_later_step_wanted_counts_against_whoever_had_replaced_it() -> None:
    with observed() as proxy:
        *_, before = growing(5)
        proxy.send(before)
        proxy.send([*before, *turn(6, 1)])
        told = proxy.rivals.as_json()
    soon, late = told["sides"]
    assert (soon["wanted"], soon["alone_wanted"]) == (1, 1)
    assert (soon["low"], soon["high"]) == interval(1, soon["replaced"])
    assert soon["replaced"] > 1
    assert (late["wanted"], late["replaced"]) == (0, 0)


def test_what_nobody_wanted_for_twenty_steps_is_quiet() -> None:
    with observed() as proxy:
        for messages in growing(26):
            if len(messages) > 8:
                proxy.send(messages)
        soon, _ = proxy.rivals.as_json()["sides"]
        metrics = httpx.get(f"{proxy.url}/metrics").text
    assert soon["wanted"] == 0
    assert 0.0 < soon["high"] < 1.0
    assert 'statecomp_rival_steps_total{router="soon",fate="quiet"} ' in metrics
    assert 'router="late",fate="quiet"' not in metrics


def test_a_router_that_fails_stops_no_request() -> None:
    class Broken:
        def score(self, history: History) -> dict[str, float]:
            raise ScoringFailed("no answer")

    with observed(other=replace(LATE, scorer=Broken)) as proxy:
        for messages in growing(6):
            proxy.send(messages)
        soon, broken = proxy.rivals.as_json()["sides"]
    assert soon["replaced"] > 0
    assert (broken["replaced"], broken["tokens"]) == (0, 0)


def test_a_tenant_sees_its_own_pages_without_the_comparison() -> None:
    inner = Starlette(routes=routes(open_ledger(":memory:"), None, lambda: {"requests": 1}))

    async def as_tenant(scope, receive, send):  # type: ignore[no-untyped-def]
        await inner({**scope, VIEWER: "somebody"}, receive, send)

    assert TestClient(inner).get("/api/routers").json()["rivals"] == {"requests": 1}
    assert TestClient(as_tenant).get("/api/routers").json()["rivals"] is None


@pytest.fixture
def wary(tmp_path: Path) -> Path:
    """The shipped router, far less sure of everything."""
    bundle = open_bundle()
    assert isinstance(bundle.calibration, Beta)
    less = replace(bundle.calibration, bias=-6.0)
    save(tmp_path / "wary", replace(bundle, calibration=less))
    return tmp_path / "wary"


def test_the_command_compares_two_learned_routers(tmp_path: Path, wary: Path) -> None:
    model = upstream()
    two = ("--mode", "observe", "--router", "shipped", "--router", str(wary), "--processes", "0")
    with serving(model.app) as direct, served(direct, tmp_path, *two) as proxy:
        for messages in growing(14):
            assert post(proxy.url, CHAT, CHAT.body(messages)).status_code == 200
        asked = f"{proxy.url}/statecomp/api/routers"
        until(lambda: httpx.get(asked).json()["rivals"]["steps"] >= 12)
        told = httpx.get(asked).json()["rivals"]
    shipped, other = told["sides"]
    assert (shipped["name"], other["name"]) == ("shipped", "wary")
    assert shipped["replaced"] > other["replaced"]
    assert shipped["saved"] > other["saved"]
