"""What a writer of records is told besides the span: lists, documents, and what is open."""

from __future__ import annotations

import json
from dataclasses import replace

from statecomp.history.facts import FactIndex
from statecomp.history.interaction import Interaction, Pinned
from statecomp.history.situation import Situation
from statecomp.records.extract import ExtractiveSummarizer
from statecomp.records.writing.question import question
from tests.records.test_extract import step


def listed(**items: str) -> str:
    return json.dumps({"todos": [{"content": key, "status": how} for key, how in items.items()]})


def test_a_model_is_told_the_newest_list_of_the_agent_where_an_older_one_stays() -> None:
    old = step(1, listed(parser="pending"), name="todo_write")
    new = step(3, listed(parser="completed"), name="todo_write")
    asked = question([[new]], Situation(before=(old,)))
    told = asked.partition("own list]\n")[2]
    assert told.startswith(new.calls[0].arguments)


TASK = Pinned("u", (), 0, "user", "Charge the invoice as docs/rates.md says.")
RATES = step(1, '{"path": "docs/rates.md"}', "# Rates\nOnly coral-west counts.", name="read_file")
COLOURS = ["amber", "slate", "coral", "ivory", "onyx", "pearl", "rust", "teal", "plum", "lime"]
SIDES = ["north", "south", "east", "west", "mid", "far"]
NAMES = [f"{colour}-{side}" for colour in COLOURS for side in SIDES]
FEES = "\n".join(
    ("tariff,zone,fee", *(f"{name},{n % 7},{n * 3 + 11}.50" for n, name in enumerate(NAMES)))
)
TALK = "\n".join(f"{n * 7919 % 9973} said {COLOURS[n % 9]} to {COLOURS[n % 7]}" for n in range(25))


def test_a_row_that_a_document_names_which_the_user_names_comes_first() -> None:
    span = [step(2, '{"path": "fees.csv"}', FEES, name="read_file"), step(3, seen=TALK)]

    def kept(*before: Pinned | Interaction) -> bool:
        situation = Situation(FactIndex(before), before)
        return "coral-west," in ExtractiveSummarizer().summarize(span, situation).body

    other = replace(RATES, calls=(replace(RATES.calls[0], arguments='{"path": "docs/a.md"}'),))
    assert kept(TASK, RATES)
    assert not kept(TASK, other)


def test_a_model_is_told_how_a_document_begins_that_the_user_names_and_that_stays() -> None:
    long = step(1, RATES.calls[0].arguments, "Take coral. " * 900, name="read_file")
    asked = question([[step(2)]], Situation(before=(TASK, long)))
    assert 50 < asked.count("Take coral. ") < 200
    going = Situation(before=(TASK, long), going=((long,),))
    assert "Take coral." not in question([[step(2)]], going)
