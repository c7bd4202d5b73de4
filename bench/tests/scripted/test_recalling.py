"""What an agent knows from its own calls, and which of two lists it trusts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from statecomp.history.interaction import Call
from statecomp_bench.plan import Fact, Norm, Plan, Step
from statecomp_bench.scripted.meaning import Meaning
from statecomp_bench.scripted.programs import ProgramPart, look_up
from statecomp_bench.scripted.recalling import Recall
from statecomp_bench.scripted.sight import Eye

PAGE = "# page of willow\nprice = '{price}'{tax}\nprint(price)"
PLAN = Plan(
    facts=(
        Fact("price", "offer for willow", r"Offer for willow: (\d+) EUR", "offer"),
        Fact("north", "offset in the north", r"\bnorth,(-?\d+)", "again"),
        Fact("south", "offset in the south", r"\bsouth,(-?\d+)", "clocks"),
    ),
    rules=(Norm("tax", "prices are taxed", "with tax", " * 1.07", "", "offer"),),
    steps=(
        Step("offer", "http", {"url": "https://offers.example/willow"}, "open the offer"),
        Step("clocks", "read_file", {"path": "docs/clocks.csv"}, "read the clocks"),
        Step("again", "read_file", {"path": "docs/again.csv"}, "read the second measurement"),
        Step("page", "python", {"code": PAGE}, "write the page of willow", leaves=True),
        Step("end", "write_file", {"path": "out", "content": "{price} {north} {south}"}, "end it"),
    ),
)


def call(code: str) -> Call:
    return Call("c1", "python", json.dumps({"code": code}))


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("# page of willow\nprice = '700' * 1.07\nprint(price)", {"price": "700"}),
        ("# page of willow\nprice = 'unknown'\nprint(price)", {}),  # no price has this form
        ("# page of marble\nprice = '700'\nprint(price)", {}),
        ("", {}),
    ],
)
def test_what_was_filled_into_a_call_is_read_back(code: str, wanted: dict[str, str]) -> None:
    plain = Step("page", "python", {"code": PAGE.replace("'{tax}", "'")}, "write")
    taxed = Step("page", "python", {"code": PAGE.replace("'{tax}", "' * 1.07")}, "write")
    recall = Recall(PLAN)
    found = recall.values(call(code), taxed if "1.07" in code else plain)
    assert found == wanted


def seen(*messages: dict[str, Any], understands: bool = True) -> dict[str, str]:
    asked = {"role": "user", "content": "Do it."}
    return Eye(PLAN, Meaning(PLAN) if understands else None).look([asked, *messages]).values


def test_who_sees_its_own_call_knows_what_it_filled_in() -> None:
    made = call("# page of willow\nprice = '700'\nprint(price)")
    function = {"name": made.name, "arguments": made.arguments}
    calls = [{"id": "c1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": "Now I write the page.", "tool_calls": calls}
    assert seen(message)["price"] == "700"
    assert "price" not in seen(message, understands=False)
    later = {"role": "user", "content": "Offer for willow: 650 EUR"}
    assert seen(later, message)["price"] == "650"  # what was seen counts before


def test_a_thin_record_of_the_newer_list_makes_the_older_value_doubtful() -> None:
    older = "- 4. read_file {'path': 'docs/clocks.csv'} -> 67 lines\n  north,3015\n  south,12\n"
    newer = "- 9. read_file {'path': 'docs/again.csv'} -> 59 lines\n  node-1,64\n"
    newer += "  (58 more not shown)\n"
    both = {"role": "user", "content": f"Facts:\n{older}{newer}"}
    assert seen(both) == {"south": "12"}
    shown = {"role": "user", "content": f"Facts:\n{older}{newer.replace('node-1', 'north')}"}
    assert seen(shown) == {"south": "12", "north": "64"}
    said = {"role": "assistant", "content": "offset in the north: 3015; offset in the south: 12;"}
    assert seen(said, {"role": "user", "content": f"Facts:\n{newer}"}) == {"south": "12"}
    assert seen(both, understands=False)["north"] == "3015"


def test_what_a_look_up_shows_beside_what_it_was_for_undoes_nothing() -> None:
    clocks = ProgramPart(("read_file", {"path": "docs/clocks.csv"}), {"south": r"\bsouth,(-?\d+)"})
    tool, arguments = look_up([clocks])
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"id": "c1", "type": "function", "function": function}]
    newer = "- 9. read_file {'path': 'docs/again.csv'} -> 59 lines\n  north,64\n  south,11\n"
    found = seen(
        {"role": "user", "content": f"Facts:\n{newer}"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "north,3015\nsouth,12\n"},
    )
    assert found == {"north": "64", "south": "12"}


@pytest.mark.parametrize("left", ["...", "see the ..."])
def test_what_a_record_leaves_out_is_no_value(left: str) -> None:
    told = f"offset in the south: {left}\nOffer for willow: 7 EUR; ..."
    assert seen({"role": "user", "content": told}) == {"price": "7"}
