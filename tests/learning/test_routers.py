"""Which router decides: switching, refusing, going back, and a scorer that follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from statecomp.errors import BadInput
from statecomp.learning import routers as shelf
from statecomp.learning.routers import InUse, Routers
from statecomp.router.calibrate import Beta
from statecomp.router.shipped import open_bundle
from statecomp.testing.words import history_of


@pytest.fixture
def routers(tmp_path: Path) -> Routers:
    return Routers(tmp_path / "routers")


def put(routers: Routers, *, better: bool = True) -> str:
    return routers.put(open_bundle(), {"better": better, "sessions": 9}, "<p>both</p>")


def test_without_any_the_shipped_one_decides(routers: Routers) -> None:
    assert (routers.in_use, routers.names()) == ("shipped", [])


def test_two_of_one_day_have_two_names_and_one_is_used_and_left_again(routers: Routers) -> None:
    first, second = put(routers), put(routers)
    assert second == f"{first}.2"
    assert [one.name for one in routers.listed()] == [first, second]
    routers.use(first)
    routers.use(second)
    assert routers.in_use == second
    assert routers.back() == first
    assert routers.in_use == first
    assert routers.back() == second
    routers.use("shipped")
    assert routers.in_use == "shipped"


def test_one_that_was_not_better_is_refused_unless_one_insists(routers: Routers) -> None:
    name = put(routers, better=False)
    with pytest.raises(BadInput, match="was not better than the shipped one"):
        routers.use(name)
    assert routers.in_use == "shipped"
    routers.use(name, anyway=True)
    assert routers.in_use == name


@pytest.mark.parametrize("name", ["nowhere", "../etc", ""])
def test_one_that_is_not_there_is_one_sentence(routers: Routers, name: str) -> None:
    with pytest.raises(BadInput, match="there is no router"):
        routers.use(name)


def test_damaged_weights_are_found_before_they_are_used(routers: Routers) -> None:
    name = put(routers)
    (routers.folder / name / "weights.safetensors").write_bytes(b"gone")
    with pytest.raises(BadInput, match="is cut off"):
        routers.use(name)
    assert routers.in_use == "shipped"


def test_a_damaged_report_is_said_and_hides_no_other_router(routers: Routers) -> None:
    first, second = put(routers), put(routers)
    report = routers.folder / first / shelf.REPORT
    report.write_text("[]")
    assert [(one.name, one.better) for one in routers.listed()] == [(first, False), (second, True)]
    with pytest.raises(BadInput, match="is damaged; learn again") as refused:
        routers.use(first)
    assert refused.value.file == str(report)


def test_a_damaged_choice_is_the_shipped_router(routers: Routers) -> None:
    put(routers)
    (routers.folder / shelf.CHOICE).write_text("{")
    assert routers.in_use == "shipped"


def test_a_running_scorer_follows_the_choice_and_says_who_scored(
    routers: Routers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "FRESH_S", 0.0)
    shipped = open_bundle()
    assert isinstance(shipped.calibration, Beta)
    sure = replace(shipped, calibration=replace(shipped.calibration, bias=9.0))
    name = routers.put(sure, {"better": True}, "")
    scorer, history = InUse(routers), history_of("prrrr")
    before = scorer.score(history)
    assert scorer.name == "shipped"
    routers.use(name)
    after = scorer.score(history)
    assert scorer.name == name
    assert min(after.values()) > 0.99 > min(before.values())
    routers.back()
    assert scorer.score(history) == before


def test_a_router_that_breaks_while_serving_leaves_the_one_there_was(
    routers: Routers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "FRESH_S", 0.0)
    name = put(routers)
    scorer, history = InUse(routers), history_of("prrrr")
    scorer.score(history)
    routers.use(name)
    (routers.folder / name / "weights.safetensors").write_bytes(b"gone")
    assert scorer.score(history)
    assert scorer.name == "shipped"
