"""How `serve` decides, from what was written behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from statecomp.cli.live_method import given_for, live_method
from statecomp.controller.prices import shipped_prices
from statecomp.learning.routers import Routers
from statecomp.proxy.settings import Mode
from statecomp.router.bundle import save
from statecomp.router.shipped import open_bundle


@pytest.mark.parametrize(("mode", "asks"), [("compress", True), ("observe", False)])
def test_where_nothing_is_rewritten_no_model_is_paid_for_records(
    mode: Mode, asks: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, str | float | None] = {"records": "same", "records_model": "gpt-5-mini"}
    given |= {"records_session": 2.0, "records_wait": 9.0, "records_day": None}
    (chosen,) = given_for(given, (), mode, None)
    method = live_method(chosen, shipped_prices())
    assert (method.records is not None) == asks
    if method.records is not None:
        assert (method.records.session_dollars, method.records.day_dollars) == (2.0, 10.0)
    assert ("--records" in capsys.readouterr().err) != asks


def test_a_router_that_lost_to_the_shipped_one_never_decides_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf = Routers(tmp_path / "routers")
    better, worse = (shelf.put(open_bundle(), {"better": good}, "") for good in (True, False))
    trained = tmp_path / "trained"  # by `statecomp train`: nobody compared it
    save(trained, open_bundle())

    def said(*chosen: str, scorer: str | None = None) -> str:
        given_for({"scorer": scorer}, chosen, "compress", shelf)
        return capsys.readouterr().err

    told = "was not better than the shipped one on held-out sessions"
    for name in (worse, str(shelf.folder / worse)):
        assert said(name).count(told) == 1
    assert [said(name) for name in (better, "shipped", str(trained))] == ["", "", ""]
    assert not said()
    shelf.use(worse, anyway=True)
    assert f"router {worse!r} {told}" in said()
    assert not said(scorer="age")
