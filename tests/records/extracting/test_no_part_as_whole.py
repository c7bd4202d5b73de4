"""What was misleading in three more draws of spans, each as a test of the rule it became."""

from __future__ import annotations

import json

import pytest

from statecomp.history.interaction import Interaction, Observation
from statecomp.history.situation import Situation
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.gaps import GAP
from statecomp.records.extracting.units import units_of
from statecomp.records.verify import completed
from tests.records.extracting.test_stands_as_it_stood import outcome, shown, told
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step

# --- a third draw ---


def test_the_fields_of_a_small_thing_stay_together() -> None:
    things = [{"from": f"P{n}", "relation": "knows", "to": f"Q{n}"} for n in range(3)]
    seen = json.dumps({"title": "Friends", "parts": things, "notes": ["long " * 30] * 9})
    body = written(step(1, seen=seen), step(2, seen=PADDING)).body
    for line in (line for line in body.split("\n") if "from: P" in line):
        assert "to: Q" in line


def test_a_thing_with_a_long_name_is_called_by_it() -> None:
    name = f"SynLogic: Synthesizing Verifiable {'and Verified ' * 6}Data"
    things = [{"kind": "Publication", "name": name, "year": "2025, first author"}]
    (found,) = {piece.owner.label for piece in cut(json.dumps(things)) if piece.owner}
    assert found.startswith("name: SynLogic: Synthesizing")


def test_a_row_of_numbers_does_not_stand_alone() -> None:
    rows = "\n".join(f"{n} {1973 + n}. ... {n * 17.3:.1f}" for n in range(30))
    body = written(step(1, seen=f"Shape of the sheet\n{rows}"), step(2, seen=PADDING)).body
    assert "1973" not in body


def test_some_rules_of_a_section_are_no_constraints() -> None:
    rules = [f"{n}. Rule {n} must hold for all of the {n} parts of it, always." for n in range(9)]
    chatter = "\n".join(f"Sentence {n} about nothing at all." for n in range(60))
    seen = "# Handbook\n\n## Rules\n\n" + "\n".join(rules) + f"\n\n## Rest\n\n{chatter}"
    record = written(step(1, '{"path": "handbook.md"}', seen), step(2, seen=PADDING))
    listed = "\n".join(record.constraints)
    assert not listed or all(rule.partition(". ")[2] in listed for rule in rules)


def test_a_list_that_goes_on_does_not_end_as_if_that_were_all() -> None:
    paths = [f"/srv/part_{n}/main.c (1 matches)" for n in range(6)]
    assert shown(step(1, seen="\n".join(paths)), *paths[:2])[-1] == GAP


def test_what_a_search_found_on_a_line_is_no_field() -> None:
    found = told("Line 115: if (a == b) {\nLine 164: if (a == c) {\nLine 170: return;")
    assert "Line 115: if (a == b) {" in found
    assert not [p for p in cut("Line 3: a\nLine 9: b\n") if p.form == "field"]


# --- a fourth draw ---


def test_a_page_of_which_words_were_left_out_is_not_shown_as_whole() -> None:
    marks = "\n".join(f"- [{n}] <a>Word {n}</a>" for n in range(7))
    seen = f"URL: https://walls.example/sorry/index\n{marks}\n- [9] <label>I am not a robot</label>"
    body = written(step(1, "{}", seen, name="wait"), step(2, seen=PADDING)).body
    assert "; its output:" not in body


def test_an_answer_that_begins_with_a_bracket_may_be_short_words() -> None:
    seen = (
        "[x] Opening the door\n[+] Opening the door: Done\n\nPart 1 --> a common attack\n\n--end--"
    )
    assert "Part 1 --> a common attack" in written(step(1, seen=seen), step(2, seen=PADDING)).body


def test_a_value_beside_some_names_of_a_list_is_left_out() -> None:
    accounts = [
        {"account_name": "mail", "password": "sj3$c=n"},
        {"account_name": "notes", "password": "FnW49b9"},
    ]
    assert told(json.dumps(accounts))[0] == "2 listed: mail, notes"


def test_one_thing_inside_another_is_no_outcome() -> None:
    schema = {"path": "/notes", "response_schemas": {"success": [{"title": "string", "n": 1}]}}
    seen = json.dumps(schema | {f"p{n}": "some long words of it" for n in range(9)})
    assert not outcome(seen).startswith("path: /notes; response_schemas")


def test_a_progress_line_of_numbers_says_nothing() -> None:
    rows = "\n".join(f"100 {n} 100 {n} 0 0 35{n} 0 --:--:-- --:--:-- 11.9M" for n in range(30))
    assert "--:--:--" not in written(step(1, seen=rows), step(2, seen=PADDING)).body


def test_the_state_in_a_message_of_data_is_not_the_agents_own_words() -> None:
    said = json.dumps(
        {"state": {"memory": "see 'odd_key_7' later"}, "actions": [{"click": {"id": "B4"}}]}
    )
    span = [Interaction("i", 1, (), 0, said=said, observations=(Observation("", "x"),))]
    assert "odd_key_7" not in completed(written(*span), span, Situation()).body


# --- a fifth draw ---


def test_a_list_whose_beginning_is_left_out_says_so() -> None:
    paths = [f"[FILE] receipt_2025040{n}.pdf" for n in range(9)]
    assert shown(step(1, seen="\n".join(paths)), *paths[1:])[0] == GAP


def test_rows_that_stood_apart_have_dots_between_them() -> None:
    rows = [f"| 2025-0{n} | {n * 10} |" for n in range(1, 6)]
    seen = "\n".join(("| Month | Amount |", "|---|---|", *rows))
    texts = [unit.text for unit in units_of([step(1, seen=seen)])]
    assert f"  {GAP}" in shown(step(1, seen=seen), texts[0], texts[-1])


def test_what_nothing_could_decode_is_left_out() -> None:
    assert told("PK\ufffd\ufffd\ufffd!b\ufffdh^\ufffd\nxl/styles.xml is a part of it") == [
        "xl/styles.xml is a part of it"
    ]


def test_an_answer_without_its_request_is_not_called_the_output() -> None:
    asked = "Please provide a valid access token for your account to go on."
    seen = f"[Reply]\n    {asked}\n\n[Leaving the loop]\n\n[Answer of send]\n    {asked}\n"
    assert "; its output:" not in written(step(1, seen=seen), step(2, seen=PADDING)).body


def test_a_list_of_things_that_breaks_off_is_not_called_by_its_first() -> None:
    # The quotation marks in its third field are not escaped, so no JSON goes on behind them.
    lamps = [{"id": n, "name": f"Lamp {n}", "price": '<b class="x">5</b>'} for n in range(40)]
    seen = json.dumps(lamps, indent=2).replace('\\"', '"')[:2000]
    assert not outcome(seen).startswith("Lamp 0")


@pytest.mark.parametrize(
    "notice",
    [
        "(This output is too long! The full output has been saved to the file /w/7.json.)",
        "<note>Output too large (90 KB). Full output saved to: /w/7.json</note>",
        "... the complete result was written to `/w/7.json`",
    ],
)
def test_where_a_tool_put_what_it_cut_stands_in_the_steps_line(notice: str) -> None:
    seen = "\n".join([*(f"row {n} of {n * 7}" for n in range(90)), notice])
    assert "; cut by the tool, all of it in /w/7.json; from its output:" in outcome(seen)
