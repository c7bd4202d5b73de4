"""What stays whatever the scores say: named documents, and what the agent came back for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.compressor import StateComp
from statecomp.controller.age import AgeScorer
from statecomp.controller.circumstances import JUST_AFTER
from statecomp.controller.holds import (
    ANSWERED,
    CAME_BACK,
    CONFIRMED,
    NAMED,
    asks_a_person,
    holds_of,
    orders,
)
from statecomp.controller.spans import Gates
from statecomp.history.history import History
from statecomp.testing.words import BULK
from statecomp.wire.assemble import parse
from statecomp.wire.openai_chat.wire import OpenAIChat
from tests.rules import paying

Messages = list[dict[str, Any]]
TASK = {"role": "user", "content": "Sum up the sheets by the rules in budget/rules.md, please."}
RULES = "Travel is limited to 5 percent of staff. " * 8


def turn(number: int, arguments: str, seen: str, tool: str = "read_file") -> Messages:
    call = {"id": f"c{number}", "type": "function"}
    function = {"name": tool, "arguments": arguments}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{**call, "function": function}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": seen},
    ]


def read(number: int, path: str, seen: str) -> Messages:
    return turn(number, f'{{"path": "{path}"}}', seen)


def history(*turns: Messages) -> History:
    return parse([TASK, *(message for turn in turns for message in turn)], OpenAIChat())


def held(past: History) -> list[tuple[int, str]]:
    reasons = holds_of(past, ()).reasons
    return [(i.number, reasons[i.id]) for i in past.interactions if i.id in reasons]


def test_a_document_that_the_user_names_is_held() -> None:
    past = history(read(1, "/work/budget/rules.md", RULES), read(2, "sheets/a.txt", BULK))
    assert held(past) == [(1, NAMED)]


def test_what_the_user_answered_is_held() -> None:
    asked = turn(1, '{"question": "Which centre?"}', "Take 4711, and nothing else.", "ask_user")
    assert held(history(asked, read(2, "sheets/a.txt", BULK))) == [(1, ANSWERED)]


BOOKED = (
    "201 created\nConfirmation of the room: 156407d86\nDay: 2024-09-25\n" + "state: idle\n" * 20
)


def test_what_a_service_confirmed_is_held() -> None:
    posted = turn(1, '{"url": "https://rooms.example/a", "method": "POST"}', BOOKED, "http")
    assert held(history(posted, read(2, "sheets/a.txt", BULK))) == [(1, CONFIRMED)]


def test_a_confirmation_that_is_long_short_or_a_failure_is_not() -> None:
    post = '{"url": "https://rooms.example/a", "method": "POST"}'
    answers = (BOOKED * 20, "201 created", "error: no room left\n" * 20)
    turns = [turn(number, post, seen, "http") for number, seen in enumerate(answers)]
    assert held(history(*turns)) == []


@pytest.mark.parametrize(
    ("tool", "arguments", "done"),
    [
        ("http", '{"method": "GET", "url": "https://a.example"}', False),
        ("http", '{"method": "delete", "url": "https://a.example"}', True),
        ("book_flight", "{}", True),
        ("cancelReservation", "{}", True),
        ("get_order_details", "{}", False),
        ("bash", '{"command": "curl -s -X POST https://a.example/orders"}', True),
        ("bash", '{"command": "curl https://a.example --data-raw x=1"}', True),
        ("bash", '{"command": "curl -s https://a.example/delete"}', False),
    ],
)
def test_which_calls_have_a_service_do_something(tool: str, arguments: str, done: bool) -> None:
    assert orders(tool, arguments) == done


@pytest.mark.parametrize(
    ("tool", "asks"),
    [
        ("ask_user", True),
        ("AskUserQuestion", True),
        ("ask_followup_question", True),
        ("request_user_input", True),
        ("human_input", True),
        ("mcp__desk__ask_human", True),
        ("get_user_details", False),
        ("task", False),
        ("basket_user", False),
        ("search_questions", False),
    ],
)
def test_tools_that_ask_a_person_are_known_by_name(tool: str, asks: bool) -> None:
    assert asks_a_person(tool) == asks


def test_of_two_readings_the_newer_is_held() -> None:
    past = history(read(1, "budget/rules.md", RULES), read(2, "budget/rules.md", RULES))
    assert held(past) == [(2, NAMED)]


@pytest.mark.parametrize(
    "other",
    [
        turn(1, '{"path": "budget/rules.md", "content": "x"}', "ok", "write_file"),
        read(1, "budget/rules.md", "error: no such file or directory"),
        read(1, "budget/rules.md", RULES * 200),
        read(1, "other/rules.md.bak", RULES),
        read(1, "sheets/rules.txt", RULES),
    ],
    ids=["written", "failed", "a whole manual", "another ending", "another name"],
)
def test_what_shows_no_named_document_is_not_held(other: Messages) -> None:
    assert held(history(other)) == []


def engine(**settings: Any) -> StateComp:
    gates = Gates(longer_than=0, min_source_tokens=100)
    return StateComp(AgeScorer(1), rule=gates, **settings)


def test_what_the_agent_reads_again_after_it_was_replaced_stays() -> None:
    comp = engine()
    past = [TASK, *read(1, "sheets/a.txt", BULK), *read(2, "sheets/b.txt", f"b {BULK}")]
    first = comp.checkpoint(past)
    assert [c.first for c in first.applied] == [1]
    past += read(3, "sheets/a.txt", BULK)
    for number in (4, 5):
        past += read(number, f"sheets/{number}.txt", f"{number} {BULK}")
    checkpoint = comp.checkpoint(past)
    stays = [d for d in checkpoint.decisions if d.number == 3]
    assert [(d.ready, d.reason) for d in stays] == [(False, CAME_BACK)]
    assert 3 not in [n for c in checkpoint.applied for n in range(c.first, c.last + 1)]


def test_another_answer_to_the_same_call_is_news() -> None:
    comp = engine()
    past = [TASK, *read(1, "log", BULK), *read(2, "log", f"now {BULK}"), *read(3, "x", f"x {BULK}")]
    applied = comp.checkpoint(past).applied
    raw = parse(past, OpenAIChat())
    assert applied
    assert holds_of(raw, applied).returns == 0


def test_a_repetition_from_before_the_commit_is_no_return() -> None:
    comp = engine()
    past = [TASK, *read(1, "a", BULK), *read(2, "a", BULK), *read(3, "x", f"x {BULK}")]
    past += read(4, "y", f"y {BULK}")
    raw = parse(past, OpenAIChat())
    first = [c for c in comp.checkpoint(past).applied if c.first == 1]
    only_the_first = [replace(c, sources=c.sources[:1]) for c in first]
    assert only_the_first
    assert holds_of(raw, only_the_first).returns == 0


def test_a_test_that_is_run_again_after_an_edit_is_no_return_whatever_it_says() -> None:
    comp = engine()
    test = '{"command": "python -m pytest -q"}'
    past = [TASK, *turn(1, test, BULK, "bash"), *read(2, "b", f"b {BULK}")]
    applied = comp.checkpoint(past).applied
    assert [c.first for c in applied] == [1]
    again = turn(4, test, BULK, "bash")
    edit = turn(3, '{"path": "a.py", "text": "x"}', "ok", "edit_file")
    assert holds_of(parse([*past, *edit, *again], OpenAIChat()), applied).returns == 0
    assert holds_of(parse([*past, *again], OpenAIChat()), applied).returns == 1


def test_without_holds_scores_alone_decide() -> None:
    past = [TASK, *read(1, "budget/rules.md", RULES), *read(2, "sheets/a.txt", BULK)]
    past += read(3, "sheets/b.txt", f"b {BULK}")
    kept = engine().checkpoint(past).view
    gone = engine(holds=False).checkpoint(past).view
    assert kept is not None
    assert gone is not None
    assert RULES in kept.history.interactions[0].observed
    assert all(RULES not in i.observed for i in gone.history.interactions)


@given(st.floats(0, 100), st.integers(0, 30), st.integers(0, 100_000))
def test_each_return_makes_the_rule_no_less_wary(
    wariness: float, refetches: int, tokens: int
) -> None:
    past = history(read(1, "a", "x" * tokens), read(2, "b", "y"), read(3, "c", "z"))
    name = past.interactions[0].id
    rule = paying(wariness=wariness)
    assert rule.stricter(0, 0) == rule
    asked, more = (
        rule.stricter(n, 4).required(past, JUST_AFTER)[name] for n in (refetches, refetches + 1)
    )
    assert asked <= more


def test_what_nobody_comes_back_for_makes_up_for_returns() -> None:
    rule = paying(wariness=1.0)
    assert [rule.stricter(3, n).wariness for n in (0, 100, 300, 3000)] == [4.0, 2.0, 1.0, 1.0]


def test_a_threshold_that_was_given_stays() -> None:
    assert Gates(threshold=0.7).stricter(5, 1) == Gates(threshold=0.7)
