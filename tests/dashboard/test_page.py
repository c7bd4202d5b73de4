"""The dashboard in a real browser: it is clicked, typed at, fed hostile text, and watched live."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from statecomp.ledger.audit import Cell, LedgerFailed, Regret
from statecomp.ledger.ledger import Ledger
from statecomp.ledger.open import open_ledger
from tests.browser import open_browser
from tests.dashboard.board import Board, board, recorded_messages
from tests.ledger.samples import commit, entry, request, session

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
STEPS = 15
ATTACK = "window.__pwned = 1"
HOSTILE = (
    f"</script><script>{ATTACK}</script><img src=x onerror='{ATTACK}'><svg onload='{ATTACK}'>"
    f'"><a href="javascript:{ATTACK}">x</a><style>body {{ display: none }}</style> \u202e\x1b[31m'
)
SHOWN = "</script><script>window.__pwned = 1</script><img src=x"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def shop() -> Iterator[Board]:
    """A recorded run, of which the first fifteen requests have gone through a real proxy."""
    with board() as found:
        found.play("web", until=STEPS)
        yield found


@contextmanager
def showing(browser: Browser, url: str, **context: Any) -> Iterator[Page]:
    """A page that has drawn itself and has run into no error of its own until the end."""
    page = browser.new_page(**{"viewport": WIDE, **context})
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(url)
    page.wait_for_selector("html[data-drawn]")
    yield page
    page.close()
    assert troubles == []


def address(board: Board, place: int = 0) -> str:
    return f"{board.page}#/session/{board.ledger.sessions()[place].id}"


def fits(page: Page) -> bool:
    wide = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return bool(wide[0] <= wide[1])


def test_without_requests_the_page_says_what_to_do(browser: Browser) -> None:
    with board() as empty, showing(browser, empty.page) as page:
        expect(page.get_by_role("heading", name="No request yet")).to_be_visible()
        expect(page.locator("pre")).to_contain_text(f"OPENAI_BASE_URL={empty.url}/v1")
        expect(page.locator("#pulse")).to_have_text("live")


def test_a_session_is_found_opened_and_read_cell_by_cell(browser: Browser, shop: Board) -> None:
    with showing(browser, shop.page) as page:
        page.get_by_label("Search sessions").fill("no such task")
        expect(page.locator("#session-list")).to_contain_text("No session matches")
        page.get_by_label("Search sessions").fill("SHOP pages")
        page.get_by_role("link", name="The shop pages").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("The shop pages")
        canvas, says = page.locator(".grid-box canvas"), page.locator("#grid-says")
        frame = canvas.bounding_box()
        assert frame is not None
        canvas.hover(position={"x": frame["width"] - 5, "y": 65})
        expect(says).to_contain_text(f"Interaction 1 at request {STEPS}")
        expect(says).to_contain_text("summarised")
        expect(says).to_contain_text("score 1.000 when it was decided")
        says.get_by_role("button", name="Open commit").click()
        expect(page.locator(".commit.open .summary-text")).to_contain_text("Record of past steps")


def test_the_keyboard_reaches_a_cell_and_its_commit(browser: Browser, shop: Board) -> None:
    with showing(browser, address(shop)) as page:
        page.get_by_role("button", name="Whole run").focus()
        page.keyboard.press("Tab")
        says = page.locator("#grid-says")
        expect(says).to_contain_text(f"Interaction 1 at request {STEPS}")
        page.keyboard.press("ArrowDown")
        expect(says).to_contain_text(f"Interaction 2 at request {STEPS}")
        page.keyboard.press("Home")
        expect(says).to_contain_text("Interaction 2 at request 1")
        expect(says).to_contain_text("not yet there")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        expect(page.locator(".commit.open")).to_be_visible()
        expect(page.locator(".commit.open button").first).to_be_focused()
        page.keyboard.press("Space")
        expect(page.locator(".commit.open")).to_have_count(0)


def test_undo_asks_first_then_changes_what_is_sent(browser: Browser) -> None:
    with board() as own, showing(browser, own.page) as page:
        own.play("web", until=STEPS)
        page.goto(address(own))
        (told, *_) = own.ledger.entries(own.ledger.sessions()[0].id)
        page.get_by_role("button", name="Interactions 1–").click()
        expect(page.locator(".summary-text")).to_contain_text("Record of past steps")
        expect(page.locator(".original-text")).to_contain_text("find . -type f | sort")
        expect(page.locator(".reasons")).to_contain_text("No economic gate was in force")
        page.get_by_role("button", name="Undo this commit").click()
        page.get_by_role("button", name="Keep it").click()
        assert own.ledger.entries(told.session)[0].state == "live"
        page.get_by_role("button", name="Undo this commit").click()
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(page.locator(".commit-view .badge")).to_have_text("undone")
        expect(page.locator(".commit.open .commit-line .badge")).to_have_text("undone")
        expect(page.get_by_role("button", name="Undo this commit")).to_have_count(0)
        assert own.ledger.entries(told.session)[0].state == "undone"
        own.send(recorded_messages("web")[:-1])
        assert own.ledger.requests(told.session)[-1].grid[0].state == "kept"


def test_what_was_only_observed_is_never_shown_as_saved(browser: Browser) -> None:
    ledger = open_ledger(":memory:")
    real: dict[str, Any] = {"raw_dollars": 0.75, "sent_dollars": 0.5}
    ledger.record(session("real"), request("real", **real))
    seen = entry(commit("s1"), "seen", state="observed", when_s=1_001.0)
    would: dict[str, Any] = {"mode": "observe", "raw_dollars": 4.0, "sent_dollars": 1.0}
    regret = Regret("seen", 1, seen.commit.id, "repeated call", "ls")
    ledger.record(session("seen"), request("seen", **would), [seen], [regret])
    with board(ledger) as own, showing(browser, own.page) as page:
        saved, observed = page.locator(".heroes").first, page.locator(".observed-part")
        expect(saved.locator(".figure").first).to_have_text("$0.250033.3\u00a0%")
        expect(observed.locator(".figure").first).to_have_text("$3.0075.0\u00a0%")
        expect(observed).to_contain_text("Dollars that would have been saved")
        expect(observed).to_contain_text("would have been 1 commit and 1 regret")
        rows = page.locator("#session-list tbody tr")
        expect(rows.filter(has_text="task of seen")).to_contain_text("$3.0000would have saved")
        expect(rows.filter(has_text="task of real")).not_to_contain_text("would have saved")
        rows.filter(has_text="task of seen").get_by_role("link").click()
        expect(page.locator("#head .facts")).to_contain_text("Dollars, would have saved")
        expect(page.locator("#head .facts")).not_to_contain_text("Dollars saved")
        expect(page.locator("#commits")).to_contain_text("request 1")
        assert fits(page)


def test_a_commit_says_who_wrote_its_record_and_a_request_what_that_cost(browser: Browser) -> None:
    ledger = open_ledger(":memory:")
    cut_off = "an extract, because the summary is not JSON"
    writers = ("gpt-5-mini", cut_off)
    entries = [entry(commit("a", place), ruling={"writer": by}) for place, by in enumerate(writers)]
    ledger.record(session(), request(record_dollars=0.0041, note="committed: z"), entries)
    with board(ledger) as own, showing(browser, address(own)) as page:
        expect(page.locator("#commits .commit").last).to_contain_text("by gpt-5-mini")
        expect(page.locator("#commits .commit").first).to_contain_text("an extract")
        page.get_by_role("button", name="Interactions 3–4").click()
        expect(page.locator(".reasons")).to_contain_text(f"Its record: {cut_off}.")
        expect(page.locator("#requests")).to_contain_text("records by a model: $0.0041")


def test_a_session_that_saved_nothing_explains_itself(browser: Browser) -> None:
    ledger = open_ledger(":memory:")
    none: dict[str, Any] = {"sent_tokens": 1000, "sent_dollars": 0.5, "outside_tokens": 3000}
    notes = ["too short: x", "nothing ready: a", "would not pay yet: y; would pay from about 70 on"]
    for number, note in enumerate(notes, start=1):
        ledger.record(session("parent"), request("parent", number, note=note, **none))
    child = replace(session("child"), parent="parent")
    ledger.record(child, request("child", note="committed: z", outside_tokens=1000))
    with board(ledger) as own, showing(browser, own.page) as page:
        rows = page.locator("#session-list tbody tr")
        parent = rows.filter(has=page.get_by_role("link", name="task of parent"))
        expect(parent).to_contain_text("saved nothing so far: would not pay yet: y")
        child_row = rows.filter(has=page.get_by_role("link", name="task of child"))
        expect(child_row).to_contain_text("sub-agent of “task of parent”")
        expect(child_row).not_to_contain_text("saved nothing")
        expect(page.locator(".footing")).to_contain_text(
            "14k came in and 13k went out, 4.3\u00a0% less"
        )
        child_row.get_by_role("link").click()
        expect(page.locator("#fates")).to_contain_text("1 sent less")
        page.locator("#head").get_by_role("link", name="task of parent").click()
        fates = page.locator("#fates")
        for count in ("1 too short", "1 nothing ready", "1 would not pay yet"):
            expect(fates).to_contain_text(count)
        expect(fates).to_contain_text("Latest (request 3): would not pay yet: y; would pay from")
        expect(page.locator("#head .facts")).to_contain_text("12k raw, 12k sent, tool definitions")
        expect(page.locator(".readout").first).to_contain_text("Nothing was saved")
        assert fits(page)


def test_hostile_text_is_shown_and_never_obeyed(browser: Browser) -> None:
    ledger = open_ledger(":memory:")
    of = commit("s1", text=HOSTILE)
    told = entry(
        of,
        ruling={"text": HOSTILE, HOSTILE: HOSTILE},
        originals=({"role": "tool", "content": HOSTILE}, {"role": HOSTILE, "content": HOSTILE}),
    )
    about = session("run")
    evil = type(about)(
        *("run", "t", HOSTILE, HOSTILE, "openai-chat", HOSTILE),
        *(about.started_s, about.last_s, about.totals),
    )
    ledger.commits("t").append("s1", [of])
    call = {"id": "c", "type": "function", "function": {"name": HOSTILE, "arguments": HOSTILE}}
    history: list[dict[str, Any]] = [
        {"role": "user", "content": HOSTILE},
        {"role": "assistant", "content": HOSTILE, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": HOSTILE},
    ]
    regret = Regret("run", 1, of.id, "lost identifier", HOSTILE)
    made = request(note=HOSTILE, model=HOSTILE, when_s=told.when_s)
    ledger.record(evil, made, [told], [regret], history)
    with board(ledger) as evil_board, showing(browser, evil_board.page) as page:
        expect(page.locator("#session-list")).to_contain_text(SHOWN)
        page.locator("#session-list a").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(SHOWN)
        page.locator(".grid-box").focus()
        expect(page.locator("#grid-says")).to_contain_text(SHOWN)
        expect(page.locator("#requests")).to_contain_text(SHOWN)
        page.locator(".commit-line").click()
        for part in (".summary-text", ".original-text", ".reasons", ".regrets"):
            expect(page.locator(part)).to_contain_text(SHOWN)
        assert page.evaluate("window.__pwned") is None
        assert page.locator("#page img, #page script, #page a[href^='javascript']").count() == 0
        assert "\x1b" not in page.locator("body").inner_text()
        assert fits(page)


@pytest.mark.parametrize("what", ["overview", "session", "commit"])
def test_a_phone_needs_no_sideways_scrolling(browser: Browser, shop: Board, what: str) -> None:
    (told, *_) = shop.ledger.entries(shop.ledger.sessions()[0].id)
    places = {
        "overview": shop.page,
        "session": address(shop),
        "commit": f"{address(shop)}/commit/{told.commit.id}",
    }
    with showing(browser, places[what], viewport=PHONE, has_touch=True, is_mobile=True) as page:
        if what == "commit":
            expect(page.locator(".original-text")).to_contain_text("find . -type f")
            stacked = "([a, b]) => a.getBoundingClientRect().bottom < b.getBoundingClientRect().top"
            assert page.locator(".side").evaluate_all(stacked)
        if what == "session":
            page.locator(".grid-box canvas").tap(position={"x": 250, "y": 65})
            expect(page.locator("#grid-says")).to_contain_text(" at request ")
        assert fits(page)


def test_dark_and_light_follow_the_system(browser: Browser, shop: Board) -> None:
    shots = set()
    for scheme in ("light", "dark"):
        with showing(browser, address(shop), color_scheme=scheme) as page:
            shots.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
            shots.add(page.locator(".grid-box").screenshot())
    assert len(shots) == 4


def test_a_new_request_appears_without_a_reload(browser: Browser, shop: Board) -> None:
    with showing(browser, address(shop)) as page:
        page.evaluate("window.__here = true")
        before = shop.ledger.sessions()[0].totals.requests
        expect(page.locator("#requests tbody tr").first).to_contain_text(str(before))
        messages = recorded_messages("web")
        shop.send([*messages[:40], *messages[40:42]])
        expect(page.locator("#requests tbody tr").first.locator("td").first).to_have_text(
            str(before + 1), timeout=15_000
        )
        page.get_by_role("link", name="All sessions").click()
        expect(page.locator("#session-list")).to_contain_text(str(before + 1))
        assert page.evaluate("window.__here") is True


class Switched:
    """A ledger whose database can be away for a while."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.away = True

    def __getattr__(self, name: str) -> Any:
        if self.away:
            raise LedgerFailed("the database is away")
        return getattr(self.ledger, name)


