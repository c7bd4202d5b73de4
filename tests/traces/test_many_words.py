"""Many words are found in one pass, where they stand alone and nowhere else."""

from __future__ import annotations

import re
import string
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecomp.traces import many_words
from statecomp.traces.many_words import ManyWords
from statecomp.traces.secrets import Masker
from tests.growth import growth

ALNUM = string.ascii_letters + string.digits
WORD = st.text("ab-=", min_size=1, max_size=6)


def replaced(text: str, *words: str) -> str:
    return ManyWords(words).replaced(text, lambda word: f"[{len(word)}]")


@pytest.mark.parametrize(
    ("text", "words", "out"),
    [
        ("use abc now", ("abc",), "use [3] now"),
        ("abcd dabc abc", ("abc",), "abcd dabc [3]"),
        ("ab-cd-ef", ("ab-cd", "cd-ef"), "[5]"),
        ("ab-cd-ef", ("ab-cd-ef", "cd"), "[8]"),
        ("ab-cd-xx cd", ("ab-cd-ef", "cd"), "ab-[2]-xx [2]"),
        ("a=b=", ("b=",), "a=[2]"),
        ("nothing", ("abc",), "nothing"),
    ],
)
def test_words_are_found_where_they_stand_alone(
    text: str, words: tuple[str, ...], out: str
) -> None:
    assert replaced(text, *words) == out


@given(st.text("ab-= ", max_size=40), st.sets(WORD, max_size=6))
def test_no_word_is_left_standing_alone(text: str, words: set[str]) -> None:
    found = ManyWords(words)
    out = found.replaced(text, lambda word: "#" * len(word))
    for word in words:
        assert not re.search(rf"(?<![ab]){re.escape(word)}(?![ab])", out)
    assert re.sub("[^#]", "", out) or out == text


def test_few_words_and_many_leave_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "abc ab-cd x abc-cd"
    few = replaced(text, "abc", "ab-cd")
    monkeypatch.setattr(many_words, "FEW", 0)
    assert replaced(text, "abc", "ab-cd") == few


def test_masking_a_password_in_every_line_costs_in_proportion() -> None:
    def lines(count: int) -> str:
        chance = Random(1)
        return "\n".join(f"token={''.join(chance.choices(ALNUM, k=16))}" for _ in range(count))

    assert growth(Masker().text, lines(500), lines(8000), 16, enough=4) < 4


def test_words_made_of_one_another_cost_in_proportion() -> None:
    words = ManyWords("ab-1c." * n for n in range(2, 200))

    def work(count: int) -> str:
        return words.replaced("ab-1c." * count + "?", str.upper)

    assert growth(work, 500, 8000, 16, enough=4) < 4


def test_one_long_word_that_is_nearly_there_everywhere_costs_in_proportion() -> None:
    def work(count: int) -> str:
        return replaced("ab-1c." * count + "?", *("ab-1c." * count + str(n) for n in range(40)))

    assert growth(work, 200, 3200, 16, enough=4) < 4
