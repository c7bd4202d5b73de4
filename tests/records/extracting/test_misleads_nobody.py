"""What strict readers still took for something else, each as a test of its rule."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.extracting.arguments import as_diff
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.showing.lines import lines_of
from statecomp.records.extracting.showing.totals import UnitTotals
from statecomp.records.extracting.units import Unit, units_of
from statecomp.records.record import Record
from statecomp.records.verify import verify
from tests.records.extracting.test_plain_to_read import command
from tests.records.extracting.test_stands_as_it_stood import outcome, told
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


@pytest.mark.parametrize("worth", [600, 650, 800, 1_000, 1_200])
def test_of_one_line_each_that_like_calls_answered_none_is_missing_unsaid(worth: int) -> None:
    span = [offer(number, thing) for number, thing in enumerate(THINGS, 1)]
    body = ExtractiveSummarizer(name_worth=worth).summarize(span, Situation()).body
    shown = [thing for thing in THINGS if f"Offer for {thing}: " in body]
    left = ", ".join(str(THINGS.index(thing) + 1) for thing in THINGS if thing not in shown)
    if len(shown) > 1 and left:
        assert f"steps {left} answered a line like" in body
    if worth >= 800:
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
    seen = "\n".join(
        ("Millrunner", "[+] Agent: millrunner/3.6", "[+] List: /srv/lists/common.txt", PADDING)
    )
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


# --- how many more there were ---


def test_things_named_on_one_line_and_told_below_it_are_counted_once() -> None:
    long = "Grinds the grain of a customer between two stones. The stones are turned by water."
    things = [
        {"name": f"tool_{n}", "use": f"{NOISE[n % 8]} {n} times a day", "hint": f"{long * 4} {n}"}
        for n in range(20)
    ]
    units = units_of([step(1, seen=json.dumps(things))])

    def is_kept(unit: Unit) -> bool:
        number = int(unit.label.partition("tool_")[2].partition(";")[0] or -1)
        bare = unit.text.startswith("name: ")
        return (
            (number < 4 and bare)
            or (4 <= number < 9 and not unit.label.endswith("hint:"))
            or (number == 9 and unit.label.endswith("hint:"))
        )

    lines = list(lines_of([unit for unit in units if is_kept(unit)], UnitTotals.of(units)))
    assert lines[0] == "name: tool_0, tool_1, tool_2, tool_3"
    assert [line for line in lines if "10 more" in line]
    assert not [line for line in lines if "16 more" in line or "15 more" in line]


# --- values beside the wrong name ---


def test_a_value_that_both_columns_have_stands_in_both() -> None:
    rows = [("7", "Mills", "7"), ("57", "Stones", "43"), ("0", "Fires", "0")]
    tree = "\n".join(
        f'    - generic [ref=e{n}]:\n      - generic [ref=a{n}]: "{left}"\n'
        f'      - generic [ref=b{n}]: {name}\n      - generic [ref=c{n}]: "{right}"'
        for n, (left, name, right) in enumerate(rows)
    )
    page = f"- main [ref=m1]:\n  - generic [ref=m2]:\n{tree}"
    assert "7 Mills 7; 57 Stones 43; 0 Fires 0" in told(page)


def test_a_property_without_a_value_has_none() -> None:
    def site(url: str | None) -> dict[str, Any]:
        return {"Site": {"id": "x%40", "type": "url", "url": url}}

    rows = [
        {"name": f"{word} mill", "properties": site(f"http://{word}.example")} for word in NOISE
    ]
    rows[5] = {"name": "timber mill", "properties": site(None)}
    assert "cobalt mill | http://cobalt.example" in told(json.dumps(rows))
    assert not any("timber mill | url" in text for text in told(json.dumps(rows)))


def test_a_choice_in_capitals_is_no_heading() -> None:
    choices = "DOI number\nMILLER ID\nGrain kind\nHelp pages"
    text = f"{choices}\nSorted by day\n{choices}\nThe oats were ground on Monday.\n"
    assert not any(piece.owner for piece in cut(text))
    words = "AWAVAUA\nugUH\nATSHUX\nt3UH\nzPLR\nAVAUSH\nflour\n"
    assert not any(piece.owner for piece in cut(words * 2))


def test_a_comment_inside_a_script_is_no_heading() -> None:
    text = (
        "The following was found on the mill's computer, and it is still there today:\n\n"
        "for grain in store:\n    # weigh it\n    weigh(grain)\n\n\n"
        "Sadly the scales have been sold since, and nobody knows where they are today.\n"
        "They were made of brass. The miller had them from his aunt, as the books say.\n"
        "She had bought them at a fair. Three of the weights were missing even then.\n"
        "He had new ones cast. They are of lead and a little too heavy, as all lead is.\n"
    )
    assert not any("weigh it" in (piece.owner.label if piece.owner else "") for piece in cut(text))


def test_an_enumeration_of_a_page_stands_as_a_whole() -> None:
    marks = "\n".join(f"[{n}]<img />" for n in range(20, 30))
    page = (
        f"{marks}\nMillers:\n[30]<a Ann Lee/>\n,\n[31]<a Bo Roe/>\n,\nCy Poe\nGround:\nfine oats\n"
    )
    assert "Millers: Ann Lee, Bo Roe, Cy Poe" in told(page)


def test_a_warning_that_a_long_output_begins_with_is_not_how_it_ended() -> None:
    warned = "millconf: unable to open the door: Dialog\nmillconf: falling back to the window\n"
    rest = "\n".join(f"Setting up {word} ({n}.0) ..." for n, word in enumerate(NOISE * 2))
    assert "unable to open" not in outcome(f"{warned}{rest}").partition("from its output")[0]


def test_a_value_of_a_page_stands_with_the_word_above_it() -> None:
    marks = "\n".join(f"[{n}]<img />" for n in range(20, 30))
    page = f"{marks}\nOats of the last year\nCarts\nUp to $385\nBarrels of wine and beer\n"
    assert "Carts: Up to $385" in told(page)
    apart = page.replace("Up to", "[31]<a Read on about them/>\nUp to")
    assert "Carts: Up to $385" not in told(apart)
    tagged = "\n".join(("_[:]Carts", "_[:]Up to $385", *(f"B{n}[:]<b>x</b>" for n in range(9))))
    assert "Carts: Up to $385" in told(tagged)


def test_settings_below_each_other_are_no_table_with_a_header() -> None:
    text = '# Basic settings\nlocale     : "en"\nstones     : "4 or 5"\nwheel      : "12 feet"\n'
    labels = [piece.owner.label if piece.owner else "" for piece in cut(text)]
    assert not any("settings locale" in label for label in labels)


def test_things_that_are_called_alike_are_counted_each() -> None:
    things = [{"title": "Oats" if n < 3 else f"Rye {n}", "note": f"sack {n}"} for n in range(9)]
    units = units_of([step(1, seen=json.dumps(things))])
    kept = [unit for unit in units if unit.label in ("title: Rye 4", "title: Rye 7")]
    assert "  (7 more not shown)" in list(lines_of(kept, UnitTotals.of(units)))


def test_the_last_line_of_a_long_title_is_no_heading() -> None:
    text = "ON THE GRINDING OF OATS\nBY WATER AND BY WIND\nTODAY\nAnn Lee and Bo Roe, Millbury\n"
    told = {piece.text: piece.owner for piece in cut(f"{text}ABSTRACT\nOats are ground well here.")}
    assert told["Ann Lee and Bo Roe, Millbury"] is None


# --- what was meant, and what was listed ---


def test_what_is_listed_below_a_plan_is_no_view() -> None:
    said = (
        "I'll use a query for mill_sacks that:\n\n1. Filters for the sacks of mill_sacks in 2025\n"
        "2. Marks each sack of mill_sacks above the mean\n"
    )
    record = written(step(1, seen=PADDING), step(2, seen="ok", said=said))
    assert "Filters for" not in record.body
    assert "Marks each" not in record.body


def test_a_program_that_goes_through_a_folder_lists_nothing() -> None:
    code = "\n".join(f"stone_{n} = list(Path('/srv').glob('*.pdf'))[{n}]" for n in range(12))
    record = written(step(1, json.dumps({"code": code}), f"Checking: sack_7.pdf\n{PADDING}"))
    assert not record.locations


def test_of_a_program_the_files_alone_are_owed() -> None:
    code = "for n in range(9):\n    print(f'{n+1}/10: {n}')\nopen('/srv/mill/out_7.txt', 'w')"
    assert added(step(1, json.dumps({"code": code}), "ok", name="python")).endswith(
        "words: open('/srv/mill/out_7.txt', 'w')"
    )


def test_a_fence_beside_a_call_was_not_sent() -> None:
    said = "The stones said:\n```\ngrist = 'fine oats of 1904'\n" + "weigh(grist)\n" * 6 + "```"
    record = written(step(1, '{"flag": "oats"}', PADDING, said=said, name="check"))
    assert "1904" not in record.body


def test_what_stands_below_a_long_rule_is_of_no_section_above_it() -> None:
    mail = (
        "Sample of the mail:\n\n### Oats for you\nBased on\n...\n"
        + "=" * 60
        + "\n\nReady: 9 sacks\n"
    )
    owners = {piece.text: piece.owner for piece in cut(mail)}
    assert owners["Ready: 9 sacks"] is None


def test_of_a_few_words_no_part_stands_for_all() -> None:
    assert outcome("Grinding\n+!") == "Grinding; +!"


def test_the_things_of_several_calls_are_counted_each_by_itself() -> None:
    calls = tuple(
        Call(f"c{n}", "find", json.dumps({"place": word})) for n, word in enumerate(NOISE)
    )
    seen = [json.dumps({"places": [{"name": word, "rooms": 4, "beds": 9}]}) for word in NOISE]
    answers = tuple(Observation(f"c{n}", text) for n, text in enumerate(seen))
    span = Interaction("i1", 1, (), 0, calls=calls, observations=answers)
    units = units_of([span])
    rooms = [unit for unit in units if unit.answer == 3 and unit.text == "rooms: 4"]
    told = list(lines_of(rooms, UnitTotals.of(units)))
    assert told
    assert not [line for line in told if "not shown)" in line]
