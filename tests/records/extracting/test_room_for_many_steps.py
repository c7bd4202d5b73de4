"""What a record of many steps keeps: wider where much is needed, less of long lists."""

from __future__ import annotations

from statecomp.history.interaction import Call
from statecomp.records.extract import STEPS
from statecomp.records.extracting.arguments import thoughts_of
from statecomp.records.extracting.order.chances import waning
from statecomp.records.extracting.order.unsaid import said_by
from statecomp.records.extracting.reading.page import place_of
from statecomp.records.extracting.units import units_of
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import step

SEARCH = "https://shop.example/search?query=a+long+question+about+ferns+and+mosses+of+the+north"


def test_further_things_of_a_list_lose_and_single_lines_do_not() -> None:
    rows = "\n".join(f"| fern {n} | {n}7 | north |" for n in range(40))
    units = units_of([step(1, seen=f"| name | size | from |\n|---|---|---|\n{rows}")])
    left = waning([0.1] * len(units), units, 0.3)
    assert max(left) == 0.1
    assert sum(left) < 0.5 * 0.1 * len(units)
    assert waning([0.1] * len(units), units, 0.3, kin=range(len(units))) == [0.1] * len(units)


def test_an_address_keeps_the_page_of_a_list_it_stands_for() -> None:
    seen = f"Current url: {SEARCH}&kind=all&source=header&start=50\nCurrent page title: Search"
    assert "start=50" in place_of(seen, "click L9")


def test_what_an_agent_notes_in_its_call_is_its_view() -> None:
    noted = (
        '{"state": {"memory": "Found Fern House for $112.90 a night."}, "action": [{"down": {}}]}'
    )
    assert "$112.90" in thoughts_of(Call("c", "AgentOutput", noted)).stated
    assert not any(thoughts_of(Call("c", "read", '{"path": "a.txt"}')))


def test_a_field_that_the_call_asked_for_is_said() -> None:
    unit = next(
        u
        for u in units_of([step(1, seen='{"parent": "2562b7e8cebd802b8dcd", "size": 4}')])
        if "2562b7e8cebd802b8dcd" in u.text
    )
    assert said_by(' read {"id": "2562b7e8cebd802b8dcd"} ', unit)
    assert not said_by(" read {} ", unit)


def test_a_record_of_many_steps_may_take_a_wider_share() -> None:
    def share(steps: int) -> float:
        span = [
            step(n, seen="\n".join(f"item{n}{k}.size = {n * 97 + k * 13}" for k in range(30)))
            for n in range(1, steps + 1)
        ]
        source = sum(len(member.text) for member in span)
        return len(written(*span).body) / source

    assert share(2 * STEPS) > share(STEPS)
