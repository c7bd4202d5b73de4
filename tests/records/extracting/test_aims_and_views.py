"""A step is told with what it was for, and with what the agent made of its answer."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from statecomp.records.extracting.arguments import Thoughts
from statecomp.records.extracting.said import Said, cut_short, read_said, stated_shortly
from tests.records.extracting.test_plain_to_read import heads, several
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step

VIEW = "agent's view: "


def said(text: str) -> Said:
    return read_said([Thoughts(text)])


def test_what_the_agent_said_next_stands_below_the_step_it_is_about() -> None:
    stale = "Still shows old values of the barley price. Let me look at the newest commit instead."
    record = written(
        step(1, '{"path": "mill.yaml"}', "price: 4\nsize: 9"), step(2, said=stale, seen=PADDING)
    )
    assert f"  {VIEW}Still shows old values of the barley price." in record.facts[0].split("\n")
    assert "Let me" not in record.body


def test_a_call_is_told_with_its_aim_before_what_came_of_it() -> None:
    record = written(
        step(1, '{"n": 7}', "ok", said="Great! Now let me see whether the fix covers empty sacks:"),
        step(2, seen=PADDING),
    )
    assert '1. run {"n": 7} (aim: see whether the fix covers empty sacks) -> ok' in heads(record)[0]


@pytest.mark.parametrize(
    "text",
    [
        "Let me continue.",
        "Let me try again with another approach:",
        "Let me open the file mill.yaml:",
        "I'll help with this.",
    ],
)
def test_an_aim_that_says_no_more_than_the_call_is_left_out(text: str) -> None:
    record = written(step(1, '{"path": "mill.yaml"}', "a: 1", said=text), step(2, seen=PADDING))
    assert "(aim:" not in record.body


@pytest.mark.parametrize(
    "text",
    [
        "Let me make the adjustments so that the sieve has the right width:",  # nobody checked it
        "Let me ask the miller of Oakham about them:",
        "I will try a more thorough look at the barley of each baker:",
        "Let me read the debts of the bakers in `ledger.txt`:",  # another file than the call's
    ],
)
def test_an_aim_that_claims_or_points_is_left_out(text: str) -> None:
    record = written(step(1, '{"path": "mill.yaml"}', "a: 1", said=text), step(2, seen=PADDING))
    assert "(aim:" not in record.body


def test_an_aim_is_of_the_next_call_alone() -> None:
    text = "Let me count the sacks of barley, and then send a bill to every baker:"
    record = written(step(1, '{"n": 7}', "ok", said=text), step(2, seen=PADDING))
    assert '1. run {"n": 7} (aim: count the sacks of barley ...) -> ok' in heads(record)[0]


def test_an_aim_is_told_once() -> None:
    text = "Let me count the sacks of barley:"
    steps = [step(n, f'{{"page": {n}}}', f"page {n}", said=text) for n in (1, 2, 3)]
    assert written(*steps, step(4, seen=PADDING)).body.count("count the sacks") == 1


def test_one_sentence_may_hold_a_view_and_an_aim() -> None:
    text = "The `sieve` command is not there, but I can use the miller's own scale instead."
    found = said(text)
    assert found.stated == ("The `sieve` command is not there ...",)
    assert found.aims == ("use the miller's own scale instead.",)


@pytest.mark.parametrize(
    "text",
    [
        "Given the weight of the sacks, I will call the miller.",
        "If the scale fails, I will call the miller.",
        "Is the scale broken?",
        "I apologize for the broken scale.",
        "Need to find the price of barley by Monday.",
        "**Step 2: Weigh the sacks again**",
    ],
)
def test_what_only_leads_to_a_plan_is_no_view(text: str) -> None:
    assert said(text).stated == ()


def test_what_the_next_sentence_takes_back_is_no_view() -> None:
    text = "The sieve was not found in the loft. However, the carter has seen one in the barn."
    record = written(step(1, seen="a loft"), step(2, said=text, seen=PADDING))
    assert f"  {VIEW}The carter has seen one in the barn." in record.facts[0].split("\n")
    assert "not found" not in record.body


def test_half_a_sentence_that_breaks_off_at_its_question_word_is_no_view() -> None:
    assert said("The mill shows a yard where we need to pick the barley sacks.").stated == ()


def test_that_something_was_a_success_is_no_view() -> None:
    assert said("The ledger was successfully written. Twelve sacks are left.").stated == (
        "Twelve sacks are left.",
    )


def test_what_is_said_behind_the_plan_is_not_about_the_answer_before() -> None:
    found = said("The scale is broken. Let me weigh by hand. The miller will like that.")
    assert found == Said(("The scale is broken.",), ("weigh by hand.",))


def test_a_message_of_data_says_its_aim_under_a_name() -> None:
    thoughts = {
        "memory": "Twelve sacks of barley are left.",
        "evaluation": "The miller is asleep.",
        "next_goal": "Ring the bell of the mill",
    }
    given = json.dumps({"state": thoughts, "action": [{"press": {"index": 4}}]})
    body = written(step(1, seen="a gate"), step(2, given, "ok"), step(3, seen=PADDING)).facts
    assert f"{VIEW}The miller is asleep. Twelve sacks of barley are left." in body[0]
    assert "(aim: Ring the bell of the mill) -> ok" in body[1]


def test_a_text_that_holds_its_action_has_both_too() -> None:
    text = (
        "DISCUSSION\nThe miller keeps his debts in barley.txt. I will look for the oldest debt.\n"
        "```\ntail -n 4 ledger\n```"
    )
    acting = replace(step(2, said=text, seen="Anna 4"), calls=())
    first, second, _ = written(step(1, seen="two files"), acting, step(3, seen=PADDING)).facts
    assert f"{VIEW}The miller keeps his debts in barley.txt." in first
    assert "2. tail -n 4 ledger (aim: look for the oldest debt) -> Anna 4" in second


def test_what_was_said_before_the_first_step_of_a_span_is_told_by_that_span_alone() -> None:
    text = "The ledger of the mill has a torn page."
    first, second = step(1, seen="a ledger"), step(2, said=text, seen=PADDING)
    assert written(second, before=(first,)).facts[0] == f"agent's view before step 2: {text}"
    assert text not in written(first, after=(second,)).body


def test_several_calls_of_a_step_have_one_aim_and_one_view() -> None:
    both = several(1, ("weigh", '{"sack": 1}', "40 kg"), ("weigh", '{"sack": 2}', "41 kg"))
    asked = replace(both, said="Let me compare the barley of both bakers:")
    shown = step(2, said="The bakers bought alike.", seen=PADDING)
    told = written(asked, shown).facts[0].split("\n")
    assert told[0] == "1. 2 calls of weigh (aim: compare the barley of both bakers)"
    assert told[-1] == f"  {VIEW}The bakers bought alike."


def test_a_long_sentence_ends_at_a_clause_with_dots() -> None:
    text = "The miller sells barley, which the bakers of the town have bought for years."
    assert cut_short(text, 40) == "The miller sells barley ..."
    assert cut_short("barley " * 9, 40) == ""


def test_half_a_sentence_that_says_nothing_is_no_view() -> None:
    long = "of all the sacks that the carter brought on Monday morning"
    assert stated_shortly("The scale is broken, which nobody told the miller.", 30) == (
        "The scale is broken ..."
    )
    assert stated_shortly(f"The weighing {long} and on Tuesday came to nothing.", 80) == ""
    assert stated_shortly("Since the scale is broken, the weighing came to nothing.", 40) == ""


@pytest.mark.parametrize("piece", ["so ", "great!", "let me ", ",;- ", "to , ", "and ", '"a" '])
def test_hostile_words_are_read_in_linear_time(piece: str) -> None:
    start = time.process_time()
    said(piece * (1_000_000 // len(piece)))
    assert time.process_time() - start < 20
