"""The router desk in a real browser: what it shows, and what its button does."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from statecomp.dashboard.app import routes
from statecomp.learning.routers import Routers
from statecomp.ledger.audit import Regret
from statecomp.proxy.app import build_app
from statecomp.proxy.rivals.fates import RivalTable, SideSums
from statecomp.proxy.settings import ProxySettings
from statecomp.router.shipped import open_bundle
from statecomp.testing.provider.serving import serving
from tests.browser import open_browser
from tests.learning.made_up import entry_at, live, opened

WAIT_MS = 60_000


def test_a_person_reads_how_scores_hold_and_switches_by_a_button(tmp_path: Path) -> None:
    routers = Routers(tmp_path / "routers")
    about = {"better": True, "sessions": 9, "labels": "rules", "comparison": {}}
    name = routers.put(open_bundle(), about, "<h1>both of them</h1>")
    ledger = opened(tmp_path / "ledger.sqlite")
    for seed in range(10):
        one = f"session-{seed:02}"
        entries = [entry_at(one, first, first, 4, score=0.97) for first in (1, 2, 3, 4)]
        back = [Regret(one, 9, f"commit-{one}-1", "repeated call", "read_file")]
        live(ledger, seed, steps=30, entries=entries, regrets=back, client="codex/<b>1")
    table = RivalTable((SideSums("shipped", 9, 1000, 700), SideSums("<i>mine", 9, 1000, 600)))
    table.moved(None, ("quiet", "wanted"))
    table.moved(None, ("kept", "quiet"))
    app = build_app(ProxySettings(), ledger, pages=routes(ledger, routers, table.as_json))
    with serving(app) as url, open_browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto(f"{url}/statecomp/")
        desk = page.locator(".routers")
        expect(desk).to_contain_text("Deciding now: shipped", timeout=WAIT_MS)
        expect(desk).to_contain_text("With codex more comes back than the scores say")
        expect(desk).to_contain_text("0.95 to 0.98")
        expect(desk).not_to_contain_text("[object")
        folded = desk.locator("details")
        expect(folded).to_have_attribute("open", "")
        folded.locator("summary").click()
        desk.get_by_role("button", name="Use it").click()
        expect(desk).to_contain_text(f"Deciding now: {name}", timeout=WAIT_MS)
        assert routers.in_use == name
        expect(folded).not_to_have_attribute("open", "")
        rivals = desk.locator(".rivals")
        expect(rivals).to_contain_text("Both would have replaced 1 step, 50")
        expect(rivals.locator("thead")).to_contain_text("<i>mine")
        expect(rivals.locator("tbody")).to_contain_text("400 tokens (40.0")
        expect(desk).to_contain_text("the rule counts")
        desk.get_by_role("button", name="Back to shipped").click()
        expect(desk).to_contain_text("Deciding now: shipped", timeout=WAIT_MS)
        assert routers.in_use == "shipped"
        desk.get_by_role("link", name="beside the shipped one").click()
        expect(page.get_by_role("heading", name="both of them")).to_be_visible(timeout=WAIT_MS)
    ledger.close()
