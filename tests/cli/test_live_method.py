"""How `serve` decides, from what was written behind it."""

from __future__ import annotations

import pytest

from statecomp.cli.live_method import given_for, live_method
from statecomp.controller.prices import shipped_prices
from statecomp.proxy.settings import Mode


@pytest.mark.parametrize(("mode", "asks"), [("compress", True), ("observe", False)])
def test_where_nothing_is_rewritten_no_model_is_paid_for_records(
    mode: Mode, asks: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, str | float | None] = {"records": "same", "records_model": "gpt-5-mini"}
    (chosen,) = given_for(given, (), mode, None)
    method = live_method(chosen, shipped_prices())
    assert (method.records is not None) == asks
    assert ("--records" in capsys.readouterr().err) != asks
