"""Calls that are made again: the same answer is a return, another one is news."""

from __future__ import annotations

import pytest

from statecomp.history.interaction import Call, Interaction, Observation
from statecomp.history.repeats import ToldCall, call_key, told


def made(number: int, name: str, arguments: str, answer: str) -> Interaction:
    call, seen = Call(f"c{number}", name, arguments), Observation(f"c{number}", answer)
    return Interaction(f"i{number}", number, (), 10, calls=(call,), observations=(seen,))


def two(first: Interaction, *later: Interaction) -> tuple[list[ToldCall], list[ToldCall]]:
    """What the first and the last of them were told."""
    known = [known for _, known in told([first, *later])]
    return known[0], known[-1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("5 passed in 0.31s", "5 passed in 12.4s"),
        ("2026-03-01 12:00:00,123 ready", "2026-03-02T07:31:09Z ready"),
        ("<obj at 0x7f3a2b4c5d6e>", "<obj at 0x7f000b4c5d00>"),
        ("a  b\n", "a b"),
    ],
)
def test_when_and_how_long_make_no_other_answer(before: str, after: str) -> None:
    first, second = two(made(1, "sh", "{}", before), made(2, "sh", "{}", after))
    assert first == second


@pytest.mark.parametrize(
    ("before", "after"),
    [("3 failed", "2 failed"), ("limit = 5", "limit = 50"), ("v1.2.3", "v1.2.4"), ("ok", "")],
)
def test_counts_and_values_make_another_answer(before: str, after: str) -> None:
    first, second = two(made(1, "sh", "{}", before), made(2, "sh", "{}", after))
    assert first != second


def test_a_run_behind_an_edit_asks_something_new_and_a_reading_does_not() -> None:
    edit = made(2, "edit_file", '{"path": "a.py"}', "ok")
    test = '{"command": "pytest -q"}'
    before, after = two(made(1, "bash", test, "5 passed"), edit, made(3, "bash", test, "5 passed"))
    assert before != after
    before, after = two(made(1, "read", "{}", "text"), edit, made(3, "read", "{}", "text"))
    assert before == after


def test_short_answers_can_be_left_out() -> None:
    assert [known for _, known in told([made(1, "sh", "{}", "ok")], least_chars=3)] == [[]]


def test_a_call_is_known_by_its_name_and_arguments() -> None:
    assert call_key(Call("a", "f", '{"x":1, "y":2}')) == call_key(Call("b", "f", '{"y": 2,"x": 1}'))
    assert call_key(Call("a", "f", "no json")) == ("f", "no json")
