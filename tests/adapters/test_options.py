"""What an adapter is told, and who else can look at what it did: words and pages of all doors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from statecomp.adapters.shortener import Shortener
from statecomp.testing.provider.app import ScriptedUpstream
from statecomp.testing.provider.serving import serving
from statecomp.testing.provider.turns import Turn
from tests.adapters.test_shortener import EAGER, Said, conversation, held, shortened
from tests.dashboard.test_app import UNDO
from tests.proxy.serving import served


def results(made: list[Said]) -> int:
    return sum(one.role == "tool" for one in made)


@pytest.mark.parametrize("pin", [{"pin_tools": "look"}, {"pin": "part 1 is checked"}])
def test_what_is_pinned_stays(pin: dict[str, Any]) -> None:
    said = conversation(8)
    free = results(shortened(Shortener("drawn", **EAGER), said))
    kept = shortened(Shortener("drawn", **EAGER, **pin), said)
    assert results(kept) > free
    assert said[5] in kept


def test_a_recipe_is_a_word_and_options_beside_it_overrule_it() -> None:
    said = conversation(30)
    sizes = set()
    for options in ({"recipe": "careful"}, {"recipe": "bold"}, {"recipe": "careful", **EAGER}):
        shortener = Shortener("drawn", **options)
        sent = [shortened(shortener, said[: 2 + 2 * done]) for done in range(31)]
        sizes.add(sum(len(one.text) for view in sent for one in view))
    assert len(sizes) == 3


def test_a_chat_model_may_write_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-writer")
    said = "Every part was checked."
    writer = ScriptedUpstream([Turn(json.dumps({"facts": [said]}))])
    with serving(writer.app) as url:
        shortener = Shortener("drawn", records=f"chat:openai:writer@{url}/v1", **EAGER)
        made = shortened(shortener, conversation(8))
        shortener.close()
    assert any(said in one.text for one in made)
    assert writer.requests()


def test_the_pages_of_serve_open_the_ledger_and_undo_what_an_adapter_did(tmp_path: Path) -> None:
    store, whole = str(tmp_path / "ledger.db"), conversation(8)
    shortener = Shortener("drawn", store=store, **EAGER)
    assert held(shortener, 8)[-1] != whole
    shortener.close()
    with served("http://127.0.0.1:9", tmp_path) as proxy:
        pages = f"{proxy.url}/statecomp/api"
        (session,) = httpx.get(f"{pages}/overview").json()["sessions"]
        assert (session["client"], session["title"]) == ("drawn", "Look at everything.")
        detail = httpx.get(f"{pages}/sessions/{session['id']}").json()
        assert len(detail["requests"]) == 9
        for commit in detail["commits"]:
            page = f"{pages}/commits/{commit['id']}"
            assert "is checked" in httpx.get(page).text
            assert httpx.post(f"{page}/undo", headers=UNDO).json()["state"] == "undone"
    again = Shortener("drawn", store=store, **EAGER)
    assert shortened(again, whole) == whole
    again.close()
