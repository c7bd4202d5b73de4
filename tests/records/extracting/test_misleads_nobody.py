"""What strict readers still took for something else, each as a test of its rule."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.extracting.arguments import as_diff
from statecomp.records.record import Record
from statecomp.records.verify import verify
from tests.records.extracting.test_plain_to_read import command
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import NOISE, PADDING, step

# --- lines that belong together across like calls ---

THINGS = [
    "ledger",
    "stapler",
    "binder",
    "folder",
    "marker",
    "cutter",
    "lamp",
    "shredder",
    "whiteboard",
    "drawer",
]


def offer(number: int, thing: str) -> Interaction:
    filler = [
        f"The {NOISE[(number + k) % 8]} {NOISE[(number * 3 + k * 5) % 8]} stands in hall {k}, "
        f"as it was counted on day {number * 7 + k}"
        for k in range(12)
    ]
    lines = [*filler[:7], f"Offer for {thing}: {number * 97 % 900 + 12} EUR", *filler[7:]]
    arguments = json.dumps({"url": f"https://shop.example/offers/{thing}"})
    return step(number, arguments, "\n".join(lines), name="open_page")


@pytest.mark.parametrize("worth", [250, 500, 800, 1_000, 1_200, 4_000])
def test_of_one_line_each_that_like_calls_answered_none_is_missing_unsaid(worth: int) -> None:
    span = [offer(number, thing) for number, thing in enumerate(THINGS, 1)]
    body = ExtractiveSummarizer(name_worth=worth).summarize(span, Situation()).body
    shown = [thing for thing in THINGS if f"Offer for {thing}: " in body]
    left = ", ".join(str(THINGS.index(thing) + 1) for thing in THINGS if thing not in shown)
    if len(shown) > 1 and left:
        assert f"steps {left} answered a line like" in body
    if worth >= 1_000:
        assert shown == THINGS


# --- what the agent wrote itself, and the record does not say ---


DONE = Record(facts=("1. done",))


def added(*span: Interaction, record: Record = DONE, **around: Any) -> str:
    """What the fact ledger adds to a record that somebody else wrote."""
    whole = verify(record, span, Situation(FactIndex(around.get("after", ())), **around)).body
    return whole.removeprefix(record.body).strip()


def test_a_pattern_or_a_piece_of_a_program_is_owed_to_nobody() -> None:
    find = {
        "command": 'find /srv/mill -name "*.log" -o -name "*.out" | grep "grind\\|sift" || true'
    }
    assert added(step(1, json.dumps(find), "none", name="shell")) == "\n".join(
        ["Locations:", f"- 1, the agent's own words: command: {find['command']}"]
    )
    code = {
        "code": "from mill_tools import SIFT_TABLE\nprint(f'sifted: {list(SIFT_TABLE.keys())}')"
    }
    assert not added(step(1, json.dumps(code), "none", name="python"))


def test_of_a_command_that_does_not_fit_the_places_alone_are_quoted() -> None:
    long = (
        "make grind " + " ".join(f"--part-{name} on" for name in NOISE) + " > /srv/mill/out_7.txt"
    )
    told = added(step(1, json.dumps({"command": f"{long} && echo {'x' * 80}"}), "ok"))
    assert told.endswith("- 1, the agent's own words: /srv/mill/out_7.txt")


@pytest.mark.parametrize(
    "fact",
    [
        "1. sifted into /srv/mill: flour_7.csv and bran",
        "1. wrote `/SRV/mill/Flour_7.csv`",
        "1. the folder /srv/mill/ has flour_7.csv now",
    ],
)
def test_a_path_that_the_record_spells_otherwise_is_not_quoted(fact: str) -> None:
    span = step(1, '{"path": "/srv/mill/flour_7.csv"}', "flour_7.csv, /SRV/mill/Flour_7.csv")
    assert not added(span, record=Record(facts=(fact,)))


def test_a_name_that_the_kept_history_has_with_its_folder_is_not_quoted() -> None:
    after = (step(2, seen="bin/mill/flour_7.csv was sifted"),)
    assert not added(step(1, '{"path": "./mill/flour_7.csv"}', "ok"), after=after)


def test_what_is_no_place_does_not_stand_among_the_locations() -> None:
    span = step(1, '{"path": "/srv/mill/flour_7.csv", "share": "17.25"}', "ok")
    other = step(2, said="The yield of the stones is 17.25 percent.", seen="ok")
    facts, _, places = added(other, span).partition("Locations:")
    assert "17.25 percent" in facts
    assert "flour_7.csv" in places
    assert "percent" not in places


MADE_UP = """\
I look at the mill first.
```
cat mill.py
```
bash-$ total 8
-rw-r--r-- 1 miller miller 128 May 30 14:48 grist_9.txt

stone_width = turn_stone(32)
[File: /srv/mill/mill.py (2 lines total)]
1:import stone_tools
2:        \\"hopper\\": \\"Hopper_R1_Oats\\",
"""


def test_what_the_agent_made_up_as_shown_is_neither_owed_nor_its_view() -> None:
    span = replace(step(1, seen="No such file"), said=MADE_UP, calls=())
    body = verify(written(span), (span,), Situation()).body
    for text in ("grist_9", "stone_width", "Hopper_R1", "stone_tools"):
        assert text not in body


def test_a_program_with_its_version_is_no_file_to_read() -> None:
    seen = "\n".join(("[+] Agent: millrunner/3.6", "[+] List: /srv/lists/common.txt", PADDING))
    record = written(command(1, "millrunner dir -u http://mill:80", seen))
    assert "millrunner/3.6" not in " ".join(record.locations)
    assert "some more names in its output: millrunner/3.6" not in record.body


# --- edits ---


def test_an_edit_keeps_the_blanks_of_the_file() -> None:
    edit = {"path": "rates.toml", "old_string": "oats  = 4\n  rye  = 2", "new_string": "oats  = 5"}
    record = written(step(1, json.dumps(edit), "done", name="edit_file"), step(2, seen=PADDING))
    assert "edit_file rates.toml: - oats  = 4 -   rye  = 2 + oats  = 5" in record.facts[0]
    diff = as_diff("def f(x):\n  return  x\n", "def f(x):\n    return  x\n")
    assert diff == "-   return  x\n+     return  x"


def test_an_edit_that_changes_the_order_of_lines_only_shows_both() -> None:
    assert as_diff("a = 1\nb = 2", "b = 2\na = 1") == "- a = 1\n- b = 2\n+ b = 2\n+ a = 1"