def test_while_the_ledger_is_away_the_page_says_so_and_goes_on_asking(browser: Browser) -> None:
    ledger = open_ledger(":memory:")
    ledger.record(session(), request())
    switched: Any = Switched(ledger)
    with board(switched) as own, showing(browser, own.page) as page:
        expect(page.locator("#banner")).to_contain_text("The ledger does not answer")
        expect(page.locator("#pulse")).to_have_text("not connected")
        switched.away = False
        expect(page.locator("#session-list")).to_contain_text("task of run", timeout=15_000)
        expect(page.locator("#banner")).to_be_hidden()
        # The request cost more than it would have: that is shown as what it is.
        expect(page.locator(".hero").first).to_contain_text("−$0.2500")


def test_a_large_session_is_drawn_in_sight_only(browser: Browser) -> None:
    ledger, size, now = open_ledger(":memory:"), 250, time.time()
    for number in range(1, size + 1):
        cells = [
            Cell(n, "summarised" if n < number - 20 else "kept", n / 1000)
            for n in range(1, number + 1)
        ]
        made = request(number=number, when_s=now + number, grid=tuple(cells))
        ledger.record(session(last_s=now + number), made)
    with board(ledger) as own, showing(browser, address(own)) as page:
        assert page.locator("*").count() < 2_000
        box = page.locator(".grid-box canvas").bounding_box()
        assert box is not None
        assert box["width"] <= WIDE["width"]
        assert box["height"] <= WIDE["height"]
        page.locator(".grid-box").focus()
        expect(page.locator("#grid-says")).to_contain_text(f"Interaction 1 at request {size}")
        page.get_by_role("button", name="Whole run").click()
        page.locator(".grid-box canvas").hover(position={"x": 600, "y": 60})
        expect(page.locator("#grid-says")).to_contain_text("score 0.00")
        page.get_by_role("button", name=f"Show all {size} requests").click()
        expect(page.locator("#requests tbody tr")).to_have_count(size)
