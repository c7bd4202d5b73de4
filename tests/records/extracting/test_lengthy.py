"""Values too long to be told are told by what they are, and never cut in the middle."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.history.facts import FactIndex
from statecomp.history.situation import Situation
from statecomp.records.extracting.cut import cut
from statecomp.records.extracting.lengthy import briefly
from statecomp.records.extracting.pieces import LONGEST, clipped, fitted
from statecomp.records.record import Record
from statecomp.records.verify import verify
from tests.growth import growth
from tests.records.extracting.test_what_readers_said import written
from tests.records.test_extract import PADDING, step, summary

PICTURE = "iVBORw0KGgoAAAANSU" * 60
TONS = [round(n * 0.37, 2) for n in range(256)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"N = {'1234567890' * 70}", "N = (700 digits, begins 12345678)"),
        (f"held='{PICTURE}' was read", "held='(1,080 characters, begins iVBORw0K)' was read"),
        (f"held={PICTURE}", "held=(1,080 characters, begins iVBORw0K)"),
        (
            f"tons: {', '.join(map(str, TONS))} of rye",
            "tons: (256 numbers, begins 0.0, 0.37, 0.74) of rye",
        ),
        (
            f"days = [[{'],['.join(['31,7.5,12', '28,6.0,11'] * 40)}]]",
            "days = (240 numbers, begins 31, 7.5, 12)",
        ),
        (f"see https://mill.example/a/b?key={'k' * 300}", "see https://mill.example/a/b ..."),
        (f"({'(x)' * 100}", "(301 characters, begins xx)"),
    ],
)
def test_a_long_value_is_told_by_what_it_is_and_how_it_begins(line: str, told: str) -> None:
    assert list(fitted(line)) == [told]


def test_a_long_list_of_numbers_in_data_is_told_by_its_length() -> None:
    data = {"name": "run 7", "tons": TONS, "days": [1, 2, 3], "grid": [TONS, TONS]}
    texts = [piece.text for piece in cut(json.dumps(data))]
    assert "tons: (256 numbers, begins 0.0, 0.37, 0.74)" in texts
    assert "days: 1, 2, 3" in texts
    assert texts[-1] == "(256 numbers, begins 0.0, 0.37, 0.74)"


def test_data_that_cannot_be_read_is_cut_behind_its_values_alone() -> None:
    line = '{"mill":"upper","tons":31.25,"open":true,' * 40
    for piece in list(fitted(line))[:-1]:
        assert piece[-1] == ","
        assert len(piece) <= LONGEST


def test_a_line_is_clipped_between_its_words() -> None:
    assert clipped("grind the rye of the upper mill", 17) == "grind the rye of ..."
    assert clipped("grind(rye,upper_mill_of_the_north)", 12) == "grind(rye, ..."
    assert clipped("g" * 40, 12) == f"{'g' * 12} ..."


def test_a_program_with_a_picture_in_it_keeps_the_rest_of_its_lines() -> None:
    program = (
        f"import base64\nheld = '{PICTURE}'\nwith open('mill.png', 'wb') as file:\n    save(held)"
    )
    body = written(step(1, json.dumps({"code": program}), "ok"), step(2, seen=PADDING)).body
    assert "held = '(1,080 characters, begins iVBORw0K)'" in body
    assert "mill.png" in body
    assert "iVBORw0KG" not in body


def test_what_is_counted_of_a_value_is_no_invention() -> None:
    seen = f"N = {'1234567890' * 70}\n{PADDING}\nheld = {PICTURE}"
    body = summary(step(1, seen=seen), step(2, seen=PADDING)).body
    assert "N = (700 digits, begins 12345678)" in body
    fact = "1. run -> a list (256 numbers, begins 0.0, 0.37, 0.74)"
    span = [step(1, seen=json.dumps(TONS))]
    assert verify(Record(facts=(fact,)), span, Situation(FactIndex(()))).facts == (fact,)


@given(st.text(alphabet="a1,. =[](){}\"'%\\\n", max_size=900))
def test_no_value_is_longer_than_a_piece(text: str) -> None:
    assert all(len(word) <= LONGEST for word in briefly(text, LONGEST).split(" "))


@pytest.mark.parametrize("shape", ["1", "1, ", "a=", "=", "[1,", "(", "1 1 1 a ", "ab", "://"])
def test_any_long_line_costs_in_proportion(shape: str) -> None:
    def lines(size: int) -> str:
        return shape * (size // len(shape))

    grown = growth(
        lambda text: list(fitted(text)), lines(20_000), lines(200_000), 10, enough=6, nothing_s=0.01
    )
    assert grown < 6
